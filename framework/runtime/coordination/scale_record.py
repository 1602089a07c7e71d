"""The tasks of each component that shall get tuples, as words in shared memory for their producers.

Tasks with state by key also report here that they have handed over the key groups they no longer own. Their
words further say which part of a reconfiguration outlasts the death of their process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from framework.model.topology import GroupingKind
from framework.planning import Plan
from framework.planning.routing import TaskSet
from viper.arena import Arena
from viper.registers import Registers


class ScaleRecord:
    """Registers for the components whose tasks may change, which the leader of the run writes, and
    for their tasks, each of which writes its own.

    Args:
        registers: `count(plan)` of them.
        plan: says which components these are.
    """

    def __init__(self, registers: Registers, plan: Plan) -> None:
        self._registers = registers
        self._plan = plan
        self._index = {component: index for index, component in enumerate(sorted(plan.scalable))}
        """By component the register of its tasks."""
        count = len(self._index)
        self._proposed = {component: count + index for index, component in enumerate(plan.handing_over)}
        """By component with state by key the register of its tasks in the present reconfiguration."""
        count += len(self._proposed)
        that_hand_over = _that_hand_over(plan)
        self._handed = {task: count + index for index, task in enumerate(that_hand_over)}
        """By task the register of the last reconfiguration in which it has handed over."""
        count += len(that_hand_over)
        self._taken = {task: count + index for index, task in enumerate(that_hand_over)}
        """By task the register of the last one in which it has taken over."""
        count += len(that_hand_over)
        self._divided = {task: count + index for index, task in enumerate(_that_divide(plan))}
        """By producer the register of the last one behind whose cut it is for good."""

    @classmethod
    def create(cls, arena: Arena, plan: Plan) -> ScaleRecord:
        """Make one by which each has those of the plan; ArenaError if the arena has no room for it."""
        made = cls(Registers.create(arena, _count(plan)), plan)
        for component, tasks in plan.scalable.items():
            made.want(component, tasks)
        return made

    @classmethod
    def attach(cls, arena: Arena, offset: int, plan: Plan) -> ScaleRecord:
        """The one at an offset; ArenaError if nothing was allocated there."""
        return cls(Registers.attach(arena, offset, _count(plan)), plan)

    @staticmethod
    def size(plan: Plan) -> int:
        """Bytes that it takes of an arena."""
        return Registers.size(_count(plan)) if plan.scalable else 0

    @property
    def offset(self) -> int:
        """Its offset in its arena."""
        return self._registers.offset

    def want(self, component: str, tasks: TaskSet) -> None:
        """Have the producers divide a component's tuples among these tasks.

        If its tasks hand state over, all of them must have done so.
        """
        self._registers[self._index[component]] = tasks.code
        if component in self._proposed:
            self._registers[self._proposed[component]] = tasks.code

    def wanted(self, component: str) -> TaskSet:
        """The tasks of a component that shall get tuples; where they hand state over, up to the cut of the
        present reconfiguration."""
        return TaskSet.from_code(self._registers[self._index[component]])

    def reader(self, component: str) -> Callable[[], int]:
        """Return `wanted` as its code, for a router that asks at each hand-over."""
        registers, index = self._registers, self._index[component]
        return lambda: registers[index]

    # -- a reconfiguration at a cut

    def propose(self, component: str, tasks: TaskSet) -> None:
        """Propose that these tasks of a component with state by key get its tuples in the next
        reconfiguration."""
        self._registers[self._proposed[component]] = tasks.code

    def proposed(self, component: str) -> TaskSet:
        """The tasks of a component with state by key that get tuples after the cut of the last
        reconfiguration."""
        return TaskSet.from_code(self._registers[self._proposed[component]])

    def hand_over(self, task: int, attempt: int) -> None:
        """Note that a task has committed all that lies before the cut of an attempt.

        It touches none of its key groups any more that are another's after the cut.
        """
        self._registers[self._handed[task]] = attempt

    def has_handed_over(self, task: int, attempt: int) -> bool:
        """True if a task has handed over its key groups in an attempt."""
        # A later one, too: a task that was fast may be at the next before another has looked at this one.
        return self._registers[self._handed[task]] >= attempt

    def take_over(self, task: int, attempt: int) -> None:
        """Note that a task has its key groups after the cut of an attempt, even if its process dies."""
        self._registers[self._taken[task]] = attempt

    def divide_anew(self, task: int, attempt: int) -> None:
        """Note that a producer brings nothing more before the cut of an attempt, even if its process dies."""
        self._registers[self._divided[task]] = attempt

    def changing(self) -> Iterator[str]:
        """The components that have other tasks behind the cut than before it."""
        return (name for name in self._proposed if self.proposed(name) != self.wanted(name))

    def has_taken_over(self, attempt: int) -> bool:
        """True if all tasks of those components have taken over in an attempt."""
        return all(
            self._registers[self._taken[task.id]] >= attempt
            for name in self.changing()
            for task in self._plan.tasks_of(name)
        )

    def is_divided_anew(self, attempt: int) -> bool:
        """True if all producers of their tuples have passed the cut of an attempt, in a run that commits."""
        return all(
            self._registers[self._divided[task]] >= attempt
            for name in self.changing()
            for task in _producers(self._plan, name)
        )


def _that_hand_over(plan: Plan) -> list[int]:
    return [task.id for name in plan.handing_over for task in plan.tasks_of(name)]


def _that_divide(plan: Plan) -> list[int]:
    return sorted({task for name in plan.handing_over for task in _producers(plan, name)})


def _producers(plan: Plan, component: str) -> Iterator[int]:
    """The tasks that divide tuples among those of a component; all grouping divides none."""
    for subscription in plan.subscriptions:
        if subscription.target == component and subscription.grouping.kind is GroupingKind.FIELDS:
            yield from (task.id for task in plan.tasks_of(subscription.source))


def _count(plan: Plan) -> int:
    of_components = len(plan.scalable) + len(plan.handing_over)
    return of_components + 2 * len(_that_hand_over(plan)) + len(_that_divide(plan))
