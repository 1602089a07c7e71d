"""Addressed rows: they say which key groups they concern, so that readers skip those that are not theirs.

The last `VALUES` values of such a row are its address: the key groups in ascending order, and two more that
its consumer knows of. On the way to another process each row has a mask of its groups before it. A reader
decodes only those rows whose mask has a bit in common with its own. Masks have 64 bits, so of more groups
several share one. `own_rows` is exact, and works on rows that are there already, as within a process.
"""

from __future__ import annotations

from typing import Final

from viper.rows import own_rows

__all__ = ["EVERYTHING", "VALUES", "mask_of", "mask_shift", "own_rows"]

VALUES: Final = 3
"""The number of values that an address has."""
EVERYTHING: Final = 2**64 - 1
"""The mask of a reader that has all groups."""
_BITS: Final = 64


def mask_shift(groups: int) -> int:
    """By how many bits a group is shifted to be the number of its bit, of a power of two of groups."""
    return max(groups // _BITS, 1).bit_length() - 1


def mask_of(own: range, groups: int) -> int:
    """The mask of a reader that has some of so many groups."""
    shift = mask_shift(groups)
    return sum(1 << bit for bit in {group >> shift for group in own})
