"""Word lengths by first letter: what the functions do that `letters_windows.py` makes bolts of."""


def words_by_letter(number, line):
    """The words of a line, each after its first letter, in lower case, and with its length."""
    for word in line.lower().split():
        letters = word.strip("()[]'.,;:!?-")
        if letters:
            yield letters[0], letters, len(letters)
