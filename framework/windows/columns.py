"""Columns of tuples on their way into the windows of their keys.

A task gets the tuples of a slice as columns. They are divided where a pane ends, so all tuples of a stretch
belong to the same pane, whichever their keys are. Those of each key are added at once: it is looked up once
for all of them. Keys are numbered by their values in C (`viper.columns.slots`), and tuples grouped by these
numbers without being sorted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from framework.state.kept import Kept
from framework.windows.aggregates.base import Aggregate
from framework.windows.aggregates.columns import Array, ColumnAdder, ColumnOf, NoColumnError, column_adder
from framework.windows.aggregates.folding import Folding, PaneFolding
from framework.windows.aggregates.panes import pane_of
from framework.windows.key_state import NamedKey, OpenKeyWindows
from framework.windows.key_window import KeyWindow
from framework.windows.state import BEHIND_TIME
from viper.columns.slots import KeySlots

FEWEST: Final = 24
"""Tuples of a stretch from which on NumPy takes less time than adding them one by one."""
MOST_KEYS: Final = 1 << 18
"""Keys that are numbered at once; beyond that all are numbered anew."""
_MOST_INT: Final = 2**63 - 1
ValuesOf = Callable[[Sequence[str]], tuple[int, Sequence[str]]]


class ColumnWindows:
    """Takes columns of tuples into the windows of a task's keys.

    Args:
        windows: those of the task: they tumble, or each key has one that slides.
        folding: has the accumulators of a window.
        aggregate: makes them.
        add: adds columns to accumulators.
        values_of: says which values of a tuple with certain fields are aggregated, as `APlus` does.
    """

    def __init__(
        self,
        windows: OpenKeyWindows,
        folding: Folding,
        aggregate: Aggregate[Any, Any],
        add: ColumnAdder,
        values_of: ValuesOf,
    ) -> None:
        self._windows = windows
        self._folding = folding
        self._aggregate = aggregate
        self._add = add
        self._values_of = values_of
        spec = windows.spec
        assert spec.length_us is not None and spec.slide_us is not None
        self._size_us = spec.length_us
        self._pane_us = pane_of(spec.length_us, spec.slide_us)
        self._slides = isinstance(folding, PaneFolding)
        self._slots = KeySlots()
        self._keys: list[NamedKey] = []
        """The keys by their numbers."""
        self._scratch = np.zeros(0, np.int64)
        """Scratch memory by the number of a key."""

    def take(
        self, batch: pa.RecordBatch, fields: Sequence[str], key: int, time_at: Callable[[int], int]
    ) -> int:
        """Take tuples into the windows of their keys.

        Args:
            batch: their columns.
            fields: names of these.
            key: index of the column that is the key.
            time_at: the time of the tuple with an index, in microseconds; times do not descend.

        Returns:
            How many tuples were taken, from the first one on. The rest has to be taken one by one.
        """
        count, numbers = len(batch), None
        columns: dict[int, Array] = {}
        done = 0
        while done < count and time_at(done) < BEHIND_TIME:
            end = self._pane_end(done, count, time_at)
            if end - done < FEWEST:
                break
            if numbers is None:
                numbers = self._numbered(fields[key], batch.column(key))
                if numbers is None:
                    break
            part = slice(done, end)
            try:
                column = self._columns(batch, fields, columns, part)
                self._take(numbers[part], column, partial(_behind, time_at, done))
            except NoColumnError:
                break
            done = end
        return done

    def _pane_end(self, first: int, count: int, time_at: Callable[[int], int]) -> int:
        """The index behind the last tuple in the same pane as the first one."""
        offset_us = self._windows.offset_us
        end_us = ((time_at(first) - offset_us) // self._pane_us + 1) * self._pane_us + offset_us
        if time_at(count - 1) < end_us:
            return count
        return bisect_left(range(count), end_us, first, key=time_at)

    def _numbered(self, name: str, column: pa.Array) -> Array | None:
        """The number of each tuple's key; None where a key cannot be known by the value in its column."""
        kind = column.type
        if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_string(kind)):
            return None
        if len(self._keys) > MOST_KEYS:
            self._slots, self._keys = KeySlots(), []
        numbers = self._slots.of(name, column)
        if len(self._slots) > len(self._keys):
            self._note_keys(numbers, column)
        return numbers

    def _note_keys(self, numbers: Array, column: pa.Array) -> None:
        """Note the keys of a column that were numbered just now."""
        known, count = len(self._keys), len(self._slots)
        if count > len(self._scratch):
            self._scratch = np.zeros(2 * count, np.int64)
        at = np.flatnonzero(numbers >= known)
        self._scratch[numbers[at]] = at
        values = column.take(pa.array(self._scratch[known:count])).to_pylist()
        self._keys += [self._windows.named(value) for value in values]

    def _columns(
        self, batch: pa.RecordBatch, fields: Sequence[str], found: dict[int, Array], part: slice
    ) -> ColumnOf:
        first, names = self._values_of(fields)

        def column(field: str | None) -> Array:
            if field is None and len(names) != 1:
                raise NoColumnError
            index = first + (0 if field is None else list(names).index(field))
            if index not in found:
                found[index] = _numbers_of(batch.column(index))
            return found[index][part]

        return column

    def _take(self, numbers: Array, column: ColumnOf, time_at: Callable[[int], int]) -> None:
        """Take tuples of one pane, with the numbers of their keys.

        Raises:
            NoColumnError: they have to be taken one by one; nothing has changed.
        """
        groups, firsts, lasts = self._grouped(numbers)
        time_us = time_at(0)
        start = self._windows.first_start(time_us)
        found = [self._found(self._keys[number], start) for number in numbers[firsts].tolist()]
        fresh, get = self._aggregate.create, self._folding.get
        accs = [fresh() if window is None else get(window, time_us) for _, window in found]
        added = self._add(accs, groups, column)
        for (kept, window), acc, last in zip(found, added, lasts.tolist(), strict=True):
            if kept is None:
                continue
            last_us = time_at(last)
            if window is None:
                end = start + self._size_us
                window = self._windows.make(kept, start, end, last_us, self._folding.create())
            window.last = last_us
            self._folding.put(window, time_us, acc)

    def _grouped(self, numbers: Array) -> tuple[Array, Array, Array]:
        """For each tuple the index of its key's group, and the first and the last tuple of each group.

        Groups are in the order of their first tuples. Where several values are assigned to one place, the
        last one stays: so the places of keys are found without sorting them, which takes ten times as long.
        """
        scratch, places = self._scratch, np.arange(len(numbers))
        scratch[numbers[::-1]] = places[::-1]
        firsts = np.flatnonzero(scratch[numbers] == places)
        keys = numbers[firsts]
        scratch[numbers] = places
        lasts = scratch[keys]
        scratch[keys] = np.arange(len(keys))
        return scratch[numbers], firsts, lasts

    def _found(self, key: NamedKey, start: int) -> tuple[Kept | None, KeyWindow | None]:
        """The windows of a key, None if another task has it, and of these the one that tuples come to."""
        kept = self._windows.of_named(key)
        if kept is None:
            return None, None
        windows: dict[int, KeyWindow] = kept.value.by_start
        return kept, next(iter(windows.values()), None) if self._slides else windows.get(start)


def column_windows(
    windows: OpenKeyWindows, folding: Folding, aggregate: Aggregate[Any, Any], values_of: ValuesOf
) -> ColumnWindows | None:
    """What takes columns into windows; None where tuples have to be taken one by one.

    Arguments are as of `ColumnWindows`.
    """
    spec = windows.spec
    tumbles = spec.length_us is not None and spec.length_us == spec.slide_us
    add = column_adder(aggregate)
    if add is None or windows.lateness_us or not (tumbles or isinstance(folding, PaneFolding)):
        return None
    return ColumnWindows(windows, folding, aggregate, add, values_of)


def _behind(time_at: Callable[[int], int], first: int, index: int) -> int:
    return time_at(first + index)


def _numbers_of(column: pa.Array) -> Array:
    """A column of numbers as integers of 64 bits, or as floats.

    Raises:
        NoColumnError: it is none, or has values that are not there.
    """
    kind = column.type
    if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise NoColumnError
    values = column.to_numpy(zero_copy_only=False)
    if kind == pa.uint64() and values.max(initial=0) > _MOST_INT:
        raise NoColumnError
    found: Array = values.astype(np.int64 if pa.types.is_integer(kind) else np.float64, copy=False)
    return found
