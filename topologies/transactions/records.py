"""The common part of the tables of the applications."""

ROWS = 10_000
"""Records of a table, where the paper does not say otherwise."""


def spare(size, used):
    """Columns that nobody asks for, which make a record as large as the paper's.

    Args:
        size: bytes of a record with its key; each number has eight.
        used: how many columns are used.
    """
    return {f"spare{number}": "int64" for number in range(size // 8 - 1 - used)}
