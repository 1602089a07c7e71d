"""The stages of a backfill in this process, without Spark: what `Frames` has Spark do, in a few lines."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from framework.model.instantiate import Beans
from framework.model.topology import PythonImplementation, Role
from spark_ingest.backfill.executing import bolt_stage, own_spout_stage
from spark_ingest.backfill.planned import Planned
from spark_ingest.backfill.shapes import Output, Stage
from spark_ingest.backfill.wire import POSITION, ROW, SOURCE, STREAM, key_column, positions_of, unpickled
from tests.spark_ingest.backfill.recorded import Placed

Sent = list[dict[str, Any]]
"""Rows as a stage sends them: a dict for each, by column."""


class Engine:
    """Runs stages one after the other.

    Args:
        planned: what to run.
        shards: into how many the keys are divided.
        batch: rows in a batch.
        drawn: in which order rows arrive before they are sorted.
        sort_key: by which the rows of a shard are sorted; a wrong one is a planted bug.
        shard_of: which shard a row of a bucket goes to; a wrong one is a planted bug.
    """

    def __init__(
        self,
        planned: Planned,
        shards: int,
        batch: int = 50,
        drawn: random.Random | None = None,
        sort_key: Callable[[dict[str, Any]], Any] = lambda row: row[POSITION],
        shard_of: Callable[[int, int], int] = lambda bucket, shards: bucket % shards,
    ) -> None:
        self._planned = planned
        self._shards = shards
        self._batch = batch
        self._drawn = drawn or random.Random(0)
        self._sort_key = sort_key
        self._shard_of = shard_of
        self._parts: dict[str, list[Sent]] = {}

    def run(self, outputs: Sequence[Output]) -> dict[str, list[Placed]]:
        """Position and values of all that the outputs have, in the order of positions."""
        for stage in self._planned.stages:
            made = self._spout(stage) if stage.role is Role.SPOUT else self._bolt(stage)
            self._parts[stage.component] = made
        return {output.name: self._output(output) for output in outputs}

    def _spout(self, stage: Stage) -> list[Sent]:
        implementation = self._planned.plan.topology.component(stage.component).implementation
        assert isinstance(implementation, PythonImplementation)
        count = Beans(()).make(implementation.definition).partitions
        numbers = [pa.RecordBatch.from_pydict({"id": [number]}) for number in range(count)]
        return [_rows(own_spout_stage(self._planned.plan, stage, iter([one]))) for one in numbers]

    def _bolt(self, stage: Stage) -> list[Sent]:
        plan, settings = self._planned.plan, self._planned.settings
        shards = self._sharded(stage) if stage.is_sharded else self._as_they_are(stage)
        return [_rows(bolt_stage(plan, settings, stage, self._batches(rows))) for rows in shards]

    def _received(self, stage: Stage) -> Iterator[Sent]:
        sources = sorted({feed.source for feed in stage.feeds})
        for feed in stage.feeds:
            sender = next(one for one in self._planned.stages if one.component == feed.source)
            column = None if feed.key is None else key_column(sender.keys.index(feed.key))
            for part in self._parts[feed.source]:
                yield [
                    {**row, SOURCE: sources.index(feed.source), "bucket": row[column] if column else 0}
                    for row in part
                    if row[STREAM] == self._tag(feed.source, feed.stream)
                ]

    def _as_they_are(self, stage: Stage) -> list[Sent]:
        return list(self._received(stage))

    def _sharded(self, stage: Stage) -> list[Sent]:
        shards: defaultdict[int, Sent] = defaultdict(list)
        for part in self._received(stage):
            for row in part:
                shards[self._shard_of(row["bucket"], self._shards)].append(row)
        for rows in shards.values():
            self._drawn.shuffle(rows)
            rows.sort(key=self._sort_key)
        return list(shards.values())

    def _batches(self, rows: Sent) -> Iterator[pa.RecordBatch]:
        for first in range(0, len(rows), self._batch):
            part = rows[first : first + self._batch]
            yield pa.RecordBatch.from_pydict(
                {name: [row[name] for row in part] for name in (POSITION, SOURCE, STREAM, ROW)}
            )

    def _tag(self, component: str, stream: str) -> int:
        declared = self._planned.plan.topology.component(component).outputs or ()
        return [one.name for one in declared].index(stream)

    def _output(self, output: Output) -> list[Placed]:
        tag = self._tag(output.component, output.stream)
        rows = [row for part in self._parts[output.component] for row in part if row[STREAM] == tag]
        rows.sort(key=lambda row: row[POSITION])
        values = unpickled(pa.array([row[ROW] for row in rows], pa.binary()))
        positions = positions_of(pa.array([row[POSITION] for row in rows], pa.binary()))
        return list(zip(positions, values, strict=True))


def _rows(batches: Iterator[pa.RecordBatch]) -> Sent:
    return [row for batch in batches for row in batch.to_pylist()]
