"""Runs partitions of spouts and shards of bolts in executors, from Arrow batches to Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from framework.model.config import Settings
from framework.model.topology import Role
from framework.planning import Plan, TaskSpec
from framework.planning.placement import Executor, Placement
from framework.planning.placement import WorkerKind as Kind
from framework.planning.plan import Channel
from spark_ingest.backfill.feeding import Arrival
from spark_ingest.backfill.shapes import Stage
from spark_ingest.backfill.shard import run_shard
from spark_ingest.backfill.spouts import blocks_of, form_of, run_partition
from spark_ingest.backfill.wire import POSITION, ROW, SOURCE, STREAM, positions_of, unpickled

if TYPE_CHECKING:
    import pyarrow as pa

_READ_ROWS = 4096
"""Most rows that are unpickled at a time; Spark's batches may be larger."""


def bolt_stage(
    plan: Plan, settings: Settings, stage: Stage, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run a bolt over the rows of a shard; arguments and errors as of `run_shard`."""
    arrivals = _arrivals(batches)
    first = next(arrivals, None)
    if first is None:  # a bolt that receives nothing emits nothing
        return
    yield from run_shard(bolt_plan(plan, stage.component), settings, stage, _chained(first, arrivals))


def _chained(first: Sequence[Arrival], rest: Iterator[Sequence[Arrival]]) -> Iterator[Sequence[Arrival]]:
    yield first
    yield from rest


def _arrivals(batches: Iterator[pa.RecordBatch]) -> Iterator[Sequence[Arrival]]:
    for batch in batches:
        for first in range(0, batch.num_rows, _READ_ROWS):
            part = batch.slice(first, _READ_ROWS)
            columns = (positions_of(part[POSITION]), part[SOURCE].to_pylist(), part[STREAM].to_pylist())
            yield [Arrival(*row) for row in zip(*columns, unpickled(part[ROW]), strict=True)]


def own_spout_stage(plan: Plan, stage: Stage, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Bring the partitions whose numbers are given, as the spout itself reads them."""
    for batch in batches:
        for partition in batch.column(0).to_pylist():
            yield from run_partition(plan, stage, partition, blocks_of(plan, stage.component, partition))


def frame_spout_stage(
    plan: Plan, stage: Stage, unit: str, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Bring the rows of one of Spark's partitions, which is the partition of the spout by its number.

    Args:
        plan: of the whole topology.
        stage: the spout's.
        unit: s, ms, us or ns: what timestamps among the values become.
        batches: the time in microseconds, then the spout's fields.
    """
    from pyspark import TaskContext

    from spark_ingest.replaying.values import Blocks

    context: Any = TaskContext.get()
    component = plan.topology.component(stage.component)
    blocks = Blocks(unit, typed=form_of(component) is not None)
    rows = (block for batch in batches for block in blocks.of(batch))
    yield from run_partition(plan, stage, context.partitionId(), rows)


def bolt_plan(plan: Plan, bolt: str) -> Plan:
    """The plan restricted to one task of a bolt, and one of each component that feeds it.

    The topology and the layout stay what they are, so that positions do. The tasks that feed the bolt
    have the role of a spout's: they bring what has been emitted before.
    """
    subscriptions = tuple(s for s in plan.subscriptions if s.target == bolt)
    sources = sorted({subscription.source for subscription in subscriptions})
    feeding = [replace(plan.tasks_of(source)[0], role=Role.SPOUT) for source in sources]
    task = plan.tasks_of(bolt)[0]
    tasks = tuple(sorted([*feeding, task], key=lambda one: one.id))
    return replace(
        plan,
        tasks=tasks,
        subscriptions=subscriptions,
        channels=(Channel((task.id,), tuple(sorted(one.id for one in feeding))),),
        placement=_in_one_thread(tasks),
        aligned_sources=(),  # the tasks of spouts that agree on a cut are not there
        # On a thread of its own it could not be run step by step; nothing else is held up by it here.
        confs={**plan.confs, bolt: {**plan.confs[bolt], "viper.blocking": False}},
    )


def _in_one_thread(tasks: tuple[TaskSpec, ...]) -> Placement:
    return Placement(Kind.INLINE, (Executor(1, tuple(task.id for task in tasks)),))
