"""Components inside the order guarantee, which say in their rows where each row comes from.

All of them speak of a key and a trail: each hop adds to the trail, so that rows which are swapped,
lost, doubled or computed from another history differ. Process workers import them by their names,
so they are all defined at the top of a module, and nothing heavy is imported here.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import Any

from framework import BatchingBolt, Bolt, Spout, Stream
from tests.determinism.noise import Noise, noise_of

FIELDS = ["key", "trail"]
STATELESS = {"viper.stateless": True}
KEYS = 13


def digest(text: str, before: int = 0) -> int:
    """A number that tells what the text was, and what came before it."""
    return zlib.crc32(text.encode(), before)


# -- spouts


class Numbers(Spout):
    """Emits so many rows from each of its partitions; the key goes round."""

    outputs = FIELDS

    def __init__(self, count: int, name: str = "") -> None:
        super().__init__()
        self._count = count
        self._name = name

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        mine = [int(task) for task, name in context["task->component"].items() if name == self.component_name]
        self._partition = f"{self._name}{sorted(mine).index(self.task_id)}"
        self._noise = noise_of(self, storm_conf)

    def row(self, number: int) -> list[Any]:
        """The row of this number."""
        return [number * 7 % KEYS, f"{self._partition}.{number}"]

    def tuples(self) -> Iterator[list[Any] | None]:
        for number in range(self._count):
            self._noise()
            if self._noise.pauses():
                yield None
            yield self.row(number)


class Timed(Numbers):
    """As `Numbers`, by event time: ``every`` rows have the same time, and times are ``step`` apart."""

    outputs = [*FIELDS, "time"]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, count: int, name: str = "", every: int = 3, step: int = 1) -> None:
        super().__init__(count, name)
        self._every = every
        self._step = step

    def row(self, number: int) -> list[Any]:
        """The row of this number."""
        return [*super().row(number), number // self._every * self._step]


class Polled(Spout):
    """A spout with `next_tuple` that emits none to three rows at a call."""

    outputs = FIELDS
    config = {"viper.spout.bounded": True}

    def __init__(self, count: int, name: str = "") -> None:
        super().__init__()
        self._count = count
        self._name = name
        self._calls = itertools.count()
        self._next = 0

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._noise = noise_of(self, storm_conf)

    def next_tuple(self) -> None:
        if self._next >= self._count:
            raise StopIteration
        for _ in range(digest(f"{self._name}{next(self._calls)}") % 4):
            self._noise()
            self.emit([self._next % KEYS, f"{self._name}{self._next}"])
            self._next += 1


# -- bolts


class NoisyBolt(Bolt):
    """A bolt that may be interrupted wherever it calls its noise."""

    outputs: Any = FIELDS
    _noise: Noise

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._noise = noise_of(self, storm_conf)


class Forward(NoisyBolt):
    """Emits each row ``times`` times, with other keys."""

    config = STATELESS

    def __init__(self, tag: str = "", times: int = 1) -> None:
        super().__init__()
        self._tag = tag
        self._times = times

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        for copy in range(self._times):
            self._noise()
            self.emit([(key + copy) % KEYS, f"{trail}{self._tag}{copy}"])


class Burst(NoisyBolt):
    """Emits none, a few or many rows for each: a flat-map."""

    config = STATELESS
    SIZES = (0, 0, 1, 1, 2, 3, 40)

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        for copy in range(self.SIZES[digest(trail) % len(self.SIZES)]):
            self._noise()
            self.emit([(key * 5 + copy) % KEYS, f"{trail}*{copy}"])


class Keep(NoisyBolt):
    """Lets a share of the rows pass; which ones depends on the row alone."""

    config = STATELESS

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share

    def process(self, tup: Any) -> None:
        self._noise()
        key, trail = tup.values[:2]
        if digest(f"keep {trail}") < self._share * 2**32:
            self.emit([key, f"{trail}k"])


class Fork(NoisyBolt):
    """Some rows go to one stream, some to the other, some to both, and a few to neither."""

    outputs = [Stream(FIELDS, name="left"), Stream(FIELDS, name="right")]
    config = STATELESS

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        sides = digest(f"fork {trail}") % 16
        if sides & 3:
            self.emit([key, f"{trail}l"], stream="left")
        self._noise()
        if sides & 12:
            self.emit([key, f"{trail}r"], stream="right")
        if sides == 7:
            self.emit([key, f"{trail}ll"], stream="left")


class Join(NoisyBolt):
    """Says which stream each row came on."""

    config = STATELESS

    def process(self, tup: Any) -> None:
        self._noise()
        self.emit([tup.values[0], f"{tup.values[1]}<{tup.component}.{tup.stream}"])


class History(NoisyBolt):
    """Chains what it receives of each key: every output depends on the whole history of its key."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self._chains: dict[Any, int] = {}

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        chained = self._chains[key] = digest(trail, self._chains.get(key, 0))
        self._noise()
        self.emit([key, f"{trail}#{chained:x}"])


class Settle(NoisyBolt):
    """Chains what an ``all`` grouping brings from some component; emits for every other row only."""

    config = STATELESS  # as far as keys go: its state is what all of its replicas receive

    def __init__(self, settings: str = "settings") -> None:
        super().__init__()
        self._from = settings

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self._settings = 0

    def process(self, tup: Any) -> None:
        self._noise()
        if tup.component == self._from:
            self._settings = digest(tup.values[1], self._settings)
        else:
            self.emit([tup.values[0], f"{tup.values[1]}+{self._settings:x}"])


class Gather(NoisyBolt):
    """Batches without ticks: says the last few rows of a key with every so manieth one."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._batches: dict[Any, list[str]] = {}

    def process(self, tup: Any) -> None:
        self._noise()
        batch = self._batches.setdefault(tup.values[0], [])
        batch.append(tup.values[1])
        if len(batch) == self._size:
            self.emit([tup.values[0], f"[{','.join(batch)}]"])
            batch.clear()


class Ticked(NoisyBolt):
    """Chains all that it receives, and says so with every row and at every tick."""

    config = {"topology.tick.tuple.freq.secs": 1}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self._chained = 0

    def process(self, tup: Any) -> None:
        self._noise()
        self._chained = digest(tup.values[1], self._chained)
        self.emit([tup.values[0], f"{tup.values[1]}#{self._chained:x}"])

    def process_tick(self, tup: Any) -> None:
        self._noise()
        self.emit([-1, f"tick #{self._chained:x}"])


class Batches(BatchingBolt):
    """Emits every batch of a key, some of them in several rows."""

    outputs = FIELDS
    config = {"topology.tick.tuple.freq.secs": 1}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._noise = noise_of(self, storm_conf)

    def group_key(self, tup: Any) -> Any:
        self._noise()
        return tup.values[0]

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        said = f"[{','.join(tup.values[1] for tup in tups)}]"
        for copy in range(1 + len(tups) % 2):
            self.emit([key, f"{said}{copy}"])
