"""Policies that choose by a heuristic of a paper, from what the counters of the run say.

An operator of the paper is a component here, and its worklist all that waits for the component's tasks, in
whichever process they are. Its cost and selectivity are averages of its tasks in this process, by the
counters that these have anyway. Of components with no task here, nothing is known but what waits for them.

A source, of which the paper has none, is the first operator of its pipeline, and its selectivity is 1. It
counts as having the work of one slice waiting, as nobody knows how much it has.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Protocol

from framework.model.topology import GroupingKind, Role
from framework.planning import Plan
from framework.runtime.execution.accounting import SLICE_S
from framework.runtime.execution.heuristics import Heuristic, Pipeline
from framework.runtime.execution.policy import FAIR_EVERY
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.tasks.task import Task

WINDOW_S: Final = 20 * SLICE_S
"""The window w of the heuristic CT, in CPU seconds of all tasks of the process together, so that no clock is
read for it."""
RECKON_EVERY: Final = 16
"""Costs and cumulative selectivities are reckoned once in this number of choices."""
FIRST_COST_S: Final = 1e-6
"""The cost of a component's tuple before any is measured; it counts as one tuple, and so does one output."""


class Works(Protocol):
    """A thread that runs tasks."""

    current: Task | None
    """The task whose callback runs."""


class Component:
    """A component as an operator of the paper (`heuristics.Operator`); from any thread of its process.

    Args:
        name: its id.
        depth: hops from the spouts.
        is_source: whether it is a spout.
        counts_waiting: returns how many tuples wait for its tasks.
        executors: those of the process.
    """

    def __init__(
        self,
        name: str,
        depth: int,
        is_source: bool,
        counts_waiting: Callable[[], int],
        executors: Sequence[weakref.ref[Works]],
    ) -> None:
        self.name = name
        self.depth = depth
        self.behind: tuple[Component, ...] = ()
        """The components that it sends to."""
        self.entering = self.cumulative = 1.0
        """As in the protocol; `Components` reckons them."""
        self.cost_s = FIRST_COST_S
        """As in the protocol: CPU seconds of its tasks for one tuple; likewise."""
        self.is_source = is_source
        self._counts_waiting = counts_waiting
        self._executors = executors
        self._counters: tuple[TaskCounters, ...] = ()
        self._spent_before_s = 0.0
        """CPU seconds of its tasks before the present window."""

    def send_to(self, other: Component) -> None:
        """Note that it sends to another component, too."""
        self.behind = (*self.behind, other)

    def reckon(self, entering: float) -> None:
        """Reckon its cost and cumulative selectivities anew.

        Args:
            entering: tuples that it receives, or brings, for one that all sources bring.
        """
        self.cost_s = (self.used_s + FIRST_COST_S) / (self.handled + 1)
        self.entering = entering
        self.cumulative = entering * (1.0 if self.is_source else self.whole_selectivity)

    def add(self, counters: TaskCounters) -> None:
        """Count what a task of this process does, too."""
        if not any(found is counters for found in self._counters):
            self._counters = (*self._counters, counters)

    @property
    def handled(self) -> int:
        """Tuples that its tasks here have processed, or emitted if it is a source."""
        if self.is_source:
            return sum(each.emitted for each in self._counters)
        return sum(each.processed for each in self._counters)

    def selectivity(self, stream: str) -> float:
        """The average number of outputs on a stream for one input; of a source, its share of all it emits."""
        streams = (each.costs.streams.get(stream) for each in self._counters)
        emitted = sum(found.tuples for found in streams if found is not None)
        return (emitted + 1) / (self.handled + 1)

    @property
    def whole_selectivity(self) -> float:
        """The same of all streams that somebody receives; 1 if there are none, as at the exit."""
        streams = {name for each in self._counters for name in each.costs.streams}
        return sum(map(self.selectivity, streams)) if streams else 1.0

    @property
    def waiting(self) -> float:
        """Tuples that wait for its tasks; at least 1, as a task that may run has a promise to pass on."""
        return SLICE_S / self.cost_s if self.is_source else max(self._counts_waiting(), 1)

    @property
    def queued(self) -> int:
        """Tuples that wait for all components that it sends to."""
        return sum(each._counts_waiting() for each in self.behind)

    @property
    def workers(self) -> int:
        """Threads of the process that are in one of its tasks."""
        running = (executor.current for ref in self._executors if (executor := ref()) is not None)
        return sum(task is not None and task.context.spec.component == self.name for task in running)

    @property
    def most(self) -> int:
        """Its tasks in this process, of which each is run by one thread at a time."""
        return max(len(self._counters), 1)

    @property
    def spent_s(self) -> float:
        """CPU seconds of its tasks in the present window."""
        return max(self.used_s - self._spent_before_s, 0.0)

    @property
    def used_s(self) -> float:
        """CPU seconds of its tasks in all."""
        return sum(each.costs.cpu_s for each in self._counters)

    def begin_window(self) -> None:
        """Count the time of another window from now on."""
        self._spent_before_s = self.used_s


