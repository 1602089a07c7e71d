"""How many tasks the components of a run have while it goes on, as its user or a controller wants it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from framework.errors import ScaleError
from framework.planning import Plan
from framework.runtime.control.reconfiguring import Reconfiguring
from framework.runtime.control.scale_record import ScaleRecord
from framework.topology import unknown

log = logging.getLogger("viperstorm.scale")


BY_USER = "viper scale"
"""Who has asked for a change that no controller has made."""


class Scaling:
    """The numbers of tasks that were asked for, which stay where the run goes back to a checkpoint.

    Args:
        plan: says which components can be scaled, and with how many tasks they begin.
        on_change: called with a component, its number of tasks until now, the new one, and who has asked; for
            one that hands key groups over, once it has.
    """

    def __init__(self, plan: Plan, on_change: Callable[[str, int, int, str], None]) -> None:
        self._on_change = on_change
        self._most = {component: len(plan.tasks_of(component)) for component in plan.scalable}
        self._tasks = dict(plan.scalable)
        self._hands_over = frozenset(plan.handing_over)
        self._asked_by: dict[str, str] = {}
        """Who has asked last for what is being carried out, by component."""
        self._others = {c.id for c in plan.topology.components} - self._most.keys()
        self._spouts = {spout.id for spout in plan.topology.spouts}
        self._record: ScaleRecord | None = None
        self._reconfiguring: Reconfiguring | None = None
        self._changing = threading.Lock()

    def begin(self, record: ScaleRecord | None) -> None:
        """Have an attempt of the run begin with the numbers of now.

        Args:
            record: where its producers look; None where nothing can be scaled.
        """
        with self._changing:
            self._record, self._reconfiguring = record, None
            self._tell(self._tasks)

    def hand_over_by(self, reconfiguring: Reconfiguring | None) -> None:
        """The tasks of the attempt are about to be made: from now on those with state hand it over.

        Args:
            reconfiguring: has them do it; None where none can.
        """
        with self._changing:
            self._reconfiguring = reconfiguring

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
                if self._reconfiguring is not None and name in self._hands_over:
                    self._asked_by[name] = by
                    continue
                log.info("%s goes on with %d tasks instead of %d (%s)", name, count, before, by)
                self._on_change(name, before, count, by)
            self._tasks.update(changed)
            self._tell(changed)
            return dict(self._tasks)

    @property
    def now(self) -> Mapping[str, int]:
        """What `change` returns, but the numbers of before where key groups are still being handed over; from
        any thread."""
        with self._changing:
            record = self._record
            return {n: c if record is None else record.wanted(n) for n, c in self._tasks.items()}

    def carried_out(self, tasks: Mapping[str, int], before: Mapping[str, int]) -> None:
        """Components have handed over, and have these numbers of tasks now; from any thread."""
        with self._changing:
            for name, count in tasks.items():
                self._on_change(name, before[name], count, self._asked_by.get(name, BY_USER))

    def given_up(self, tasks: Mapping[str, int]) -> None:
        """Components keep these numbers of tasks, whatever was asked for; from any thread."""
        with self._changing:
            self._tasks.update(tasks)

    def _tell(self, tasks: Mapping[str, int]) -> None:
        if self._record is None:
            return
        at_cut = self._hands_over if self._reconfiguring is not None else frozenset()
        for name, count in tasks.items():
            if name not in at_cut:
                self._record.want(name, count)
        if self._reconfiguring is not None and (asked := {n: c for n, c in tasks.items() if n in at_cut}):
            self._reconfiguring.want(asked)

    def _complaint(self, name: str, count: object) -> str | None:
        if name in self._spouts:
            return f"{name!r} is a spout, and spouts keep their tasks while they run"
        if name in self._others:
            return f"component {name!r} cannot be scaled, as viper.parallelism.max says nothing of it"
        if name not in self._most:
            return unknown("component", name, self._most)
        if type(count) is not int or not 1 <= count <= self._most[name]:
            most = self._most[name]
            return f"{name}={count!r}: expected 1 to {most} tasks (viper.parallelism.max)"
        return None
