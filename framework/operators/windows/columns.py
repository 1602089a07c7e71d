"""Columns of tuples on their way into the windows of their keys.

A task gets the tuples of a slice as columns. They are divided where a pane ends, so all tuples of a stretch
belong to the same pane, whichever their keys are. Those of each key are added at once: it is looked up once
for all of them. Keys are numbered by their values in C (`viper.columns.slots`), and tuples grouped by these
numbers without being sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from framework.operators.windows.aggregates.base import Aggregate
from framework.operators.windows.aggregates.columns import (
    Array,
    ColumnAdder,
    ColumnOf,
    NoColumnError,
    column_adder,
)
from framework.operators.windows.aggregates.folding import Folding
from framework.operators.windows.key_state import NamedKey, OpenKeyWindows
from framework.operators.windows.state import BEHIND_TIME
from framework.operators.windows.stretches import Stretches, TimeAt, folds_stretches
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
        add: adds columns to accumulators.
        values_of: says which values of a tuple with certain fields are aggregated, as `APlus` does.
    """

    def __init__(
        self,
        windows: OpenKeyWindows,
        folding: Folding,
        add: ColumnAdder,
        values_of: ValuesOf,
    ) -> None:
        self._windows = windows
        self._stretches = Stretches(windows, folding)
        self._add = add
        self._values_of = values_of
        self._slots = KeySlots()
        self._keys: list[NamedKey] = []
        """The keys by their numbers."""
        self._scratch = np.zeros(0, np.int64)
        """Scratch memory by the number of a key."""

    def take(
        self, batch: pa.RecordBatch, fields: Sequence[str], key: int, time_at: TimeAt
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
            end = self._stretches.end(done, count, time_at)
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

    def _take(self, numbers: Array, column: ColumnOf, time_at: TimeAt) -> None:
        """Take tuples of one pane, with the numbers of their keys.

        Raises:
            NoColumnError: they have to be taken one by one; nothing has changed.
        """
        groups, firsts, lasts = self._grouped(numbers)
        time_us, stretches = time_at(0), self._stretches
        found = stretches.found([self._keys[number] for number in numbers[firsts].tolist()], time_us)
        added = self._add(stretches.accumulators(found, time_us), groups, column)
        stretches.put(found, added, list(map(time_at, lasts.tolist())), time_us)

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


def column_windows(
    windows: OpenKeyWindows, folding: Folding, aggregate: Aggregate[Any, Any], values_of: ValuesOf
) -> ColumnWindows | None:
    """What takes columns into windows; None where tuples have to be taken one by one.

    Arguments are as of `ColumnWindows`; the aggregate makes accumulators.
    """
    add = column_adder(aggregate)
    if add is None or not folds_stretches(windows, folding):
        return None
    return ColumnWindows(windows, folding, add, values_of)


def _behind(time_at: TimeAt, first: int, index: int) -> int:
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
