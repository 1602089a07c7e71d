"""Columns of tuples on their way into the windows of their keys, those of a pane at once.

Keys are numbered by their values in C (`viper.columns.slots`), and tuples grouped by these numbers without
being sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from framework.operators.windows.aggregates.base import Aggregate, OneByOneError
from framework.operators.windows.aggregates.columns import Array, ColumnOf, column_adder
from framework.operators.windows.aggregates.folding import Folding
from framework.operators.windows.key_state import NamedKey, OpenKeyWindows
from framework.operators.windows.stretches import TakeStretch, TimeAt, ValuesOf, WindowAdder
from viper.columns.slots import KeySlots

MOST_KEYS: Final = 1 << 18
"""Keys that are numbered at once; beyond that all are numbered again."""
_MOST_INT: Final = 2**63 - 1


class ColumnWindows(WindowAdder):
    """Takes record batches; arguments are as of the base class."""

    fewest = 24

    def __init__(
        self, windows: OpenKeyWindows, folding: Folding, aggregate: Aggregate[Any, Any], values_of: ValuesOf
    ) -> None:
        super().__init__(windows, folding, aggregate, values_of)
        self._adder = column_adder(aggregate)
        self._slots = KeySlots()
        self._keys: list[NamedKey] = []
        """The keys by their numbers."""
        self._scratch = np.zeros(0, np.int64)
        """Scratch memory by the number of a key."""

    def _taker(
        self, tuples: pa.RecordBatch, fields: Sequence[str], key: int, time_at: TimeAt
    ) -> TakeStretch | None:
        add, numbers = self._adder, None
        if add is None:
            return None
        columns: dict[int, Array] = {}

        def take(first: int, end: int) -> None:
            nonlocal numbers
            if numbers is None:
                numbers = self._numbered(fields[key], tuples.column(key))
            column = self._columns(tuples, fields, columns, slice(first, end))
            groups, firsts, lasts = self._grouped(numbers[first:end])
            keys = [self._keys[number] for number in numbers[first:end][firsts].tolist()]
            times = [time_at(first + last) for last in lasts.tolist()]
            self._add(keys, times, time_at(first), lambda accs: add(accs, groups, column))

        return take

    def _numbered(self, name: str, column: pa.Array) -> Array:
        """The number of each tuple's key.

        Raises:
            OneByOneError: a key cannot be known by the value in its column.
        """
        kind = column.type
        if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_string(kind)):
            raise OneByOneError
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
                raise OneByOneError
            index = first + (0 if field is None else list(names).index(field))
            if index not in found:
                found[index] = _numbers_of(batch.column(index))
            return found[index][part]

        return column

    def _grouped(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Return for each tuple the index of its key's group, and the first and the last tuple of each group.

        Groups are in the order of their first tuples. If several values are assigned to one place, the last
        one stays. So the places of keys are found without sorting them, which takes ten times as long.
        """
        scratch, places = self._scratch, np.arange(len(numbers))
        scratch[numbers[::-1]] = places[::-1]
        firsts = np.flatnonzero(scratch[numbers] == places)
        keys = numbers[firsts]
        scratch[numbers] = places
        lasts = scratch[keys]
        scratch[keys] = np.arange(len(keys))
        return scratch[numbers], firsts, lasts


def _numbers_of(column: pa.Array) -> Array:
    """A column of numbers as integers of 64 bits, or as floats.

    Raises:
        OneByOneError: it is none, or has values that are not there.
    """
    kind = column.type
    if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise OneByOneError
    values = column.to_numpy(zero_copy_only=False)
    if kind == pa.uint64() and values.max(initial=0) > _MOST_INT:
        raise OneByOneError
    found: Array = values.astype(np.int64 if pa.types.is_integer(kind) else np.float64, copy=False)
    return found
