"""Makes what a bolt's task needs for transactions: its part in a group, and the two calls for each tuple."""

from __future__ import annotations

from typing import Final

from framework.planning import Plan
from framework.runtime.durability.state import MemberState, StateMemory
from framework.runtime.exchange.buffer import PAUSE_AT
from framework.runtime.exchange.bulk import BulkEmits
from framework.runtime.execution.assembly.network import Network
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.gathering import Gathering
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.processors import Processor
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.transaction_batches import TransactionBatches
from framework.runtime.tasks.transaction_processor import CallbackProcessor, TransactionProcessor
from viper.rows import Inbox
from viper.transactions.recorder import Recorder

GATHER: Final = 512
"""How many tuples are gathered where the configuration leaves it open: about as many as in the paper."""


class Transactional:
    """The parts of one task that has transactions.

    Args:
        plan: says which tasks share its group.
        network: has their bells.
        state: the group.
        context: the task's.
        slot: holds its component.
    """

    def __init__(
        self, plan: Plan, network: Network, state: MemberState, context: TaskContext, slot: ComponentSlot
    ) -> None:
        spec = context.spec
        group = next(group for group in plan.table_groups if spec.component in group.members)
        members = plan.transactional(group)
        others = [member.id for member in members if network.crosses(spec.id, member.id)]
        names = [f"{member.component}:{member.id}" for member in members]
        self._slot = slot
        self._inbox = Inbox(slot.host.record, None, PAUSE_AT, None)
        recorder = Recorder(self._inbox, state.group, state.number)
        bells = network.bells_of(others)
        self.membership = Membership(state, recorder, bells, names, context, _most(context, slot))

    @classmethod
    def of(
        cls,
        plan: Plan,
        network: Network,
        memory: StateMemory | None,
        context: TaskContext,
        slot: ComponentSlot,
    ) -> Transactional | None:
        """Those of a task, whose group lies in the run's memory; None for one that has no transactions."""
        state = None if memory is None else memory.shared.member(context.spec)
        return None if state is None else cls(plan, network, state, context, slot)

    def processor(
        self, context: TaskContext, inbox: Inbox, bulk: BulkEmits, acker: Acker | None
    ) -> Processor:
        """What gives the task's tuples to its component.

        Args:
            context: the task's.
            inbox: makes the tuples that are called back.
            bulk: takes what a batch bolt emits.
            acker: answers for tuples; None where nothing is tracked.
        """
        host = self._slot.host
        if host.takes_rows:
            keeps, parts = host.keeps_columns, (bulk, acker, context.counters, self.membership)
            return TransactionBatches(self._slot, *parts, keeps=keeps)
        recorder = self.membership.recorder
        gathering = Gathering(self._slot, self._inbox, recorder)
        callbacks = CallbackProcessor(self._slot, inbox, acker, context.counters, self.membership)
        return TransactionProcessor(gathering, callbacks, self.membership)


def _most(context: TaskContext, slot: ComponentSlot) -> int:
    """How many tuples a task gathers before they are evaluated."""
    most: int | None = context.conf["viper.transactions.gather"]
    if most is not None:
        return most
    return int(context.conf["viper.columns.rows"]) if slot.host.takes_rows else GATHER
