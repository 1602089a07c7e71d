"""Tuples of a slice on their way into the windows of their keys, those of a pane at once; here rows.

Tuples are divided where a pane ends, so all of a stretch belong to the same pane, whichever their keys are.
Each key is looked up once for all of its tuples there, and gets one accumulator that has them. So a row costs
little beside being gathered by its key.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, Final

from framework.operators.state.kept import Kept
from framework.operators.windows.aggregates.base import Aggregate, OneByOneError
from framework.operators.windows.aggregates.folding import Folding, PaneFolding
from framework.operators.windows.aggregates.rows import RowsAdder, rows_adder
from framework.operators.windows.key_state import NamedKey, OpenKeyWindows
from framework.operators.windows.key_window import KeyWindow
from framework.operators.windows.spec import BEHIND_TIME

TimeAt = Callable[[int], int]
"""The time of the tuple with an index, in microseconds; times do not descend."""
ValuesOf = Callable[[Sequence[str]], tuple[int, Sequence[str]]]
"""By the fields of a tuple, the index of the first value that is aggregated, and the names of all of them."""
TakeStretch = Callable[[int, int], None]
"""Takes the tuples from one index to another, of one pane; may raise `OneByOneError`."""
Row = tuple[Any, ...]
MOST_KEYS: Final = 1 << 16
"""Keys whose groups are remembered; beyond that all are found again."""
_KEYS: Final = frozenset((int, str))
"""Types of keys of which no two that are equal are different keys, as 1 and 1.0 are."""


class WindowAdder:
    """Takes tuples into the windows of a task's keys, a stretch at once; a subclass says in which form.

    Args:
        windows: those of the task: they tumble, or each key has one that slides.
        folding: has the accumulators of a window.
        aggregate: makes them.
        values_of: finds the values of a tuple that are aggregated.
    """

    fewest: ClassVar[int]
    """Tuples of a stretch from which on this takes less time than adding them one by one."""

    def __init__(
        self, windows: OpenKeyWindows, folding: Folding, aggregate: Aggregate[Any, Any], values_of: ValuesOf
    ) -> None:
        self._windows = windows
        self._folding = folding
        self._aggregate = aggregate
        self._values_of = values_of
        self._slides = isinstance(folding, PaneFolding)

    def take(self, tuples: Any, fields: Sequence[str], key: int, time_at: TimeAt) -> int:
        """Take tuples into the windows of their keys.

        Args:
            tuples: their values, in the form of the subclass.
            fields: names of these.
            key: index of the one that is the key.
            time_at: the time of a tuple by its index.

        Returns:
            The number of tuples that were taken, from the first one on. The rest has to be taken one by one.
        """
        take = self._taker(tuples, fields, key, time_at)
        count, done = len(tuples), 0
        with suppress(OneByOneError):
            while take is not None and done < count and (time_us := time_at(done)) < BEHIND_TIME:
                end, end_us = count, self._windows.grid.pane_until(time_us)
                if time_at(count - 1) >= end_us:
                    end = bisect_left(range(count), end_us, done, key=time_at)
                if end - done < self.fewest:
                    break
                take(done, end)
                done = end
        return done

    def _taker(self, tuples: Any, fields: Sequence[str], key: int, time_at: TimeAt) -> TakeStretch | None:
        """The function that takes a stretch of these tuples; None if all have to be taken one by one."""
        raise NotImplementedError

    def _add(
        self,
        keys: Iterable[NamedKey],
        lasts: Iterable[int],
        time_us: int,
        add: Callable[[list[Any]], list[Any]],
    ) -> None:
        """Add tuples of one pane to the windows of their keys.

        Args:
            keys: the keys, in the order in which windows are made that are not there yet.
            lasts: for each key, the time of its last tuple.
            time_us: the time of any tuple.
            add: makes of the accumulator of each key one that has its tuples, too.

        Raises:
            OneByOneError: as `add` raises it; then nothing has changed.
        """
        windows, folding = self._windows, self._folding
        start, find = windows.grid.first_start(time_us), windows.of_named
        found: list[tuple[Kept | None, KeyWindow | None]] = []
        for key in keys:
            kept = find(key)
            if kept is None:  # another task has the key
                found.append((None, None))
            elif self._slides:
                found.append((kept, next(iter(kept.value.by_start.values()), None)))
            else:
                found.append((kept, kept.value.by_start.get(start)))
        fresh, get, put = folding.fresh, folding.get, folding.put
        accs = add([fresh() if window is None else get(window, time_us) for _, window in found])
        end = windows.grid.end_of(start)
        for (kept, window), acc, last_us in zip(found, accs, lasts, strict=True):
            if kept is None:
                continue
            if window is None:
                window = windows.make(kept, start, end, last_us, folding.create())
            window.last = last_us
            put(window, time_us, acc)


def folds_stretches(windows: OpenKeyWindows, folding: Folding) -> bool:
    """True if each tuple of a stretch belongs to one accumulator, that of its key."""
    return not windows.lateness_us and (windows.spec.tumbles or isinstance(folding, PaneFolding))


class RowWindows(WindowAdder):
    """Takes rows; arguments are as of the base class."""

    fewest = 8

    def __init__(
        self, windows: OpenKeyWindows, folding: Folding, aggregate: Aggregate[Any, Any], values_of: ValuesOf
    ) -> None:
        super().__init__(windows, folding, aggregate, values_of)
        self._adders: dict[Sequence[str], RowsAdder[Any] | None] = {}
        """By the fields of a stream."""
        self._named: dict[Any, NamedKey] = {}

    def _taker(
        self, tuples: Sequence[Row], fields: Sequence[str], key: int, time_at: TimeAt
    ) -> TakeStretch | None:
        if fields not in self._adders:
            first, names = self._values_of(fields)
            self._adders[fields] = rows_adder(self._aggregate, names, first)
        add = self._adders[fields]
        return None if add is None else partial(self._take, tuples, key, time_at, add)

    def _take(
        self, rows: Sequence[Row], key: int, time_at: TimeAt, add: RowsAdder[Any], first: int, end: int
    ) -> None:
        stretch = rows if first == 0 and end == len(rows) else rows[first:end]
        keys = [row[key] for row in stretch]
        if not _KEYS.issuperset(map(type, keys)):
            raise OneByOneError
        lasts = dict(zip(keys, range(first, end), strict=True))  # in the order of the first tuples
        by_key: dict[Any, list[Row]] = {one: [] for one in lasts}
        for one, row in zip(keys, stretch, strict=True):
            by_key[one].append(row)

        def add_rows(accs: list[Any]) -> list[Any]:
            try:
                return list(map(add, accs, by_key.values()))
            except Exception as error:  # a value that cannot be added: one by one it is reported which it is
                raise OneByOneError from error

        self._add(map(self._name, lasts), map(time_at, lasts.values()), time_at(first), add_rows)

    def _name(self, key: Any) -> NamedKey:
        named = self._named.get(key)
        if named is None:
            if len(self._named) >= MOST_KEYS:
                self._named.clear()
            named = self._named[key] = self._windows.named(key)
        return named
