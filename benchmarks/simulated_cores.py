"""The runtime of a paper on ordered data parallelism, simulated: cores, a pipeline and a heuristic.

It is by G. Prasaad, G. Ramalingam and K. Rajan: "Scaling Ordered Stream Processing on Shared-Memory
Multicores", 2018. There is a worker for each core. A worker asks a scheduler which operator it works for, and
takes as many inputs as fit into a slice. It takes one input after the other from the operator's worklist,
and returns early if that is empty.

- Outputs come back in order by a reorder buffer (section 4). Whoever fills the slot that is next, and finds
  the flag free, passes on all outputs that are due. The others leave theirs in the buffer. A worker whose
  output lies beyond the last slot waits.
- Tuples of one partition are processed one after the other, by hybrid queues (section 5). A worker that
  takes a tuple whose partition another worker owns leaves it to that one, and takes the next.
- The scheduler chooses by the heuristics that runs of ViperStorm choose by (section 6).

Time is simulated, event by event. Costs of operators are given, and so are those of the runtime.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate
from math import inf
from operator import mul
from statistics import mean
from typing import Any

from framework.runtime.execution.heuristics import Heuristic, Pipeline

WINDOW_SLICES = 20
"""The window of the heuristic CT, in slices."""


@dataclass(frozen=True)
class Stage:
    """An operator of a pipeline."""

    name: str
    cost_s: float
    selectivity: float = 1.0
    most: float = inf
    """The most workers that it may have: 1 with state, the partitions with state by key, else any number."""
    partitions: Sequence[int] = ()
    """The partitions of its inputs in their order, again and again; empty for an operator without."""

    @property
    def apart(self) -> float:
        """The most workers that can be busy with it all the time."""
        if not self.partitions:
            return self.most
        (_, largest), *_ = Counter(self.partitions).most_common(1)
        return min(self.most, len(self.partitions) / largest)

    def outputs(self, number: int) -> int:
        """The outputs for the input of a number, from 0: evenly as many as the selectivity says."""
        return int((number + 1) * self.selectivity + 1e-9) - int(number * self.selectivity + 1e-9)


@dataclass(frozen=True)
class Machine:
    """The cores, and the costs of the runtime."""

    cores: int
    slice_s: float = 0.0005
    ask_s: float = 0.0
    """For a choice of the scheduler, which makes one at a time."""
    take_s: float = 0.0
    """To take an input; the worklist of an operator gives one at a time."""
    order_s: float = 0.0
    """To pass on an input's outputs; a reorder buffer passes on one at a time."""
    slots: int = 4096
    """Of a reorder buffer."""
    capacity: float = 8192
    """C of the heuristic QST, in tuples."""


@dataclass(frozen=True)
class Outcome:
    """The figures of a simulated run."""

    elapsed_s: float
    inputs: int
    latency_s: float
    """The mean from the arrival of an input to an output for it, of the middle three fifths of outputs."""
    spent_s: Sequence[float]
    """Of each operator the seconds that workers were in it."""
    exits: Sequence[tuple[int, float, float]]
    """Of each output at the exit, in order, the number of its input, and when that came and it left."""

    @property
    def rate(self) -> float:
        """Inputs a second."""
        return self.inputs / self.elapsed_s


def ideal_rate(stages: Sequence[Stage], cores: int) -> float:
    """Inputs a second if no core rests but for what has to be done one after the other.

    That is the work of an operator with few workers, and that of the partition with the most tuples.
    """
    entering = accumulate((stage.selectivity for stage in stages[:-1]), mul, initial=1.0)
    works = [share * stage.cost_s for share, stage in zip(entering, stages, strict=True)]
    apart = (stage.apart for stage in stages)
    return min([cores / sum(works), *(n / work for n, work in zip(apart, works, strict=True) if work)])


