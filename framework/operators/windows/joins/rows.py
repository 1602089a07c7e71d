"""The stored tuples of one stream, in the order in which they came, and the columns that scans read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from framework.operators.windows.joins.comparing import Comparison
from framework.operators.windows.joins.conditions import Side
from framework.operators.windows.joins.index import CellIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from viper.scan import ColumnTest, CScan, NumpyScan

_LEAST_ROOM: Final = 1024


class Stored(NamedTuple):
    """A tuple that is kept for later ones of the other stream."""

    number: int
    """The number of tuples of both streams that had come, this one included."""
    time_us: int
    values: tuple[Any, ...]
    group: int = 0
    """The key group of its key, in an outer join by key."""


class StoredRows:
    """The stored tuples that one instance has of one stream.

    Tuples are counted from 0 on, expired ones as well.
    """

    def __init__(self) -> None:
        self.rows: list[Stored] = []
        """The tuples from number `base` on."""
        self.base = 0
        """The number of the first of them."""
        self.first = 0
        """The number of the first one that has not expired."""
        self.compared = 0
        """The number of comparisons so far; with an index, of the tuples that it has found."""
        self._side: Side = 0
        self._typed: list[Comparison] = []
        self._columns: list[NDArray[Any]] = []
        self._scan: CScan | NumpyScan | None = None
        self._scan_class: type[CScan | NumpyScan] | None = None
        self._index: CellIndex | None = None

    @property
    def end(self) -> int:
        """The number of the next tuple."""
        return self.base + len(self.rows)

    def __getitem__(self, number: int) -> Stored:
        return self.rows[number - self.base]

    # -- how it is searched

    def compare_by(
        self,
        side: Side,
        typed: Sequence[Comparison],
        index: CellIndex | None,
        scan_class: type[CScan | NumpyScan] | None,
    ) -> None:
        """Have columns for comparisons, or an index.

        Args:
            side: of the tuples.
            typed: the comparisons that columns are read for.
            index: an empty one; None to look at all tuples.
            scan_class: how columns are read; None where there are none.
        """
        self._side, self._typed, self._scan_class = side, list(typed), scan_class
        self._index = index
        self._columns = []
        if index is not None:
            for number in range(self.first, self.end):
                index.add(number, self[number].values)
        if self._typed:
            self._make_columns()

    def candidates(self, row: tuple[Any, ...], tests: Sequence[ColumnTest]) -> Sequence[int]:
        """The numbers, ascending, of tuples that pass the tests, and those of an index if there is one.

        Args:
            row: the tuple of the other stream that has come.
            tests: one for each column.
        """
        if self._index is not None:
            numbers = self._index.candidates(row)
            self.compared += len(numbers)
            return self._tested(numbers, tests)
        self.compared += self.end - self.first
        if self._scan is None:
            return range(self.first, self.end)
        base = self.base
        return [base + index for index in self._scan.find(tests, self.first - base, len(self.rows))]

    def _tested(self, numbers: list[int], tests: Sequence[ColumnTest]) -> list[int]:
        if not (numbers and self._typed):
            return numbers
        import numpy as np

        from viper.scan import holding

        kept = np.array(numbers)
        for column, test in zip(self._columns, tests, strict=True):
            kept = kept[holding(column[kept - self.base], test)]
        found: list[int] = kept.tolist()
        return found

    # -- tuples

    def add(self, stored: Stored) -> None:
        """Store the next tuple."""
        number = self.end
        self.rows.append(stored)
        if self._index is not None:
            self._index.add(number, stored.values)
        if self._typed:
            if len(self.rows) > len(self._columns[0]):
                self._make_columns()
            else:
                self._write(len(self.rows) - 1, stored.values)

    def expire(self, least_us: int) -> None:
        """Let go of tuples that came before a time."""
        index = self.first - self.base
        if index == len(self.rows) or self.rows[index].time_us >= least_us:
            return
        behind = bisect_left(self.rows, least_us, index, key=_time_of)
        if self._index is not None:
            for stored in self.rows[index:behind]:
                self._index.drop_first(stored.values)
        self.first = self.base + behind

    def take_back(self, first: int, end: int) -> None:
        """Go back to the tuples of these numbers, before `trim` was called."""
        while self.end > end:
            if self._index is not None and self.end > self.first:
                self._index.drop_last(self.rows[-1].values)
            self.rows.pop()
        if first == self.first:
            return
        self.first = first
        if self._index is not None:  # some have expired since, which come back before the others
            self._index.clear()
            for number in range(first, end):
                self._index.add(number, self[number].values)

    def trim(self) -> None:
        """Give back the memory of tuples that have expired, once they are half of all."""
        gone = self.first - self.base
        if 2 * gone < len(self.rows) or not gone:
            return
        del self.rows[:gone]
        for column in self._columns:
            column[: len(self.rows)] = column[gone : gone + len(self.rows)].copy()
        self.base = self.first

    def _make_columns(self) -> None:
        """Make columns with room for as many tuples again."""
        import numpy as np

        size = max(_LEAST_ROOM, 2 * len(self.rows))
        self._columns = [np.zeros(size, comparison.dtype) for comparison in self._typed]
        for column, comparison in zip(self._columns, self._typed, strict=True):
            field = comparison.indexes[self._side]
            # Nobody asks for a row without a value, which matches nothing: see `Matcher`.
            column[: len(self.rows)] = [stored.values[field] or 0 for stored in self.rows]
        assert self._scan_class is not None
        self._scan = self._scan_class(self._columns)

    def _write(self, at: int, values: tuple[Any, ...]) -> None:
        for column, comparison in zip(self._columns, self._typed, strict=True):
            column[at] = values[comparison.indexes[self._side]] or 0


def _time_of(stored: Stored) -> int:
    return stored.time_us
