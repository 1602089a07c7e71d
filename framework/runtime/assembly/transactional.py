"""Makes what a bolt's task needs for transactions: its part in a group, and the two calls for each tuple."""

from __future__ import annotations

from viper.transactions.recorder import Recorder

from framework.planning import Plan, TaskSpec
from framework.runtime.assembly.network import Network
from framework.runtime.edges.buffer import PAUSE_AT
from framework.runtime.state import MemberState, StateMemory
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.gathering import Gathering
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.transaction_processor import CallbackProcessor, TransactionProcessor
from framework.runtime.tracking.acker import Acker
from viper.rows import Inbox


class Transactional:
    """The parts of one task that has transactions.

    Args:
        plan: says which tasks share its group.
        network: has their bells.
        state: the group.
        spec: of the task.
        slot: holds its component.
    """

    def __init__(
        self, plan: Plan, network: Network, state: MemberState, spec: TaskSpec, slot: ComponentSlot
    ) -> None:
        group = next(group for group in plan.table_groups if spec.component in group.members)
        members = plan.transactional(group)
        others = [member.id for member in members if network.crosses(spec.id, member.id)]
        names = [f"{member.component}:{member.id}" for member in members]
        self._slot = slot
        self._inbox = Inbox(slot.host.record, None, PAUSE_AT, None)
        recorder = Recorder(self._inbox, state.group, state.number)
        self.membership = Membership(state, recorder, network.bells_of(others), names)

    @classmethod
    def of(
        cls, plan: Plan, network: Network, memory: StateMemory | None, spec: TaskSpec, slot: ComponentSlot
    ) -> Transactional | None:
        """Those of a task, whose group lies in the run's memory; None for one that has no transactions."""
        state = None if memory is None or memory.shared is None else memory.shared.member(spec)
        return None if state is None else cls(plan, network, state, spec, slot)

    def processor(
        self, context: TaskContext, inbox: Inbox, acker: Acker | None
    ) -> TransactionProcessor:
        """What gives the task's tuples to its component.

        Args:
            context: the task's.
            inbox: makes the tuples that are called back.
            acker: answers for them; None where nothing is tracked.
        """
        recorder = self.membership.recorder
        gathering = Gathering(self._slot, self._inbox, recorder)
        callbacks = CallbackProcessor(self._slot, inbox, acker, context.counters, self.membership)
        most = context.conf["viper.transactions.gather"]
        return TransactionProcessor(gathering, callbacks, self.membership, most)
