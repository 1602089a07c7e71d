"""Makes what gives a bolt's tuples to its component: one by one, in rows, or in columns."""

from __future__ import annotations

from framework.operators.sinks import Sink
from framework.runtime.exchange.bulk import BulkEmits
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.batch_processor import BatchProcessor
from framework.runtime.tasks.column_folder import ColumnFolder
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.processors import Processor, SinkProcessor, TupleProcessor
from framework.runtime.tasks.sink_commits import SinkCommits
from framework.runtime.tasks.slot import ComponentSlot
from viper.rows import Inbox


def make_processor(
    context: TaskContext,
    slot: ComponentSlot,
    inbox: Inbox,
    bulk: BulkEmits,
    acker: Acker | None,
    commits: SinkCommits | None,
) -> Processor:
    """The processor of a task.

    Args:
        context: the task's.
        slot: holds its component.
        inbox: makes tuples of rows.
        bulk: takes what a batch bolt emits.
        acker: answers for tuples; None where nothing is tracked.
        commits: tells a transactional sink when to apply what it has taken; None for other components.
    """
    host, counters = slot.host, context.counters
    if host.takes_rows:
        return BatchProcessor(slot, bulk, acker, counters, keeps=host.keeps_columns)
    if isinstance(host.component, Sink):
        return SinkProcessor(slot, acker, counters, commits)
    of_tuples = ColumnFolder if host.aggregates else TupleProcessor
    return of_tuples(slot, inbox, acker, counters)
