"""Components of the drawn topologies, beside those of the matrix: tracked rows, ticks, batches, late acks."""

from __future__ import annotations

from typing import Any

from framework import BatchingBolt, Bolt, Spout
from tests.determinism.components import FIELDS, KEYS, NoisyBolt, digest
from tests.determinism.noise import noise_of

TIMED_FIELDS = [*FIELDS, "time"]


class Asked(Spout):
    """A polled spout by event time, which wants to hear of none, some or all of its rows.

    Args:
        count: rows of each of its tasks.
        name: how the rows' trails begin.
        every: rows of the same time.
        step: seconds from one time to the next.
        tracked: every so manieth row has an id; 0 for none of them.
        burst: the most rows of one call; there may be none.
    """

    outputs = TIMED_FIELDS
    config = {"viper.timestamp.field": "time", "viper.timestamp.unit": "s", "viper.spout.bounded": True}

    def __init__(self, count: int, name: str, every: int, step: int, tracked: int, burst: int) -> None:
        super().__init__()
        self._count, self._name, self._every, self._step = count, name, every, step
        self._tracked, self._burst = tracked, burst
        self._next = self._calls = 0

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        mine = [int(task) for task, name in context["task->component"].items() if name == self.component_name]
        self._partition = f"{self._name}{sorted(mine).index(self.task_id)}"
        self._noise = noise_of(self, storm_conf)

    def next_tuple(self) -> None:
        if self._next >= self._count:
            raise StopIteration
        self._calls += 1
        wanted = digest(f"{self._partition}/{self._calls}") % (self._burst + 1)
        for number in range(self._next, min(self._next + wanted, self._count)):
            self._noise()
            has_id = self._tracked and number % self._tracked == 0
            row = [number * 7 % KEYS, f"{self._partition}.{number}", number // self._every * self._step]
            self.emit(row, tup_id=number if has_id else None)
            self._next += 1


class Sums(NoisyBolt):
    """Chains what it receives of each key, with every row or silently, and says all chains at every tick."""

    def __init__(self, times: int, silent: bool) -> None:
        super().__init__()
        self._times = times
        self._silent = silent
        self._chains: dict[Any, int] = {}

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        self._noise()
        self._chains[key] = digest(trail, self._chains.get(key, 0))
        if not self._silent:
            self.emit([key, f"{digest(trail):x}#{self._chains[key]:x}"])

    def process_tick(self, tup: Any) -> None:
        for key, chain in self._chains.items():
            self._noise()
            for copy in range(self._times):
                self.emit([key, f"{self.component_name} {copy} {chain:x}"])


class Gathers(BatchingBolt):
    """Emits every batch of a key so many times."""

    outputs = FIELDS

    def __init__(self, times: int, between: int) -> None:
        super().__init__()
        self._times = times
        self.ticks_between_batches = between

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._noise = noise_of(self, storm_conf)

    def group_key(self, tup: Any) -> Any:
        self._noise()
        return tup.values[0]

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        said = digest(",".join(tup.values[1] for tup in tups))
        for copy in range(self._times):
            self._noise()
            self.emit([key, f"{self.component_name} {copy} {len(tups)} {said:x}"])


class Holds(NoisyBolt):
    """Answers for what it received, and sends it on, only at the next tick, the last one first."""

    auto_ack = False

    def __init__(self) -> None:
        super().__init__()
        self._held: list[Any] = []

    def process(self, tup: Any) -> None:
        self._noise()
        self._held.append(tup)

    def process_tick(self, tup: Any) -> None:
        while self._held:
            held = self._held.pop()
            self._noise()
            self.emit([held.values[0], f"{digest(held.values[1]):x}>"], anchors=[held])
            self.ack(held)


class Points(Bolt):
    """Names the task of a component that each row goes to, by the row's key."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self._target = target

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        tasks = context["task->component"]
        self._tasks = sorted(int(task) for task, name in tasks.items() if name == self._target)

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        self.emit([key, f"{trail}>"], direct_task=self._tasks[key % len(self._tasks)])


class OneByTrail:
    """A custom grouping that chooses one task, or none for some rows, and says that it makes no copies."""

    copies = False

    def prepare(self, context: Any, component: str, stream: str, target_tasks: list[int]) -> None:
        self._tasks = target_tasks

    def choose_tasks(self, values: Any) -> list[int]:
        chosen = digest(str(values[1]))
        return [self._tasks[chosen % len(self._tasks)]] if chosen % 10 else []
