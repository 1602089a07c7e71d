"""Components that take their process with them, once or again and again.

What must happen once in a run, and not once in a process, is marked by a file in the folder ``marks``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framework import Bolt, Spout, Stream
from framework.operators.sinks import Sink
from tests.framework.runtime.workers.components import Endless, Forward, open_gate, wait_at


def first_time(component: Any, what: str) -> bool:
    """True if something happens for the first time in this run."""
    mark = Path(component.storm_conf["marks"]) / f"{component.component_name}-{what}"
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def tell_pid(component: Any) -> None:
    """Write down which process runs a component; the last one that did so is the one that lives."""
    folder = Path(component.storm_conf["marks"])
    mine = folder / f"new-{component.component_name}-{os.getpid()}"  # as several tasks may tell at once
    mine.write_text(str(os.getpid()))
    os.replace(mine, folder / f"pid-{component.component_name}")


def pid_of(component_name: str, marks: str | Path) -> int | None:
    """Read which process runs a component, or did so last; None before any has."""
    try:
        return int((Path(marks) / f"pid-{component_name}").read_text())
    except FileNotFoundError:
        return None


def die() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


class DiesAt(Bolt):
    """Forwards; kills its process at each of the tuples ``die.at``, the first time that it comes."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        value = tup.values[0]
        if value in self.storm_conf["die.at"] and first_time(self, str(value)):
            die()
        self.emit([value])


class GreetsAndDies(DiesAt):
    """As `DiesAt`; emits (-1) in ``initialize``."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.emit([-1])


class TakesAnother(DiesAt):
    """As `DiesAt`, but the worker process of the component ``die.with`` dies with it."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        tell_pid(self)

    def process(self, tup: Any) -> None:
        value = tup.values[0]
        dies = value in self.storm_conf["die.at"] and self.component_name != self.storm_conf["die.with"]
        if dies and first_time(self, str(value)):
            other = pid_of(self.storm_conf["die.with"], self.storm_conf["marks"])
            assert other is not None
            os.kill(other, signal.SIGKILL)
            die()
        self.emit([value])


class AlwaysDies(Bolt):
    """Kills its process at every tuple."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        die()


class DiesAtTheEnd(Bolt):
    """Forwards; kills its process at the tick that comes when all input has been processed, once."""

    outputs = ["value"]
    config = {"topology.tick.tuple.freq.secs": 1000}

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])

    def process_tick(self, tup: Any) -> None:
        if first_time(self, "tick"):
            die()


class DiesInInitialize(DiesAt):
    """As `DiesAt`; dies in ``initialize``, too: in the first one if ``die.first``, else in the second."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        again = not first_time(self, "made")
        if storm_conf["die.first"] or (again and first_time(self, "made again")):
            die()


class StuckWhenRestarted(DiesAt):
    """As `DiesAt`; its successor opens ``gate.arrived`` in ``initialize``, and never returns."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        if not first_time(self, "made"):
            open_gate(storm_conf["gate.arrived"])
            wait_at(storm_conf["gate.never"])


class DiesInClose(Bolt):
    """Kills its process when all is over."""

    def process(self, tup: Any) -> None:
        pass

    def close(self) -> None:
        die()


class Written(Sink):
    """Appends each value it gets to the file ``written``, a line of 16 bytes for each.

    A write that SIGKILL interrupts ends at a page's end, and so at the end of a line.
    """

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        tell_pid(self)
        self._file = os.open(storm_conf["written"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def consume(self, rows: Any) -> None:
        os.write(self._file, b"".join(b"%15d\n" % row[0] for row in rows))

    def close(self) -> None:
        os.close(self._file)


class Copies(Bolt):
    """Emits what it receives with the index of its task; the one of index ``die.task`` dies as `DiesAt`."""

    outputs = ["value", "copy"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        mine = [task for task, name in context["task->component"].items() if name == self.component_name]
        self._index = sorted(map(int, mine)).index(self.task_id)

    def process(self, tup: Any) -> None:
        value = tup.values[0]
        dies = self._index == self.storm_conf["die.task"] and value in self.storm_conf["die.at"]
        if dies and first_time(self, str(value)):
            die()
        self.emit([value, self._index])


class DyingNumbers(Spout):
    """Emits (0), (1) and so on; kills its process before the number ``spout.dies.at``, once."""

    outputs = ["number"]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            if number == self.storm_conf.get("spout.dies.at") and first_time(self, str(number)):
                die()
            yield [number]


class Repeating(Spout):
    """Emits (0), (1) and so on, tracked, and each again that fails."""

    outputs = ["number"]
    config = {"viper.spout.bounded": True}

    def __init__(self, count: int) -> None:
        super().__init__()
        self._numbers = iter(range(count))

    def next_tuple(self) -> None:
        number = next(self._numbers)
        self.emit([number], tup_id=number)

    def fail(self, tup_id: Any) -> None:
        self.emit([tup_id], tup_id=tup_id)


class DyingTimes(DyingNumbers):
    """As `DyingNumbers`; each number is its time in seconds."""

    config = {"viper.timestamp.field": "number", "viper.timestamp.unit": "s"}


class StepsAndDies(Bolt):
    """Counts down, round by round; kills its process in the middle, once."""

    outputs = [Stream(["n", "left"], name="again"), Stream(["n", "left"], name="done")]

    def process(self, tup: Any) -> None:
        n, left = tup.values
        if n == self.storm_conf["die.at"][0] and left == 1 and first_time(self, str(n)):
            die()
        self.emit([n, left - 1], stream="again" if left > 1 else "done")


class KnownEndless(Endless):
    """As `Endless`; tells which process it is in."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        tell_pid(self)


class KnownForward(Forward):
    """As `Forward`; tells which process it is in."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        tell_pid(self)


class Born(DiesAt):
    """As `DiesAt`; leaves a mark for each process in which one is made."""

    def __init__(self, births: str) -> None:
        super().__init__()
        (Path(births) / f"born-{os.getpid()}").touch()


class LeavesHeir(DiesAt):
    """As `DiesAt`; leaves a process behind with all files open that it had, until ``gate.heir`` is opened."""

    def process(self, tup: Any) -> None:
        if tup.values[0] in self.storm_conf["die.at"] and first_time(self, "heir") and os.fork() == 0:
            wait_at(self.storm_conf["gate.heir"])
            os._exit(0)
        super().process(tup)
