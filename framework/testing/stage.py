"""A whole topology in the thread of a test, which runs it step by step."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

from framework.model.config import Settings
from framework.model.errors import ComponentError, TopologyError
from framework.model.importing import importable
from framework.model.instantiate import Beans
from framework.model.topology import Problem, unknown
from framework.model.tracebacks import let_go_of_frames
from framework.operators.components.component import LOGGER_PREFIX
from framework.planning import Plan, TimeMode
from framework.runtime import StopReason
from framework.runtime.durability.state import StateMemory
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import NO_RECORDING, RecordingIO
from framework.runtime.execution.assembly.task_factory import TaskFactory, make_executor
from framework.runtime.execution.executor import Executor
from framework.runtime.tasks.agenda import AskedFor
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import Task
from framework.testing.clock import VirtualClock, VirtualWaits
from framework.testing.driver import Kept

STEP_S: Final = 0.001
"""Seconds on the clock that a step may take if a bolt waits for the time of its sources to advance."""
MOST_AHEAD_S: Final = 1.0
"""Most seconds that steps have taken and that are taken off the time that a test lets pass next, so that a
minute is over after a minute."""
CLOSED: Final = "the harness is closed: use it in a `with` block, and not after an error"
_ALL: Final = 1 << 40
"""Tuples that spouts may bring in all."""


class Stage:
    """Runs the tasks of a plan, as long as there is anything to do at the time that its clock shows.

    Tasks, channels, positions, ticks, windows, state and acks are those of a run.

    Args:
        plan: all of it is run by one executor.
        settings: the configuration it was planned with.
        clock: the time of the run.
        limited: whether spouts bring only as many tuples as `bring` asks for; else those that are asked have
            a reason of their own to bring no more.

    Raises:
        TopologyError: the plan has several executors.
    """

    def __init__(self, plan: Plan, settings: Settings, clock: VirtualClock, *, limited: bool) -> None:
        if plan.placement.threads > 1:
            where, found = plan.topology.sources.at(), plan.placement.threads
            raise TopologyError([Problem(where, f"a harness runs in one thread: found {found} threads")])
        self.clock = clock
        self.plan = plan
        self.is_open = False
        """True if it has been begun, and neither closed nor ended by an error."""
        self.has_ended = False
        """True if all input has ended and was processed."""
        self._is_finished = False
        """True if the test has ended it."""
        self._limited = limited
        self._settings = settings
        self._waits = VirtualWaits(clock)
        self._ahead_s = 0.0
        """Seconds that steps have taken, and that are taken off the time that the test lets pass next."""
        self._logs: dict[str, list[logging.LogRecord]] = {}
        self._surroundings = ExitStack()
        self._started: list[Task] = []
        self._ticks: dict[BoltTask, AskedFor] = {}
        """The sources of the ticks that the test asks for, by bolt."""
        self._begun: Executor | None = None
        """Runs the tasks; None before they are made. They can be inspected after the end, too."""
        self._steps: Iterator[None]

    def begin(self) -> None:
        """Make and initialize all components.

        Raises:
            ComponentError: one of them raised; the others have been closed.
        """
        self._surroundings.enter_context(importable(self.plan.topology.import_paths))
        for component in self.plan.confs:
            self._keep_logs(component)
        self.is_open = True
        with self._working():
            self._network = Network.create(self.plan, self._settings, _ALL if self._limited else None)
            self._take_the_rest()
            memory = StateMemory.create(self.plan, self._settings)
            beans, recording = Beans(self.plan.topology.beans), RecordingIO(NO_RECORDING, self.plan)
            factory = TaskFactory(self.plan, self._settings, self._network, beans, recording, memory)
            self._begun = make_executor(
                self.plan, self._settings, self._network, factory, 0, self._waits, lambda now: None
            )
            tasks = self._executor.tasks
            self._waits.wait_in_earnest_while(lambda: any(task.in_flight for task in tasks))
            for task in (*self._executor.bolts, *self._executor.spouts):
                self._started.append(task)
                self._executor.start(task)
            self._steps = self._executor.steps()
            self._settle()
            for source in self._executor.spouts:
                source.active = False

    def _keep_logs(self, component: str) -> None:
        logger = logging.getLogger(f"{LOGGER_PREFIX}.{component}")
        handler, level = Kept(self._logs.setdefault(component, [])), logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        self._surroundings.callback(logger.setLevel, level)
        self._surroundings.callback(logger.removeHandler, handler)

    # -- what a test does

    def settle(self) -> None:
        """Do all that can be done now.

        Raises:
            ComponentError: a component raised; all of them have been closed.
        """
        with self._working():
            self._settle()

    def bring(self, sources: Sequence[SourceTask], count: int) -> None:
        """Have sources bring so many tuples together, if they have so many now, and have these processed.

        Args:
            sources: are asked for tuples; the others are left alone.
            count: the most tuples.

        Raises:
            ComponentError: a component raised; all of them have been closed.
        """
        with self._working():
            if self._limited:
                self._network.quota.settle(count, 0)
            for source in sources:
                source.active = not source.is_ending
                source.ask_soon()
            try:
                self._settle()
                if self._limited and self._network.quota.left and not self.has_ended:
                    self._step()  # as a spout that has had nothing is asked again after a pause
            finally:
                for source in sources:
                    source.active = False
                self._take_the_rest()

    def call(self, task: Task, function: Callable[[], None]) -> None:
        """Call something in the place of a task, and do all that can be done then.

        Raises:
            ComponentError: a component raised; all of them have been closed.
        """
        with self._working():
            self._executor.call(task, function)
            self._settle()

    def advance(self, seconds: float) -> None:
        """Let time pass, and do all that becomes due meanwhile, when it does.

        Raises:
            ComponentError: a component raised; all of them have been closed.
        """
        with self._working():
            taken_off_s = min(self._ahead_s, seconds)
            self._ahead_s -= taken_off_s
            self._run_until(self.clock.elapsed_s + seconds - taken_off_s)
            self._step()  # as what is due now waits for a later time

    def finish(self) -> None:
        """End all input: last ticks come, open windows are processed.

        Raises:
            ComponentError: a component raised; all of them have been closed.
        """
        with self._working():
            self._is_finished = True
            self._waits.request(StopReason.MAX_TUPLES)
            self._waits.until_s = None
            for _ in self._steps:
                pass
            self.has_ended = True

    def close(self) -> None:
        """Close all components.

        Raises:
            ComponentError: one of them raised in its `close`; all the others have been closed as well.
        """
        self.is_open = False
        failures = []
        with self._surroundings, self.clock.within():
            while self._started:
                task = self._started.pop(0)
                try:
                    self._executor.call(task, task.close)
                except ComponentError as error:
                    failures.append(error)
        try:
            if failures:
                raise failures[0]
        finally:
            failures.clear()  # which know this frame

    def let_go(self) -> None:
        """Free what the tasks were made of, which refers to each other; until then a test can inspect it."""
        executor, self._begun = self._begun, None
        if executor is not None:
            executor.let_go()

    def __del__(self) -> None:
        if hasattr(self, "_begun"):  # it was made
            self.let_go()

    # -- what a test sees

    def tasks(self, component: str) -> Sequence[Task]:
        """All tasks of a component, by index.

        Raises:
            KeyError: there is no such component.
            RuntimeError: they were not made yet.
        """
        if self._begun is None:
            raise RuntimeError(CLOSED)
        found = [task for task in self._begun.tasks if task.context.spec.component == component]
        if not found:
            raise KeyError(unknown("component", component, list(self.plan.confs)))
        return sorted(found, key=lambda task: task.context.spec.index)

    def now_us(self) -> int:
        """The time of the run in microseconds; the beginning of all time where tuples say what time it is."""
        return int(self.clock.now_s * 1e6) if self.plan.time is TimeMode.INGEST else 0

    def logs(self, component: str) -> Sequence[logging.LogRecord]:
        """Return the log records of a component's tasks, of any level.

        Raises:
            KeyError: there is no such component.
        """
        if component not in self._logs:
            raise KeyError(unknown("component", component, list(self._logs)))
        return list(self._logs[component])

    def tick(self, component: str) -> None:
        """Give each task of a bolt a tick, now.

        Raises:
            KeyError: there is no such component.
            ValueError: it is a spout, which has no ticks.
            ComponentError: a component raised; all of them have been closed.
        """
        tasks = [task for task in self.tasks(component) if isinstance(task, BoltTask)]
        if not tasks:
            raise ValueError(f"component {component!r} is a spout: only bolts have ticks")
        with self._working():
            for task in tasks:
                if task not in self._ticks:
                    self._ticks[task] = task.ticks_on_demand()
                self._ticks[task].ask()
            self._settle()

    # -- inside

    @property
    def _executor(self) -> Executor:
        assert self._begun is not None
        return self._begun

    @contextmanager
    def _working(self) -> Iterator[None]:
        if not self.is_open:
            raise RuntimeError(CLOSED)
        if self._is_finished:
            raise RuntimeError("the input has ended with finish(): nothing more can come")
        try:
            with self.clock.within():
                yield
        except BaseException as error:
            self._close_after_error()
            let_go_of_frames(error)
            raise

    def _close_after_error(self) -> None:
        """Close everything; what is raised by that would hide the error that has come before."""
        try:
            self.close()
        except ComponentError as error:
            logging.getLogger("viperstorm.testing").warning("%s", error)

    def _take_the_rest(self) -> None:
        """Have spouts bring nothing more until they are granted more."""
        if self._limited:
            self._network.quota.take(self._network.quota.left or 0)

    def _settle(self) -> None:
        self._run_until(self.clock.elapsed_s)
        if any(bolt.waits_with_input for bolt in self._executor.bolts):
            self._step()

    def _step(self) -> None:
        """Let a little time pass."""
        self._run_until(self.clock.elapsed_s + STEP_S)
        self._ahead_s = min(self._ahead_s + STEP_S, MOST_AHEAD_S)

    def _run_until(self, until_s: float) -> None:
        """Run until nothing is left to do before the clock shows a time."""
        self._waits.until_s, self._waits.is_over = until_s, False
        for _ in self._steps:
            if self._waits.is_over:
                return
        self.has_ended = True
        self.clock.advance(max(until_s - self.clock.elapsed_s, 0))
