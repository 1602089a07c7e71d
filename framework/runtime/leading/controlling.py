"""Has controllers decide, during a run, how many tasks its bolts have."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from framework.model.errors import ViperError
from framework.operators.controllers import Controller, make_controller, name_of
from framework.planning import Plan
from framework.recording import ScaleChange
from framework.runtime.coordination.measuring import Measuring
from framework.runtime.coordination.repeating import Repeating
from framework.runtime.coordination.scaling import Asked, Scaling
from framework.runtime.leading.observer import LONGEST_PAUSE_S, PERIOD_S, Observer
from framework.runtime.observation.statistics import ChannelStatistics, ExecutorStatistics

log = logging.getLogger("viperstorm.scale")

LEAST_PERIOD_S = 0.01
"""The least seconds between two measurements: shorter ones say little. A replay measures as often."""

REPLAYED = "the recording"
"""The author of a change that is repeated."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Functions that read the counts of a run; any thread may call them."""

    elapsed_s: Callable[[float], float]
    """Converts a monotonic time to seconds since the activation of the spouts; 0 before it."""
    channels: Callable[[], Sequence[ChannelStatistics]]
    executors: Callable[[], Sequence[ExecutorStatistics]]
    is_ending: Callable[[], bool]
    """True if the run was asked to end."""


@dataclass(slots=True)
class Controlled:
    """A bolt with a controller."""

    component: str
    name: str
    """The name of the controller in the configuration."""
    controller: Controller
    measuring: Measuring
    period_s: float
    due_s: float = 0.0
    """The monotonic time at which the controller is asked next."""

    def begin(self, plan: Plan) -> None:
        """Begin to measure an attempt of the run; earlier counts are not of this one."""
        self.measuring = Measuring(plan, self.component)

    def asked(self, now_s: float) -> None:
        """Note that the controller was asked at a monotonic time."""
        self.due_s = now_s + self.period_s


class Controlling:
    """The controllers of a run, or the changes of the run that it replays.

    A controller that fails is named in the log and is not asked again. Nothing here ends the run.

    Args:
        plan: says which bolts have controllers.
        scaling: changes the numbers of tasks.
        counted: reads the counts of the run.
    """

    def __init__(self, plan: Plan, scaling: Scaling, counted: Counted) -> None:
        self._plan = plan
        self._scaling = scaling
        self._counted = counted
        self._controlled = [_controlled(plan, name, given) for name, given in plan.controlled.items()]
        self._repeating: Repeating | None = None

    @property
    def controllers(self) -> Mapping[str, Controller]:
        """The controllers that are still asked, by bolt."""
        return {each.component: each.controller for each in self._controlled}

    def repeat(self, changes: Sequence[ScaleChange] | None) -> None:
        """Make the changes of a run that is replayed, in the place of what controllers would decide.

        Args:
            changes: None if no run is replayed.
        """
        if changes is None:
            return
        self._controlled.clear()
        most = {name: len(self._plan.tasks_of(name)) for name in self._plan.scalable}
        self._repeating = Repeating(changes, most)
        self._repeat(self._repeating)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """For as long as the block runs, controllers decide; in a thread of its own."""
        if not self._controlled and (self._repeating is None or self._repeating.is_over):
            yield
            return
        for each in self._controlled:
            each.begin(self._plan)
        with Observer(self.look, lambda: None).observing():
            yield

    def look(self, now: float) -> float:
        """Ask the controllers whose periods are over, or make the changes that are due.

        Args:
            now: the monotonic time in seconds.

        Returns:
            The seconds until there is something to look at again.
        """
        elapsed_s = self._counted.elapsed_s(now)
        if not elapsed_s or self._counted.is_ending():
            return PERIOD_S
        if self._repeating is not None:
            self._repeat(self._repeating)
            return LONGEST_PAUSE_S if self._repeating.is_over else LEAST_PERIOD_S
        due = [each for each in self._controlled if each.due_s <= now]
        if due:
            channels, executors = self._counted.channels(), self._counted.executors()
            for each in due:
                each.asked(now)
                self._ask(each, elapsed_s, channels, executors)
        pauses = [each.due_s - now for each in self._controlled]
        return min(max(min(pauses, default=LONGEST_PAUSE_S), LEAST_PERIOD_S), LONGEST_PAUSE_S)

    def _ask(
        self,
        asked: Controlled,
        elapsed_s: float,
        channels: Sequence[ChannelStatistics],
        executors: Sequence[ExecutorStatistics],
    ) -> None:
        tasks = len(self._scaling.now[asked.component])
        measured = asked.measuring.measured(elapsed_s, tasks, channels, executors)
        if measured is None:
            return
        try:
            wished = operator.index(asked.controller.wished(measured))
        except Exception as error:  # whatever a user's class does
            self._controlled.remove(asked)
            what = f"{type(error).__name__}: {error}"
            log.error(
                "%s, the controller of %s, has failed and is not asked again; %s keeps its %d tasks: %s",
                *(asked.name, asked.component, asked.component, tasks, what),
                exc_info=error,
            )
            return
        bounded = min(max(wished, 1), measured.most)
        if bounded != tasks:
            self._change(asked.component, bounded, f"{asked.name}: {measured}")

    def _repeat(self, repeating: Repeating) -> None:
        for component, tasks in repeating.due(self._counted.channels()).items():
            self._change(component, tasks, REPLAYED)

    def _change(self, component: str, tasks: Asked, by: str) -> None:
        try:
            self._scaling.change({component: tasks}, by)
        except ViperError as error:
            log.warning("%s keeps its tasks, as %s wanted %s: %s", component, by, tasks, error)


def _controlled(plan: Plan, component: str, given: Any) -> Controlled:
    period_s = plan.confs[component]["viper.controller.period.secs"]
    return Controlled(
        component,
        name_of(given),
        make_controller(given),
        Measuring(plan, component),
        max(period_s, LEAST_PERIOD_S),
    )
