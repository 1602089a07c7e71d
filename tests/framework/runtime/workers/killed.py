"""Worker processes that are killed at random points of what they do, and components that must not notice.

A process draws from the seed of the run, the worker's components and the number of deaths so far how many of the
named points it passes before it kills itself. So nobody waits for a moment, and every kill is in the midst of
something.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from framework import Bolt, SeekableSpout, Stream
from framework.sinks import Sink
from framework.state import ValueState
from tests.framework.runtime.partitioned import Partitions
from viper.page import TaskPage
from viper.reader import Reader
from viper.source import Source
from viper.state import Writer

POINTS: tuple[tuple[type, str], ...] = (
    (Source, "add"),
    (Source, "heartbeat"),
    (Reader, "get_ready"),
    (Reader, "get_interleaved"),
    (Reader, "release"),
    (TaskPage, "note"),
    (Writer, "commit"),
)
"""What a process may die before or behind."""
_deaths: list[Death] = []
"""The death of this process, once it is planned."""


class Death:
    """Kills this process when so many points have been passed."""

    def __init__(self, points: int, mark: Path) -> None:
        self._left = points
        self._mark = mark

    def passed(self) -> None:
        """One more point has been passed."""
        self._left -= 1
        if self._left == 0:
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


def plan_death(component: Any) -> None:
    """Have the process of a component die at some point, if the run has not had its deaths."""
    conf = component.storm_conf
    marks = Path(conf["marks"])
    so_far = len(list(marks.iterdir()))
    if _deaths or so_far >= conf["kills"]:
        return
    chance = random.Random(f"{conf['kill.seed']} {component.component_name} {so_far}")
    points = int(2 ** chance.uniform(2, conf.get("kill.bits", 10)))
    _deaths.append(Death(points, marks / str(so_far)))
    for owner, name in POINTS:
        setattr(owner, name, _watched(getattr(owner, name)))


def _watched(method: Callable[..., Any]) -> Callable[..., Any]:
    def watched(*args: Any, **options: Any) -> Any:
        _deaths[0].passed()
        try:
            return method(*args, **options)
        finally:
            _deaths[0].passed()

    return watched


class Mortal:
    """A component whose process may be killed."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        plan_death(self)


class Numbers(Mortal, SeekableSpout):
    """Emits (0), (1) and so on up to a count, some of them one by one."""

    outputs = ["number"]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._next = 0

    def tuples(self) -> Iterator[list[Any]]:
        while self._next < self._count:
            self._next += 1
            yield [self._next - 1]

    def offset(self) -> int:
        return self._next

    def seek(self, offset: int) -> None:
        self._next = offset


class Polled(Numbers):
    """As `Numbers`, and several of them in one call."""

    tuples = SeekableSpout.tuples
    config = {"viper.spout.bounded": True}

    def next_tuple(self) -> None:
        if self._next >= self._count:
            raise StopIteration
        first, self._next = self._next, min(self._next + 1 + self._next % 5, self._count)
        for number in range(first, self._next):
            self.emit([number])


class MortalPartitions(Mortal, Partitions):
    """As `Partitions`."""


class Fan(Mortal, Bolt):
    """Emits (n, 0), (n, 1) and so on: none to six of them for most numbers, `many` for some."""

    outputs = ["number", "nth"]
    config = {"viper.stateless": True}

    def __init__(self, many: int = 100) -> None:
        super().__init__()
        self._many = many

    def process(self, tup: Any) -> None:
        number = tup.values.number
        for nth in range(self._many if number % 97 == 5 else number % 7):
            self.emit([number, nth])


class Sorted(Mortal, Bolt):
    """Divides pairs among two streams."""

    outputs = [Stream(["number", "nth"], name="even"), Stream(["number", "nth"], name="odd")]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit(tup.values, stream="odd" if tup.values[1] % 2 else "even")


class Ticking(Mortal, Bolt):
    """Forwards, and emits (-1, -1) for each tick."""

    outputs = ["number", "nth"]
    config = {"viper.stateless": True, "topology.tick.tuple.freq.secs": 0.00001}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self.emit([-2, -2])

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0], tup.values[1]])

    def process_tick(self, tup: Any) -> None:
        self.emit([-1, -1])


class Count(Mortal, Bolt):
    """Emits each pair with how often its number has come, and how many pairs its task has seen."""

    outputs = ["number", "nth", "times", "seen"]
    times = ValueState("int64", default=0)
    latest = ValueState()  # any Python value
    seen = ValueState("int64", default=0, per="task")

    def process(self, tup: Any) -> None:
        number, nth = tup.values
        self.times.value += 1
        self.seen.value += 1
        self.latest.value = [*(self.latest.value or [])[-3:], nth]
        self.emit([number, sum(self.latest.value), self.times.value, self.seen.value])


class Written(Mortal, Sink):
    """Appends a line for each row to the file ``written``, which is cut off where its state says."""

    length = ValueState("int64", default=0, per="task")

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self._file = os.open(storm_conf["written"], os.O_WRONLY | os.O_CREAT)
        os.ftruncate(self._file, self.length.value)
        os.lseek(self._file, self.length.value, os.SEEK_SET)

    def consume(self, rows: Any) -> None:
        lines = b"".join(f"{row!r}\n".encode() for row in rows)
        assert os.write(self._file, lines) == len(lines)
        self.length.value += len(lines)
