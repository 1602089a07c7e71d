"""How many tasks the components of a run have while it goes on, as its user or a controller wants it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from framework.errors import ScaleError
from framework.planning import Plan
from framework.runtime.control.scale_record import ScaleRecord
from framework.topology import unknown

log = logging.getLogger("viperstorm.scale")


BY_USER = "viper scale"
"""Who has asked for a change that no controller has made."""


class Scaling:
    """The numbers of tasks that were asked for, which stay where the run goes back to a checkpoint.

    Args:
        plan: says which components can be scaled, and with how many tasks they begin.
        on_change: called with a component, its number of tasks until now, the new one, and who has asked.
    """

    def __init__(self, plan: Plan, on_change: Callable[[str, int, int, str], None]) -> None:
        self._on_change = on_change
        self._most = {component: len(plan.tasks_of(component)) for component in plan.scalable}
        self._tasks = dict(plan.scalable)
        self._others = {c.id for c in plan.topology.components} - self._most.keys()
        self._record: ScaleRecord | None = None
        self._changing = threading.Lock()

    def begin(self, record: ScaleRecord | None) -> None:
        """Have an attempt of the run begin with the numbers of now.

        Args:
            record: where its producers look; None where nothing can be scaled.
        """
        with self._changing:
            self._record = record
            self._tell(self._tasks)

    @property
    def now(self) -> Mapping[str, int]:
        """The numbers of all components that can be scaled, by id; from any thread."""
        return dict(self._tasks)

    def change(self, tasks: Mapping[str, int], by: str = BY_USER) -> Mapping[str, int]:
        """Have components go on with so many tasks, all of those that are named or none; from any thread.

        Args:
            tasks: the numbers, by id.
            by: who asks for it.

        Returns:
            The numbers of all components that can be scaled, by id.

        Raises:
            ScaleError: there is no such component, it cannot be scaled, or not to that number.
        """
        complaints = [told for name, count in tasks.items() if (told := self._complaint(name, count))]
        if complaints:
            raise ScaleError("; ".join(complaints))
        with self._changing:
            changed = {name: count for name, count in tasks.items() if count != self._tasks[name]}
            for name, count in changed.items():
                before = self._tasks[name]
                log.info("%s goes on with %d tasks instead of %d (%s)", name, count, before, by)
                self._on_change(name, before, count, by)
            self._tasks.update(changed)
            self._tell(changed)
            return dict(self._tasks)

    def _tell(self, tasks: Mapping[str, int]) -> None:
        if self._record is not None:
            for name, count in tasks.items():
                self._record.want(name, count)

    def _complaint(self, name: str, count: object) -> str | None:
        if name in self._others:
            return f"component {name!r} cannot be scaled, as viper.parallelism.max says nothing of it"
        if name not in self._most:
            return unknown("component", name, self._most)
        if type(count) is not int or not 1 <= count <= self._most[name]:
            most = self._most[name]
            return f"{name}={count!r}: expected 1 to {most} tasks (viper.parallelism.max)"
        return None
