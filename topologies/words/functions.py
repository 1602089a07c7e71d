"""Word count: what the functions do that `wordcount_functions.py` makes bolts of."""


def split(number, line):
    """The words of a line."""
    return line.split()
