"""The tasks of a run's components during the run, as its user or a controller requests them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from framework.model.config import Settings
from framework.model.errors import ScaleError
from framework.model.topology import Role, about, unknown
from framework.planning import Plan
from framework.planning.routing import MOST_CHOSEN, TaskSet
from framework.planning.scaling import MOST, obstacles
from framework.runtime.coordination.reconfiguring import Reconfiguring
from framework.runtime.coordination.scale_record import ScaleRecord

_EXAMPLE: Final = 4
"""A number of tasks to show where none was asked for."""
log = logging.getLogger("viperstorm.scale")

Asked = int | Sequence[int]
"""A request for tasks: a number of them, which are the first, or tasks by index."""
BY_USER = "viper scale"
"""The author of a change that no controller has made."""


class Scaling:
    """The tasks that were asked for, which stay where the run goes back to a checkpoint.

    Args:
        plan: says which components can be scaled, and with which tasks they begin.
        on_change: called with a component, its tasks until now, the new ones, and who has asked; for one that
            hands key groups over, once it has.
        settings: the configuration that it was planned with.
    """

    def __init__(
        self, plan: Plan, on_change: Callable[[str, TaskSet, TaskSet, str], None], settings: Settings
    ) -> None:
        self._on_change = on_change
        self._plan = plan
        self._settings = settings
        self._most = {component: len(plan.tasks_of(component)) for component in plan.scalable}
        self._tasks = dict(plan.scalable)
        self._hands_over = frozenset(plan.handing_over)
        self._asked_by: dict[str, str] = {}
        """The author of the change that is being carried out, by component."""
        self._others = {c.id for c in plan.topology.components} - self._most.keys()
        self._record: ScaleRecord | None = None
        self._wake: Callable[[], None] = lambda: None
        self._reconfiguring: Reconfiguring | None = None
        self._changing = threading.Lock()

    def begin(self, record: ScaleRecord | None, wake: Callable[[], None] = lambda: None) -> None:
        """Have an attempt of the run begin with the tasks of now.

        Args:
            record: where its producers look; None where nothing can be scaled.
            wake: wakes all executors, as tasks that claim their input look there, too.
        """
        with self._changing:
            self._record, self._reconfiguring, self._wake = record, None, wake
            self._tell(self._tasks)

    def hand_over_by(self, reconfiguring: Reconfiguring | None) -> None:
        """Set by what tasks with state hand it over from now on; called before the tasks of an attempt are
        made.

        Args:
            reconfiguring: has them do it; None where none can.
        """
        with self._changing:
            self._reconfiguring = reconfiguring

    def change(self, tasks: Mapping[str, Asked], by: str = BY_USER) -> Mapping[str, TaskSet]:
        """Have components continue with other tasks, all of those that are named or none; any thread may call
        it.

        Args:
            tasks: by id.
            by: who asks for it.

        Returns:
            The tasks of all components that can be scaled, by id.

        Raises:
            ScaleError: there is no such component, it cannot be scaled, or not to these tasks.
        """
        complaints = [told for name, asked in tasks.items() if (told := self._complaint(name, asked))]
        if complaints:
            raise ScaleError("; ".join(complaints))
        wanted = {name: _chosen(asked) for name, asked in tasks.items()}
        with self._changing:
            changed = {name: some for name, some in wanted.items() if some != self._tasks[name]}
            for name, some in changed.items():
                before = self._tasks[name]
                if self._reconfiguring is not None and name in self._hands_over:
                    self._asked_by[name] = by
                    continue
                log.info("%s goes on with %s instead of %s (%s)", name, some.in_words, before, by)
                self._on_change(name, before, some, by)
            self._tasks.update(changed)
            self._tell(changed)
            return dict(self._tasks)

    @property
    def now(self) -> Mapping[str, TaskSet]:
        """The result of `change`, but the tasks of before where key groups are still being handed over; from
        any thread."""
        with self._changing:
            record = self._record
            return {n: c if record is None else record.wanted(n) for n, c in self._tasks.items()}

    @property
    def is_settled(self) -> bool:
        """True if all requested changes have been carried out; any thread may call it."""
        with self._changing:
            record = self._record
            return record is None or all(record.wanted(name) == some for name, some in self._tasks.items())

    def carried_out(self, tasks: Mapping[str, TaskSet], before: Mapping[str, TaskSet]) -> None:
        """Note that components have handed over, and have these tasks now; any thread may call it."""
        with self._changing:
            for name, some in tasks.items():
                self._on_change(name, before[name], some, self._asked_by.get(name, BY_USER))

    def given_up(self, tasks: Mapping[str, TaskSet]) -> None:
        """Note that components keep these tasks, whatever was requested; any thread may call it."""
        with self._changing:
            self._tasks.update(tasks)

    def _tell(self, tasks: Mapping[str, TaskSet]) -> None:
        if self._record is None:
            return
        at_cut = self._hands_over if self._reconfiguring is not None else frozenset()
        for name, some in tasks.items():
            if name not in at_cut:
                self._record.want(name, some)
        self._wake()
        if self._reconfiguring is not None and (asked := {n: c for n, c in tasks.items() if n in at_cut}):
            self._reconfiguring.want(asked)

    def _complaint(self, name: str, asked: object) -> str | None:
        if name in self._others:
            return self._complaint_of_other(name, asked)
        if name not in self._most:
            return unknown("component", name, self._most)
        most = self._most[name]
        if isinstance(asked, Sequence) and not isinstance(asked, str):
            return _complaint_of_indexes(name, asked, most)
        if type(asked) is not int or not 1 <= asked <= most:
            told = f"{name}={asked!r}: expected 1 to {most} tasks, as {MOST} at {self._place(name)} says"
            number = _number_of(asked)  # more than that is refused at the next start, too
            return f"{told}; to have {number}, set it to {number} there, and start again" if number else told
        return None

    def _complaint_of_other(self, name: str, asked: object) -> str:
        """The reason why a component keeps its tasks, and what would change that."""
        plan, component = self._plan, self._plan.topology.component(name)
        known = plan.topology, self._settings, plan.confs, plan.traits
        kept = f"{component.role} {name!r} keeps its tasks while it runs ({len(plan.tasks_of(name))} now)"
        reasons = obstacles(*known, component)
        if component.role is Role.SPOUT:
            return f"{kept}: {'; '.join(reasons)}; {self._without_that(name, asked)}"
        most = max(8, _number_of(asked))
        advice = (
            f"set {MOST} to the most tasks that it may have, in its config at {self._place(name)} "
            f"(config = {{{MOST!r}: {most}}} in a class, config: {{{MOST}: {most}}} in YAML), and start again"
        )
        why = f", as {MOST} is not set for it"
        if reasons:
            why = f": {'; '.join(reasons)}; once it can be scaled"
        return f"{kept}{why}: {advice}; {self._without_that(name, asked)}"

    def _place(self, name: str) -> str:
        return str(about(self._plan.topology, self._plan.topology.component(name), "").place)

    def _without_that(self, name: str, asked: object) -> str:
        """The way to other tasks that every component can go, with the number that was asked for."""
        tasks = f"viper.tasks={{{name}: {_number_of(asked) or _EXAMPLE}}}"
        return f"any number of tasks can be set for the next start (viper run -o '{tasks}')"


def _number_of(asked: object) -> int:
    """The number of tasks that somebody has asked for, or of tasks chosen by indexes; 0 if it is none."""
    if isinstance(asked, Sequence) and not isinstance(asked, str):
        return len(asked)
    return asked if type(asked) is int and asked > 0 else 0


def _complaint_of_indexes(name: str, indexes: Sequence[object], most: int) -> str | None:
    told = f"{name}=@{','.join(map(str, indexes))}"
    if not indexes or not all(type(index) is int and 0 <= index < most for index in indexes):
        return f"{told}: expected some of the tasks from 0 to {most - 1} (viper.parallelism.max)"
    if max(index for index in indexes if type(index) is int) >= MOST_CHOSEN and len(set(indexes)) < most:
        return f"{told}: tasks that are not the first ones can be chosen from 0 to {MOST_CHOSEN - 1}"
    return None


def _chosen(asked: Asked) -> TaskSet:
    return TaskSet.first(asked) if isinstance(asked, int) else TaskSet.of(asked)


def counts_of(tasks: Mapping[str, TaskSet]) -> Mapping[str, int]:
    """The number of tasks of each component."""
    return {name: len(some) for name, some in tasks.items()}