class Components:
    """All components of a run, as its policies see them; one for all executors of a process.

    Args:
        plan: the whole run.
        counts_waiting: makes a function that counts the tuples that wait for some tasks, from their ids.
        capacity: tuples that a channel holds, which is the capacity of the whole as well: the thresholds
            that are its parts are lower than what a channel holds then.
    """

    def __init__(
        self, plan: Plan, counts_waiting: Callable[[Collection[int]], Callable[[], int]], capacity: int
    ) -> None:
        self._capacity = capacity
        self._executors: list[weakref.ref[Works]] = []
        self._choices = 0
        self._into: dict[str, list[tuple[str, str, int]]] = {}
        """By component what it receives: component, stream, and how many of its tasks get each tuple."""
        self._by_name: dict[str, Component] = {}
        """In the order of their depth."""
        for task in sorted(plan.tasks, key=lambda task: task.depth):
            if task.component not in self._by_name:
                waiting = counts_waiting([one.id for one in plan.tasks_of(task.component)])
                is_source = task.role is Role.SPOUT
                made = Component(task.component, task.depth, is_source, waiting, self._executors)
                self._by_name[task.component] = made
                self._into[task.component] = list(_received(plan, task.id, task.component))
        for source, target in _ways(plan):
            self._by_name[source].send_to(self._by_name[target])
        self._pipeline = Pipeline(float(len(self._by_name)), capacity, SLICE_S)

    def join(self, executor: Works, tasks: Collection[Task]) -> None:
        """Count what the tasks of an executor of this process do; nothing keeps it alive for that."""
        for task in tasks:
            self.of(task).add(task.context.counters)
        self._executors.append(weakref.ref(executor))

    def of(self, task: Task) -> Component:
        """The component of a task."""
        return self._by_name[task.context.spec.component]

    def pipeline(self) -> Pipeline:
        """The figures of the whole; to be called before each choice, as they are reckoned now and then."""
        if self._choices % RECKON_EVERY == 0:
            self._reckon()
        self._choices += 1
        return self._pipeline

    def _reckon(self) -> None:
        """Reckon costs and cumulative selectivities, and begin another window if this one is over."""
        components = self._by_name.values()
        brought = sum(each.handled + 1 for each in components if each.is_source)
        known: set[str] = set()
        for each in components:
            if each.is_source:
                each.reckon((each.handled + 1) / brought)
            else:
                inputs = (
                    self._by_name[source].entering * self._by_name[source].selectivity(stream) * copies
                    for source, stream, copies in self._into[each.name]
                    if source in known  # not so in a cycle
                )
                each.reckon(sum(inputs) or 1.0)
            known.add(each.name)
        self._pipeline = Pipeline(sum(each.cumulative for each in components), self._capacity, SLICE_S)
        if sum(each.spent_s for each in components) >= WINDOW_S:
            for each in components:
                each.begin_window()


def _received(plan: Plan, task: int, component: str) -> Sequence[tuple[str, str, int]]:
    """The streams that a component receives, with their components and the tasks that get each tuple."""
    behind = plan.behind(task)  # a merge bolt receives what the task behind it does
    target = component if behind is None else plan.tasks[behind - 1].component
    return [
        (one.source, one.stream, len(plan.tasks_of(target)) if one.grouping.kind is GroupingKind.ALL else 1)
        for one in plan.subscriptions
        if one.target == target and not one.feedback
    ]


def _ways(plan: Plan) -> Mapping[tuple[str, str], None]:
    """The pairs of components of which one sends to the other, once each."""
    names = {task.id: task.component for task in plan.tasks}
    return dict.fromkeys(
        (names[source], names[reader])
        for channel in plan.channels
        for source in channel.sources
        for reader in channel.readers
    )


class ByHeuristic:
    """Chooses the component by a heuristic, and of its tasks the one whose last turn is longest ago.

    Every `FAIR_EVERY` turns it chooses that one among all tasks. The paper's workers rest where the heuristic
    names no operator. Here one is chosen that is farthest from the spouts, as a channel that is full makes
    its producers wait anyway.

    Args:
        heuristic: chooses.
        components: what it knows, for all executors of the process.
    """

    def __init__(self, heuristic: Heuristic[Component], components: Components) -> None:
        self._heuristic = heuristic
        self._components = components
        self._turn = 0
        self._last_turns: dict[Task, int] = {}

    def choose(self, runnable: Sequence[Task]) -> Task:
        """Choose by the heuristic, or the task that has waited longest."""
        self._turn += 1
        last = self._last_turns
        longest_ago = sorted(runnable, key=lambda task: last.get(task, 0))
        chosen = longest_ago[0]
        if len(runnable) > 1 and self._turn % FAIR_EVERY:
            tasks: dict[Component, Task] = {}
            for task in longest_ago:
                tasks.setdefault(self._components.of(task), task)
            pipeline, schedulable = self._components.pipeline(), list(tasks)
            found = self._heuristic(schedulable, pipeline)
            chosen = tasks[found or max(schedulable, key=lambda each: each.depth)]
        last[chosen] = self._turn
        return chosen

    def follow(self, task: Task, busy: Sequence[Task]) -> Task | None:
        """None: every turn is chosen."""
        return None

    def let_go(self) -> None:
        """As in the protocol."""
        self._last_turns.clear()
        del self._components
