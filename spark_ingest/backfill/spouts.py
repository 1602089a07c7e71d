"""The rows of a spout's partitions, at the positions that a run gives them."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from framework.components.component import LOGGER_PREFIX
from framework.components.partitioned import Block
from framework.instantiate import Beans
from framework.planning import Plan
from framework.positions import Positions, SourceClock
from framework.runtime.collector import TaskCollector
from framework.runtime.context import make_context
from framework.runtime.counters import TaskCounters
from framework.runtime.hosts import Identity
from framework.runtime.limits import SPILL_AT
from framework.runtime.making import make_host
from framework.runtime.output import Output
from spark_ingest.backfill.errors import ShardError
from spark_ingest.backfill.sending import Sender
from spark_ingest.backfill.shapes import Stage

if TYPE_CHECKING:
    import pyarrow as pa


def run_partition(
    plan: Plan, stage: Stage, partition: int, blocks: Iterator[Block | None]
) -> Iterator[pa.RecordBatch]:
    """Bring all rows of one partition of a spout.

    Args:
        plan: of the whole topology.
        stage: the spout's.
        partition: its number.
        blocks: its rows, in the order of event time.

    Raises:
        ShardError: time goes back, there are too many rows of one time, or a block has another number of
            times than of rows.
    """
    where = f"spout {stage.component!r}, partition {partition}"
    sender = Sender(plan.topology.component(stage.component), stage)
    level = plan.layout.components[stage.component].level(copy=partition)
    clock, positions = SourceClock(), Positions()
    for block in blocks:
        if block is None:
            raise ShardError(f"{where} has nothing for now: a backfill is for data that has an end")
        if len(block.times) == 1 and not block.rows:
            continue  # It says how far the partition is, which nobody waits for here.
        if len(block.times) != len(block.rows):
            raise ShardError(f"{where}: a block with {len(block.times)} times for {len(block.rows)} rows")
        positions.clear()
        placed = positions.extend_timed(block.times, clock, level)
        if placed < len(block.rows):
            raise ShardError(
                f"{where}: {block.rows[placed]!r:.300} is at {block.times[placed]} us, behind a row at "
                f"{clock.ts} us: time must not go back within a partition; prepare the data again"
            )
        if clock.overflowed:
            raise ShardError(
                f"{where}: more rows are at {clock.ts} us than there is room for in their positions; "
                "prepare the data as more streams"
            )
        sender.record(block.rows, None, positions)
        yield from sender.batches()
    yield from sender.batches(least=1)


def blocks_of(plan: Plan, spout: str, partition: int) -> Iterator[Block | None]:
    """The rows of one partition, as the spout itself reads them.

    Raises:
        ComponentError: its constructor raised.
    """
    task = plan.tasks_of(spout)[0]
    host = make_host(plan.topology.component(spout), task, Beans(plan.topology.beans))
    conf: dict[str, Any] = copy.deepcopy(dict(plan.confs[spout]))
    identity = Identity(
        plan.topology.name,
        spout,
        task.id,
        conf,
        make_context(plan, task),
        logging.getLogger(f"{LOGGER_PREFIX}.{spout}"),
    )
    host.bind(TaskCollector(spout, Output((), ()), TaskCounters(), identity.logger, limit=SPILL_AT), identity)
    host.initialize(identity)
    try:
        yield from host.component.blocks(partition, None)
    finally:
        host.close()
