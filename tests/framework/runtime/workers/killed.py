"""Worker processes that are killed at random points of what they do, and components that must not notice.

A process draws from the seed of the run, one of its components and the number of deaths so far how many of
the named points it passes before it kills itself. So nobody waits for a moment, and every kill is in the
midst of something.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from framework import BatchBolt, Bolt, SeekableSpout, Stream
from framework.operators.sinks import Sink
from framework.operators.state import ValueState
from framework.planning.routing import ScalableRouter
from framework.runtime.durability.recovery import Commits
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.task import Task
from tests.framework.runtime.partitioned import Partitions
from viper.page import TaskPage
from viper.reader import ClaimingReader, Reader
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
"""The calls before or after which a process may die."""
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


def plan_death(component: Any, among: Sequence[tuple[type, str]] = POINTS) -> None:
    """Have the process of a component die at one of some points, if the run has not had its deaths."""
    conf = component.storm_conf
    marks = Path(conf["marks"])
    so_far = len(list(marks.iterdir()))
    if _deaths or so_far >= conf["kills"]:
        return
    chance = random.Random(f"{conf['kill.seed']} {component.component_name} {so_far}")
    points = int(2 ** chance.uniform(2, conf.get("kill.bits", 10)))
    _deaths.append(Death(points, marks / str(so_far)))
    for owner, name in among:
        setattr(owner, name, _watched(getattr(owner, name)))


def _watched(method: Callable[..., Any]) -> Callable[..., Any]:
    def watched(*args: Any, **options: Any) -> Any:
        _deaths[0].passed()
        try:
            return method(*args, **options)
        finally:
            _deaths[0].passed()

    return watched


PLANT = "KILLED_PLANT"
"""The environment variable that names a bug of `_ALL` for worker processes to have."""


def forget_turns() -> None:
    """Successors do not know whose turn it is on their edges."""
    _forget("routing")


def forget_offsets() -> None:
    """Successors of spouts begin from the start."""
    _forget("offset")


def commit_before_the_flush() -> None:
    """Tasks commit although some of what they have emitted waits for room."""
    _patch(Task, "commit", lambda self, **_: self.commits and (self.slot.flush(), self.commits.commit()))


def skip_nothing() -> None:
    """Successors emit all again."""
    _patch(Source, "repeat", lambda self, repeat: None)


def scale_amid_a_slice() -> None:
    """Edges divide rows among another number of tasks as soon as it is wanted."""
    targets = ScalableRouter.targets

    def followed(self: ScalableRouter, rows: Sequence[Any]) -> Any:
        self.follow()
        return targets(self, rows)

    _patch(ScalableRouter, "targets", followed)


def scale_amid_a_redo() -> None:
    """Edges divide rows that come again among another number of tasks than the first time."""
    _patch(Emitter, "_scale", lambda self: self.output.scale())


def release_open_claims() -> None:
    """Claimants give back what they have claimed before it is committed."""
    _patch(ClaimingReader, "hold", lambda self, **_: None)


def give_up_what_is_not_committed() -> None:
    """Claimants give key groups up before their changes are committed."""
    end_slice = BoltTask._end_slice

    def given_up(self: BoltTask) -> None:
        end_slice(self)
        if self.parts.claimants is not None:
            self.parts.claimants.give_up()

    _patch(BoltTask, "_end_slice", given_up)


def commit_in_flight() -> None:
    """Tasks commit while tuples are in flight, which are released with the others."""
    _patch(BoltTask, "commit", Task.commit)


PLANTS = {
    plant.__name__: plant
    for plant in (forget_turns, forget_offsets, commit_before_the_flush, skip_nothing)
}
"""Bugs that every topology shows, by name."""
SCALING_PLANTS = {plant.__name__: plant for plant in (scale_amid_a_slice, scale_amid_a_redo)}
"""The bugs that only show if bolts are scaled."""
CLAIM_PLANTS = {plant.__name__: plant for plant in (release_open_claims,)}
"""The bugs that only show if tasks claim their input."""
KEY_CLAIM_PLANTS = {plant.__name__: plant for plant in (give_up_what_is_not_committed,)}
"""The bugs that only show if they claim key groups."""
FLIGHT_PLANTS = {plant.__name__: plant for plant in (commit_in_flight,)}
"""The bugs that only show if tuples are in flight in a bolt."""
_ALL = {**PLANTS, **SCALING_PLANTS, **CLAIM_PLANTS, **KEY_CLAIM_PLANTS, **FLIGHT_PLANTS}
_planted: list[str] = []


def _forget(kind: str) -> None:
    keep = Commits.keep
    _patch(Commits, "keep", lambda self, name, part: name.startswith(kind) or keep(self, name, part))


def _patch(owner: type, name: str, method: Callable[..., Any]) -> None:
    setattr(owner, name, method)


class Mortal:
    """A component whose process may be killed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        plant = os.environ.get(PLANT)
        if plant is not None and not _planted:
            _planted.append(plant)
            _ALL[plant]()

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

    def __init__(self, count: int) -> None:
        Partitions.__init__(self, partitions=3, count=count // 3)
        Mortal.__init__(self)


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


class Forward(Mortal, Bolt):
    """Forwards pairs."""

    outputs = ["number", "nth"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit(tup.values)


class Typed(Mortal, Bolt):
    """Forwards pairs as typed ones."""

    outputs = [Stream(schema={"number": "int64", "nth": "int64"})]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit(tup.values)


class Batches(Mortal, BatchBolt):
    """Forwards rows, many at once, and those of an odd number twice."""

    outputs = ["number", "nth"]
    config = {"viper.stateless": True}

    def process_rows(self, rows: Any) -> None:
        made: list[Any] = []
        of: list[int] = []
        for index, (number, nth) in enumerate(rows):
            for _ in range(1 + number % 2):
                made.append((number, nth))
                of.append(index)
        self.emit_rows(made, of)


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


class CountByKey(Mortal, Bolt):
    """Emits each pair with how often its number has come, and the sum of the last ones."""

    outputs = ["number", "sum", "times"]
    times = ValueState("int64", default=0)
    latest = ValueState()  # any Python value

    def process(self, tup: Any) -> None:
        number, nth = tup.values
        self.times.value += 1
        self.latest.value = [*(self.latest.value or [])[-3:], nth]
        self.emit([number, sum(self.latest.value), self.times.value])


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
