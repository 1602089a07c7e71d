"""How many tasks each component shall have: words in shared memory, for the producers of its tuples."""

from __future__ import annotations

from collections.abc import Callable

from framework.planning import Plan
from viper.arena import Arena
from viper.registers import Registers


class ScaleRecord:
    """A register for each component whose number of tasks may change, which the leader of the run writes.

    Args:
        registers: `count` of them.
        plan: says which components these are.
    """

    def __init__(self, registers: Registers, plan: Plan) -> None:
        self._registers = registers
        self._index = {component: index for index, component in enumerate(sorted(plan.scalable))}

    @classmethod
    def create(cls, arena: Arena, plan: Plan) -> ScaleRecord:
        """Make one by which each has as many as in the plan; ArenaError if the arena has no room for it."""
        made = cls(Registers.create(arena, len(plan.scalable)), plan)
        for component, tasks in plan.scalable.items():
            made.want(component, tasks)
        return made

    @classmethod
    def attach(cls, arena: Arena, offset: int, plan: Plan) -> ScaleRecord:
        """The one at an offset; ArenaError if nothing was allocated there."""
        return cls(Registers.attach(arena, offset, len(plan.scalable)), plan)

    @staticmethod
    def size(plan: Plan) -> int:
        """Bytes that it takes of an arena."""
        return Registers.size(len(plan.scalable)) if plan.scalable else 0

    @property
    def offset(self) -> int:
        """Where it lies in its arena."""
        return self._registers.offset

    def want(self, component: str, tasks: int) -> None:
        """Have the producers divide a component's tuples among so many tasks."""
        self._registers[self._index[component]] = tasks

    def wanted(self, component: str) -> int:
        """How many tasks a component shall have."""
        return self._registers[self._index[component]]

    def reader(self, component: str) -> Callable[[], int]:
        """Tells what `wanted` does, for a router that asks at each hand-over."""
        registers, index = self._registers, self._index[component]
        return lambda: registers[index]