@dataclass(eq=False)
class _Running:
    """An operator while it runs; the fields are also the figures that a heuristic goes by."""

    stage: Stage
    depth: int
    cumulative: float
    entering: float
    workers: int = 0
    spent_s: float = 0.0
    worklist: deque[tuple[int, float]] = field(default_factory=deque)
    """Inputs: the number of the tuple at the entry, and when it came."""
    behind: _Running | None = None
    taken: int = 0
    """Inputs that were taken; they are numbered in this order."""
    passed: int = 0
    """Inputs whose outputs were passed on, which is the number of the next one."""
    done: dict[int, tuple[int, float]] = field(default_factory=dict)
    """The reorder buffer: inputs that are done, by their number, and were not passed on."""
    is_passing: bool = False
    """The flag: True while a worker passes outputs on."""
    refused: list[_Worker] = field(default_factory=list)
    """Workers whose output lies beyond the last slot."""
    owned: dict[int, deque[tuple[int, int, float]]] = field(default_factory=dict)
    """By partition that a worker owns the inputs that were left to it."""
    taking_until_s: float = 0.0
    """Until when the worklist is busy with giving an input."""

    @property
    def waiting(self) -> float:
        return len(self.worklist)

    @property
    def queued(self) -> float:
        return len(self.behind.worklist) if self.behind else 0

    @property
    def cost_s(self) -> float:
        return self.stage.cost_s

    @property
    def most(self) -> float:
        return self.stage.most


@dataclass(eq=False)
class _Worker:
    """A worker, and where it is."""

    running: _Running | None = None
    left: int = 0
    """Inputs that it may still take before it asks again."""
    number: int = 0
    """The number of the input that it has."""
    item: tuple[int, float] = (0, 0.0)
    partition: int | None = None


