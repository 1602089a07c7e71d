"""An index of stored tuples by some of the fields that are compared: it finds candidates, and decides none.

Values that must be equal are hashed. Numbers of a band fall into cells that are twice as wide, so that all
that may match lies in a number's own cell and the two beside it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, product
from typing import Any, Final

from framework.operators.windows.joins.comparing import Comparison
from framework.operators.windows.joins.conditions import Side
from viper.hashing import partner

_FAR: Final = 1 << 50
"""Cells further out are one, as floats do not distinguish their neighbours."""
_Key = tuple[Hashable, ...]


class CellIndex:
    """The numbers of stored tuples by their cells. Tuples come and go in the order of their numbers.

    Args:
        compared: the comparisons that it is made by.
        side: of the tuples that are stored.
    """

    def __init__(self, compared: Sequence[Comparison], side: Side) -> None:
        self._stored = [comparison.indexes[side] for comparison in compared]
        self._coming = [comparison.indexes[1 - side] for comparison in compared]
        self._compared = tuple(compared)
        self._cells: dict[_Key, deque[int]] = {}

    def add(self, number: int, row: tuple[Any, ...]) -> None:
        """Add a stored tuple, after all others."""
        key = self._key(row)
        if key is not None:
            self._cells.setdefault(key, deque()).append(number)

    def drop_first(self, row: tuple[Any, ...]) -> None:
        """Drop the first tuple."""
        self._drop(row, is_first=True)

    def drop_last(self, row: tuple[Any, ...]) -> None:
        """Drop the last tuple, which was taken back."""
        self._drop(row, is_first=False)

    def _drop(self, row: tuple[Any, ...], *, is_first: bool) -> None:
        key = self._key(row)
        if key is None:
            return
        cell = self._cells[key]
        if is_first:
            cell.popleft()
        else:
            cell.pop()
        if not cell:
            del self._cells[key]

    def clear(self) -> None:
        """Forget all tuples."""
        self._cells.clear()

    def candidates(self, row: tuple[Any, ...]) -> list[int]:
        """The numbers of the stored tuples that may match one that has come, ascending."""
        found = [self._cells[key] for key in self._around(row) if key in self._cells]
        return list(found[0]) if len(found) == 1 else sorted(chain.from_iterable(found))

    def _key(self, row: tuple[Any, ...]) -> _Key | None:
        """The cell of a stored tuple; None for one that matches nothing."""
        key: list[Hashable] = []
        for index, comparison in zip(self._stored, self._compared, strict=True):
            if row[index] is None:
                return None
            value, width = comparison.exact(row[index]), comparison.width
            cell = partner(value) if width is None else _cell(value, width)
            if cell is None:
                return None
            key.append(cell)
        return tuple(key)

    def _around(self, row: tuple[Any, ...]) -> Iterator[_Key]:
        """The cells in which there may be tuples that match."""
        choices: list[tuple[Hashable, ...]] = []
        for index, comparison in zip(self._coming, self._compared, strict=True):
            value, width = comparison.exact(row[index]), comparison.width
            if width is None:
                same = partner(value)
                if same is None:
                    return
                choices.append((same,))
                continue
            cell = _cell(value, width)
            if cell is None:
                return
            choices.append((cell - 1, cell, cell + 1))
        yield from product(*choices)


def _cell(value: int | float, width: int | float) -> int | None:
    """The cell of a number; None for one that lies in no band."""
    if not isinstance(value, int) and not math.isfinite(value):
        return None
    size = 2 * width or 1
    if isinstance(value, int) and isinstance(size, int):
        cell: int = value // size
        return cell
    if not isinstance(value, int | float):  # a Decimal is not divided by a float
        return max(-_FAR, min(math.floor(Fraction(value) / Fraction(size)), _FAR))
    return max(-_FAR, min(math.floor(value / size), _FAR))
