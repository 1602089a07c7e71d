"""Our components for all workloads, importable by worker processes: bolts for tuples and for batches.

Bolts with state keep it in an attribute, which is gone with their process, or declare it. Then the runtime
recovers it by key.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.peers.jobs import Job
from benchmarks.peers.workloads import KEPT_FROM, Paced, Row
from framework import BatchBolt, Bolt, Later, Rows, Spout, ValueState, after
from framework.model.topology import Stream
from framework.operators.sinks import Sink

STATELESS = {"viper.stateless": True}


class WithJob:
    """A component that gets its job as text, which any process can read."""

    def __init__(self, job: str) -> None:
        super().__init__()
        self._job = Job.from_json(job)


class Source(WithJob, Spout):
    """Emits the input of a workload, which is made before the clock starts."""

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The workload's fields."""
        return [Stream(fields=list(self._job.task.fields))]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Make it."""
        self._rows = self._job.task.rows(self._job.size)

    def tuples(self) -> Iterator[Row]:
        """Each row."""
        self._job.started()
        yield from self._rows


class PacedSource(WithJob, Spout):
    """Emits each row when it is due, and says when the next one is."""

    outputs = list(Paced.fields)

    def tuples(self) -> Iterator[Row | Later]:
        """Yield the rows, and in between the times at which they are due."""
        task = self._job.task
        assert isinstance(task, Paced)
        self._job.started()
        for row in task.schedule(self._job.size):
            left_ns = row[1] - time.monotonic_ns()
            if left_ns > 0:
                yield after(left_ns / 1e9)
            yield row


class TallySink(WithJob, Sink):
    """Counts what it receives, many rows at a time."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing has come."""
        self._tally = self._job.tally()

    def consume(self, rows: Sequence[Row]) -> None:
        """Count some."""
        self._tally.take(rows)

    def close(self) -> None:
        """Say so."""
        self._job.ended(self._tally)


class Split(Bolt):
    """Splits lines into words."""

    outputs = ["word"]
    config = STATELESS

    def process(self, tup: Any) -> None:
        """Split one."""
        for word in tup.values[0].split():
            self.emit([word])


class Count(Bolt):
    """Counts each word, and emits it with its count."""

    outputs = ["word", "count"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No word has been seen."""
        self._counts: dict[str, int] = {}

    def process(self, tup: Any) -> None:
        """Count one."""
        word = tup.values[0]
        number = self._counts[word] = self._counts.get(word, 0) + 1
        self.emit([word, number])


class CountDeclared(Bolt):
    """Counts each word in declared state, and emits it with its count."""

    outputs = ["word", "count"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        """Count one."""
        self.emit([tup.values[0], self.seen.add(1)])


class Keep(WithJob, Bolt):
    """Emits the records of which the last value is large enough."""

    config = STATELESS

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The fields of the input."""
        return list(self._job.task.fields)

    def process(self, tup: Any) -> None:
        """Decide on one."""
        if tup.values[-1] >= KEPT_FROM:
            self.emit(tup.values)


class Change(Bolt):
    """Emits a record when the segment of its id differs from before."""

    outputs = ["ts", "id", "segment"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No id has been seen."""
        self._segments: dict[int, int] = {}

    def process(self, tup: Any) -> None:
        """Compare one."""
        _, key, segment = tup.values
        if self._segments.get(key) != segment:
            self._segments[key] = segment
            self.emit(tup.values)


class ChangeDeclared(Bolt):
    """Emits a record when the segment of its id differs from the one in declared state."""

    outputs = ["ts", "id", "segment"]
    segment = ValueState("int64", default=-1)

    def process(self, tup: Any) -> None:
        """Compare one."""
        segment = tup.values[2]
        if self.segment.value != segment:
            self.segment.value = segment
            self.emit(tup.values)


class Forward(Bolt):
    """Emits what it receives."""

    outputs = list(Paced.fields)
    config = STATELESS

    def process(self, tup: Any) -> None:
        """Emit it again."""
        self.emit(tup.values)


class CountPaced(Bolt):
    """Counts each key, and emits it with its count and the time of its tuple."""

    outputs = ["key", "count", "scheduled_ns"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No key has been seen."""
        self._counts: dict[int, int] = {}

    def process(self, tup: Any) -> None:
        """Count one."""
        key, scheduled_ns = tup.values
        number = self._counts[key] = self._counts.get(key, 0) + 1
        self.emit([key, number, scheduled_ns])


class CountPacedDeclared(Bolt):
    """Counts each key in declared state, and emits it with its count and the time of its tuple."""

    outputs = ["key", "count", "scheduled_ns"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        """Count one."""
        key, scheduled_ns = tup.values
        self.emit([key, self.seen.add(1), scheduled_ns])


class SplitRows(BatchBolt):
    """Splits the lines of a batch into words."""

    outputs = ["word"]
    config = STATELESS

    def process_rows(self, rows: Rows) -> None:
        """Split them."""
        words: list[str] = []
        ends = []
        for (line,) in rows:
            words += line.split()
            ends.append(len(words))
        self.emit_rows(list(zip(words, strict=True)), ends=ends)


class CountRows(BatchBolt):
    """Counts the words of a batch, and emits each with its count."""

    outputs = ["word", "count"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No word has been seen."""
        self._counts: dict[str, int] = {}

    def process_rows(self, rows: Rows) -> None:
        """Count them."""
        counts, made = self._counts, []
        for (word,) in rows:
            counts[word] = count = counts.get(word, 0) + 1
            made.append((word, count))
        self.emit_rows(made)


class CountRowsDeclared(BatchBolt):
    """Counts the words of a batch in declared state, and emits each with its count."""

    outputs = ["word", "count"]
    seen = ValueState("int64", default=0)

    def process_rows(self, rows: Rows) -> None:
        """Count them."""
        words = rows.column("word")
        self.emit_rows(list(zip(words, self.seen.add_all(words), strict=True)))


class KeepRows(WithJob, BatchBolt):
    """Emits the records of a batch of which the last value is large enough."""

    config = STATELESS

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The fields of the input."""
        return list(self._job.task.fields)

    def process_rows(self, rows: Rows) -> None:
        """Decide on them."""
        values = rows.values()
        of = [index for index, row in enumerate(values) if row[-1] >= KEPT_FROM]
        self.emit_rows([values[index] for index in of], of)


class ChangeRows(BatchBolt):
    """Emits the records of a batch of which the segment differs from that of their id before."""

    outputs = ["ts", "id", "segment"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No id has been seen."""
        self._segments: dict[int, int] = {}

    def process_rows(self, rows: Rows) -> None:
        """Compare them."""
        segments, made, of = self._segments, [], []
        for index, row in enumerate(rows):
            if segments.get(row[1]) != row[2]:
                segments[row[1]] = row[2]
                made.append(row)
                of.append(index)
        self.emit_rows(made, of)


class ChangeRowsDeclared(BatchBolt):
    """Emits the records of a batch of which the segment differs from the one in declared state."""

    outputs = ["ts", "id", "segment"]
    segment = ValueState("int64", default=-1)

    def process_rows(self, rows: Rows) -> None:
        """Compare them."""
        made, of = [], []
        for index, row in enumerate(rows.keyed()):
            if self.segment.value != row[2]:
                self.segment.value = row[2]
                made.append(row)
                of.append(index)
        self.emit_rows(made, of)