class Simulation:
    """A run of a pipeline.

    Args:
        stages: its operators.
        heuristic: chooses among them.
        machine: where it runs.
        inputs: how many tuples come.
        arriving: a second; infinite if all are there at the beginning.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        heuristic: Heuristic[Any],
        machine: Machine,
        inputs: int,
        arriving: float = inf,
    ) -> None:
        cumulative = list(accumulate((stage.selectivity for stage in stages), mul))
        # As in a run, a selectivity of 0 is not known to be one.
        self._running = [
            _Running(stage, depth, max(through, 1 / inputs), max(before, 1 / inputs))
            for depth, (stage, through, before) in enumerate(
                zip(stages, cumulative, [1.0, *cumulative[:-1]], strict=True)
            )
        ]
        for one, other in zip(self._running, self._running[1:], strict=False):
            one.behind = other
        whole = sum(each.cumulative for each in self._running)
        self._pipeline = Pipeline(whole, machine.capacity, machine.slice_s)
        self._heuristic, self._machine = heuristic, machine
        self._inputs, self._gap_s = inputs, 1 / arriving
        self._arrived = 0
        self._events: list[tuple[float, int, Any, tuple[Any, ...]]] = []
        self._events_added = 0
        self._idle: list[_Worker] = [_Worker() for _ in range(machine.cores)]
        self._asked_until_s = self._window_s = self._now = 0.0
        self._totals = [0.0] * len(stages)
        """Of each operator the seconds of workers in it."""
        self._exits: list[tuple[int, float, float]] = []
        """As of an `Outcome`."""

    def run(self) -> Outcome:
        """Run until every input is done with."""
        self._at(0.0, self._arrive)
        last_s = 0.0
        while self._events:
            self._now, _, call, arguments = heappop(self._events)
            call(*arguments)
            if call != self._arrive:
                last_s = self._now
        left = [each.stage.name for each in self._running if each.passed < each.taken or each.worklist]
        assert not left, f"inputs are left in {left}"
        fifth = len(self._exits) // 5
        middle = self._exits[fifth : len(self._exits) - fifth]
        latency_s = mean(out_s - in_s for _, in_s, out_s in middle) if middle else 0.0
        return Outcome(last_s, self._inputs, latency_s, self._totals, self._exits)

    # -- events

    def _at(self, time_s: float, call: Any, *arguments: Any) -> None:
        heappush(self._events, (time_s, self._events_added, call, arguments))
        self._events_added += 1

    def _arrive(self) -> None:
        """Take in all inputs that have come by now."""
        first = self._running[0].worklist
        while self._arrived < self._inputs and self._arrived * self._gap_s <= self._now:
            first.append((self._arrived, self._arrived * self._gap_s))
            self._arrived += 1
        if self._arrived < self._inputs:
            self._at(self._arrived * self._gap_s, self._arrive)
        self._wake()

    def _wake(self) -> None:
        """Allot idle workers, one after the other, as long as the heuristic names an operator."""
        if not self._idle:
            return
        window_s = WINDOW_SLICES * self._machine.slice_s
        if self._now - self._window_s >= window_s:
            self._window_s = self._now
            for each in self._running:
                each.spent_s = 0.0
        while self._idle:
            schedulable = [each for each in self._running if each.worklist and each.workers < each.most]
            found = self._heuristic(schedulable, self._pipeline) if schedulable else None
            if found is None:
                return
            worker = self._idle.pop()
            worker.running = found
            worker.left = max(int(self._machine.slice_s / found.cost_s), 1)
            found.workers += 1
            self._asked_until_s = max(self._now, self._asked_until_s) + self._machine.ask_s
            self._at(self._asked_until_s, self._take, worker, found)

    def _take(self, worker: _Worker, running: _Running) -> None:
        """Take the next input that no other worker has to process, or ask for another operator."""
        while worker.left and running.worklist:
            worker.left -= 1
            item, number = running.worklist.popleft(), running.taken
            running.taken += 1
            running.taking_until_s = max(self._now, running.taking_until_s) + self._machine.take_s
            partitions = running.stage.partitions
            if partitions:
                partition = partitions[number % len(partitions)]
                if partition in running.owned:
                    running.owned[partition].append((number, *item))
                    if self._machine.take_s:
                        self._at(running.taking_until_s, self._take, worker, running)
                        return
                    continue
                worker.partition = partition
                running.owned[partition] = deque()
            self._process(worker, running, number, item, running.taking_until_s)
            return
        worker.running = None
        running.workers -= 1
        self._idle.append(worker)
        self._wake()

    def _process(
        self, worker: _Worker, running: _Running, number: int, item: tuple[int, float], begin_s: float
    ) -> None:
        worker.number, worker.item = number, item
        self._at(begin_s + running.stage.cost_s, self._finish, worker, running)

    def _finish(self, worker: _Worker, running: _Running) -> None:
        running.spent_s += running.stage.cost_s
        self._totals[running.depth] += running.stage.cost_s
        self._send(worker, running)

    def _send(self, worker: _Worker, running: _Running) -> None:
        """Put the outputs into the reorder buffer, and pass on what is due if nobody else does."""
        if worker.number >= running.passed + self._machine.slots:
            running.refused.append(worker)
            return
        running.done[worker.number] = worker.item
        if running.is_passing:
            self._go_on(worker, running)
        else:
            running.is_passing = True
            self._pass(worker, running)

    def _pass(self, worker: _Worker, running: _Running) -> None:
        """Pass on all outputs that are due by now, with the flag."""
        due = 0
        while running.passed + due in running.done:
            due += 1
        if due:
            self._at(self._now + due * self._machine.order_s, self._passed, worker, running, due)
        else:
            running.is_passing = False
            self._go_on(worker, running)

    def _passed(self, worker: _Worker, running: _Running, due: int) -> None:
        for _ in range(due):
            number, in_s = running.done.pop(running.passed)
            for _ in range(running.stage.outputs(running.passed)):
                if running.behind is None:
                    self._exits.append((number, in_s, self._now))
                else:
                    running.behind.worklist.append((number, in_s))
            running.passed += 1
        refused, running.refused = running.refused, []
        for each in refused:
            self._at(self._now, self._send, each, running)
        self._wake()
        self._pass(worker, running)  # as others may have filled the next slots meanwhile

    def _go_on(self, worker: _Worker, running: _Running) -> None:
        """Continue with what was left to the worker that owns a partition, or take another input."""
        if worker.partition is not None:
            left = running.owned[worker.partition]
            if left:
                number, *item = left.popleft()
                self._process(worker, running, number, tuple(item), self._now)
                return
            del running.owned[worker.partition]
            worker.partition = None
        self._take(worker, running)
