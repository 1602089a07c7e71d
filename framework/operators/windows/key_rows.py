"""Rows of tuples on their way into the windows of their keys.

A task gets the tuples of a slice as rows. Those of a stretch that lies within one pane are gathered by their
keys, and added key by key: what a tuple costs beside that is to be gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from framework.operators.windows.aggregates.base import Aggregate
from framework.operators.windows.aggregates.folding import Folding
from framework.operators.windows.aggregates.rows import RowsAdder, rows_adder
from framework.operators.windows.key_state import NamedKey, OpenKeyWindows
from framework.operators.windows.state import BEHIND_TIME
from framework.operators.windows.stretches import Stretches, TimeAt, folds_stretches

FEWEST_ROWS: Final = 8
"""Tuples of a stretch from which on to gather them takes less time than to add them one by one."""
MOST_KEYS: Final = 1 << 16
"""Keys whose groups are remembered; beyond that all are found anew."""
_KEYS: Final = frozenset((int, str))
"""Types of keys of which no two that are equal are different keys, as 1 and 1.0 are."""
ValuesOf = Callable[[Sequence[str]], tuple[int, Sequence[str]]]
Row = tuple[Any, ...]


class RowWindows:
    """Takes rows of tuples into the windows of a task's keys.

    Args:
        windows: those of the task.
        folding: has the accumulators of a window.
        aggregate: makes them.
        values_of: says which values of a tuple with certain fields are aggregated, as `APlus` does.
    """

    def __init__(
        self, windows: OpenKeyWindows, folding: Folding, aggregate: Aggregate[Any, Any], values_of: ValuesOf
    ) -> None:
        self._windows = windows
        self._stretches = Stretches(windows, folding)
        self._aggregate = aggregate
        self._values_of = values_of
        self._adders: dict[Sequence[str], RowsAdder[Any] | None] = {}
        """By the fields of a stream."""
        self._named: dict[Any, NamedKey] = {}

    def take(self, rows: Sequence[Row], fields: Sequence[str], key: int, time_at: TimeAt) -> int:
        """Take tuples into the windows of their keys.

        Args:
            rows: their values.
            fields: names of these.
            key: index of the value that is the key.
            time_at: the time of a tuple by its index.

        Returns:
            How many tuples were taken, from the first one on. The rest has to be taken one by one.
        """
        count, done, add = len(rows), 0, self._adder(fields)
        if add is None:
            return 0
        while done < count and time_at(done) < BEHIND_TIME:
            end = self._stretches.end(done, count, time_at)
            if end - done < FEWEST_ROWS or not self._take(rows, done, end, add, key, time_at):
                break
            done = end
        return done

    def _take(
        self, rows: Sequence[Row], first: int, end: int, add: RowsAdder[Any], key: int, time_at: TimeAt
    ) -> bool:
        """Take tuples of one pane; whether they were taken. If not, nothing has changed."""
        stretch = rows if first == 0 and end == len(rows) else rows[first:end]
        keys = [row[key] for row in stretch]
        if not _KEYS.issuperset(map(type, keys)):
            return False
        lasts = dict(zip(keys, range(first, end), strict=True))  # in the order of the first tuples
        by_key: dict[Any, list[Row]] = {one: [] for one in lasts}
        for one, row in zip(keys, stretch, strict=True):
            by_key[one].append(row)
        time_us = time_at(first)
        found = self._stretches.found(map(self._name, lasts), time_us)
        accs = self._stretches.accumulators(found, time_us)
        try:
            added = list(map(add, accs, by_key.values()))
        except Exception:  # a value that cannot be added: one by one it is told which it is
            return False
        self._stretches.put(found, added, list(map(time_at, lasts.values())), time_us)
        return True

    def _adder(self, fields: Sequence[str]) -> RowsAdder[Any] | None:
        if fields not in self._adders:
            first, names = self._values_of(fields)
            self._adders[fields] = rows_adder(self._aggregate, names, first)
        return self._adders[fields]

    def _name(self, key: Any) -> NamedKey:
        named = self._named.get(key)
        if named is None:
            if len(self._named) >= MOST_KEYS:
                self._named.clear()
            named = self._named[key] = self._windows.named(key)
        return named


def row_windows(
    windows: OpenKeyWindows, folding: Folding, aggregate: Aggregate[Any, Any], values_of: ValuesOf
) -> RowWindows | None:
    """What takes rows into windows; None where tuples have to be taken one by one.

    Arguments are as of `RowWindows`.
    """
    return RowWindows(windows, folding, aggregate, values_of) if folds_stretches(windows, folding) else None
