"""The rows of a spout's partitions, at the positions that a run gives them."""

from __future__ import annotations

import copy
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from framework.model.errors import ComponentError
from framework.model.instantiate import Beans
from framework.model.positions import Positions, SourceClock
from framework.model.topology import ComponentSpec
from framework.operators.components.component import LOGGER_PREFIX
from framework.operators.components.partitioned import Block, Watermark
from framework.planning import Plan
from framework.recording import Emission, Rows
from framework.runtime.exchange.collector import TaskCollector
from framework.runtime.exchange.output import Output
from framework.runtime.exchange.typed import TypedForm
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.tasks.hosts.context import make_context
from framework.runtime.tasks.hosts.host import Identity
from framework.runtime.tasks.hosts.registry import make_host
from framework.runtime.tasks.hosts.user_errors import user_errors
from spark_ingest.backfill.errors import ShardError
from spark_ingest.backfill.sending import Sender
from spark_ingest.backfill.shapes import Stage

if TYPE_CHECKING:
    import pyarrow as pa


def run_partition(
    plan: Plan, stage: Stage, partition: int, blocks: Iterator[Block | Watermark | None]
) -> Iterator[pa.RecordBatch]:
    """Bring all rows of one partition of a spout.

    Args:
        plan: of the whole topology.
        stage: the spout's.
        partition: its number.
        blocks: its rows, in the order of event time.

    Raises:
        ShardError: time goes back, there are too many rows of one time, or a block is none, or has another
            number of times than of rows.
    """
    where = f"spout {stage.component!r}, partition {partition}"
    component = plan.topology.component(stage.component)
    sender, form = Sender(component, stage), form_of(component)
    level = plan.layout.components[stage.component].level(copy=partition)
    clock, positions = SourceClock(), Positions()
    for block in blocks:
        if block is None:
            raise ShardError(f"{where} has nothing for now: a backfill is for data that has an end")
        if isinstance(block, Watermark):
            continue  # Nobody waits for it here.
        if not isinstance(block, Block):
            found = type(block).__name__
            raise ShardError(f"{where}: blocks gave a {found}: expected a Block, a Watermark or None")
        if len(block.times) != len(block.rows):
            raise ShardError(f"{where}: a block with {len(block.times)} times for {len(block.rows)} rows")
        positions.clear()
        placed = positions.extend_timed(block.times, clock, level)
        if placed < len(block.rows):
            raise ShardError(
                f"{where}: row {placed} of a block is at {block.times[placed]} us, behind a row at "
                f"{clock.ts} us: time must not go back within a partition; prepare the data again"
            )
        if clock.overflowed:
            raise ShardError(
                f"{where}: more rows are at {clock.ts} us than there is room for in their positions; "
                "prepare the data as more streams"
            )
        payload = Rows(block.rows) if form is None else form.payload(block.rows)
        sender.record(Emission(payload, None, positions))
        yield from sender.batches()
    yield from sender.batches(least=1)


def form_of(spout: ComponentSpec) -> TypedForm | None:
    """Makes the rows of a spout's only stream fit its schema; None where it has none."""
    for stream in spout.outputs or ():
        if stream.schema is not None:
            return TypedForm(spout.id, stream, stream.schema)
    return None


def blocks_of(plan: Plan, spout: str, partition: int) -> Iterator[Block | Watermark | None]:
    """The rows of one partition, as the spout itself reads them.

    Raises:
        ComponentError: it raised.
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
    host.bind(TaskCollector(spout, Output((), ()), TaskCounters(), identity.logger), identity)
    with _told(identity, "initialize"):
        host.initialize(identity)
    try:
        with _told(identity, "blocks"):
            blocks = iter(host.component.blocks(partition, None))
        yield from _drawn(blocks, identity)
    finally:
        host.close()


def _drawn(blocks: Iterator[Any], identity: Identity) -> Iterator[Any]:
    try:
        while True:
            with _told(identity, "blocks"):
                block = next(blocks, blocks)  # which stands for the end
            if block is blocks:
                return
            yield block
    finally:
        if isinstance(blocks, Generator):
            blocks.close()


@contextmanager
def _told(identity: Identity, during: str) -> Iterator[None]:
    """Have errors that the component raises name it."""
    try:
        yield
    except user_errors() as error:
        detail = f"{type(error).__name__}: {error}"
        raise ComponentError(identity.component, identity.task, during, detail) from error
