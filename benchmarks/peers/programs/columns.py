"""Our components for all workloads on columns, importable by worker processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.peers.programs.components import STATELESS, WithJob
from benchmarks.peers.workloads import KEPT_FROM, Row
from framework import BatchBolt, Rows, Spout, ValueState
from framework.model.columns import Batches, counted, exchanged, split_words
from framework.model.topology import Stream

AT_ONCE = 16_384
"""Rows of a batch."""
Array = np.ndarray[Any, Any]
LEAST_KEPT = pa.scalar(KEPT_FROM)
"""Made once: where pandas is not installed, pyarrow looks for it at each value of Python's, for 100 us."""


def schema_of(fields: Sequence[str], row: Row) -> Mapping[str, str]:
    """The types of a workload's fields, as one of its rows shows them."""
    names = {int: "int64 not null", float: "float64 not null", str: "string not null"}
    return {name: names[type(value)] for name, value in zip(fields, row, strict=True)}


class ColumnSource(WithJob, Spout):
    """Emits the input of a workload as columns, which are made before the clock starts."""

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The workload's fields, with their types."""
        task = self._job.task
        return [Stream(schema=schema_of(task.fields, task.base[0]))]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Make them, as often as the input repeats its base."""
        task, left = self._job.task, self._job.size
        (stream,) = self.outputs
        batches, rows = Batches(stream.schema, stream.fields), task.base
        base = [batches.of_rows(rows[first : first + AT_ONCE]) for first in range(0, len(rows), AT_ONCE)]
        self._batches: list[pa.RecordBatch] = []
        for batch in cycle(base):
            self._batches.append(batch.slice(0, left))
            left -= len(batch)
            if left <= 0:
                break
        self._batches.reverse()

    def next_tuple(self) -> None:
        """Emit a batch."""
        if not self._batches:
            raise StopIteration
        if not hasattr(self, "_has_started"):
            self._has_started = True
            self._job.started()
        self.emit_rows(self._batches.pop(), gives_away=True)


class ColumnSink(WithJob, BatchBolt):
    """Counts what it receives, a batch at a time."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing has come."""
        self._tally = self._job.tally()

    def process_rows(self, rows: Rows) -> None:
        """Count some."""
        rows.batch()
        if self._job.exact:
            self._tally.take(rows)
        else:
            self._tally.count(len(rows))

    def close(self) -> None:
        """Say so."""
        self._job.ended(self._tally)


class SplitColumns(BatchBolt):
    """Splits a column of lines into words."""

    outputs = [Stream(schema={"word": "string not null"})]
    config = STATELESS

    def process_rows(self, rows: Rows) -> None:
        """Split them."""
        words, ends = split_words(rows.array("line"))
        self.emit_rows({"word": words}, ends=ends, gives_away=True)


def grown(array: Array, slots: Array, empty: int) -> Array:
    """The array with room for all slots."""
    needed = int(slots.max()) + 1 if len(slots) else 0
    if needed <= len(array):
        return array
    return np.concatenate((array, np.full(max(needed, 2 * len(array)) - len(array), empty, array.dtype)))


class CountColumns(BatchBolt):
    """Counts a column of words, and emits each with its count."""

    outputs = [Stream(schema={"word": "string not null", "count": "int64 not null"})]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No word has been seen."""
        self._counts = np.zeros(0, np.int64)

    def process_rows(self, rows: Rows) -> None:
        """Count them."""
        slots = rows.slots("word")
        self._counts = grown(self._counts, slots, 0)
        numbers = counted(slots, self._counts)
        self.emit_rows({"word": rows.array("word"), "count": numbers}, gives_away=True)


class CountColumnsDeclared(BatchBolt):
    """Counts a column of words in declared state, and emits each with its count."""

    outputs = [Stream(schema={"word": "string not null", "count": "int64 not null"})]
    seen = ValueState("int64", default=0)

    def process_rows(self, rows: Rows) -> None:
        """Count them."""
        words = rows.array("word")
        numbers = np.asarray(self.seen.add_all(words))
        self.emit_rows({"word": words, "count": numbers}, gives_away=True)


class KeepColumns(WithJob, BatchBolt):
    """Emits the records of which the last value is large enough."""

    config = STATELESS

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The fields of the input."""
        task = self._job.task
        return [Stream(schema=schema_of(task.fields, task.base[0]))]

    def process_rows(self, rows: Rows) -> None:
        """Decide on them."""
        batch, of = rows.where(pc.greater_equal(rows.array(rows.fields[-1]), LEAST_KEPT))
        self.emit_rows(batch, of)


class ChangeColumns(BatchBolt):
    """Emits the records of which the segment differs from that of their id before."""

    outputs = [Stream(schema=dict.fromkeys(("ts", "id", "segment"), "int64 not null"))]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No id has been seen."""
        self._segments = np.zeros(0, np.int64)

    def process_rows(self, rows: Rows) -> None:
        """Compare them."""
        slots, segments = rows.slots("id"), rows.numpy("segment")
        self._segments = grown(self._segments, slots, -1)
        changed = segments != exchanged(slots, segments, self._segments)
        self.emit_rows(*rows.where(changed))
