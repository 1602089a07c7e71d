"""State by key in the hands of several tasks of one process, which hand key groups over to one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from framework.model.topology import Role
from framework.operators.state import State
from framework.planning import TaskSpec
from framework.runtime.durability.state.task_state import TaskParts, TaskState
from viper.arena import Arena
from viper.hashing import groups_of_task, stable_hash
from viper.state import KeyedState, Pool, UndoLog, Writer

GROUPS = 8


class SharedState:
    """The states that a component declares, and its tasks: as many as there may be, some of them idle."""

    def __init__(
        self,
        states: dict[str, State],
        most: int,
        *,
        tracked: bool = False,
        now: Callable[[], int] = lambda: 0,
    ) -> None:
        self.arena = Arena.private(1 << 26)
        self.pool = Pool.create(self.arena, 1 << 25)
        self._bolt = type("Remembering", (), states)
        for name, state in states.items():
            state.__set_name__(self._bolt, name)
        self._specs = [state.spec for state in states.values()]
        codes = [code for spec in self._specs for code in spec.codes]
        self.state = KeyedState.create(
            self.arena, codes, groups=GROUPS, first_owner=most + 1, tracked=tracked
        )
        self._logs = [UndoLog.create(self.arena, owner=task + 1) for task in range(most)]
        self._now = now
        self.owned = [self.share(task, 1) for task in range(most)]
        """The key groups of each task."""
        self.components: list[Any] = [None] * most
        self.tasks: list[TaskState] = []
        for task in range(most):
            self.open(task)

    def share(self, task: int, tasks: int) -> range:
        """The key groups of a task among so many."""
        return groups_of_task(task, tasks, GROUPS) if task < tasks else range(0)

    def open(self, task: int, recovering: Iterable[int] | None = None) -> None:
        """A process begins to work for a task; what one that died had not committed is taken back.

        Args:
            task: its index.
            recovering: the key groups of which that is taken back; those that it owns, if they are left out.
        """
        owned = self.owned[task]
        owners = [self.state.owners[group] for group in (owned if recovering is None else recovering)]
        writer = Writer(self.arena, self.pool, self._logs[task], owners)
        spec = TaskSpec(task + 1, "remembering", task, Role.BOLT, 1)
        opened = TaskState(writer, TaskParts(spec, self.state, owned, None), self._specs)
        opened.tell_time_by(self._now)
        self.tasks[task : task + 1] = [opened]
        self.components[task] = self._bolt()
        opened.bind(self.components[task], goes_on=True)

    def of(self, key: object) -> int:
        """The task that owns a key."""
        group = stable_hash(key) % GROUPS
        return next(task for task, groups in enumerate(self.owned) if group in groups)

    def enter(self, key: object, task: int | None = None) -> Any:
        """Go on to a tuple of a key; returns the component of its task, which owns it."""
        task = self.of(key) if task is None else task
        self.tasks[task].scope.enter((key,), (0,))
        return self.components[task]

    def commit(self, task: int) -> None:
        """A task saves all that it holds back, and commits."""
        self.tasks[task].save()
        self.tasks[task].commit()

    def hand_over(self, task: int) -> None:
        """A task commits, and from now on others may take its key groups over."""
        self.tasks[task].hand_over()
        self.tasks[task].commit()

    def own(self, task: int, groups: range) -> None:
        """A task takes over key groups, and gives others up."""
        self.owned[task] = groups
        self.tasks[task].own(groups)

    def hand_to(self, tasks: int) -> None:
        """The component continues with so many tasks."""
        for task in range(len(self.tasks)):
            self.hand_over(task)
        for task in range(len(self.tasks)):
            self.own(task, self.share(task, tasks))
