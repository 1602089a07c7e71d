"""Components and helpers that the tests of the runtime share."""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.model.config import Settings, resolve
from framework.operators.sinks import CollectingSink
from framework.planning import Plan, make_plan
from framework.runtime import RunReport, StopSignal, run
from framework.runtime.execution.heuristics import HEURISTICS

Row = tuple[Any, ...]


class Numbers(Spout):
    """Emits (partition, 0), (partition, 1) and so on; the partition is its index among its tasks."""

    outputs = ["source", "number"]

    def __init__(self, count: int = 100, name: str = "") -> None:
        super().__init__()
        self._count = count
        self._name = name

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        mine = [task for task, name in context["task->component"].items() if name == self.component_name]
        self._source = f"{self._name}{sorted(map(int, mine)).index(self.task_id)}"

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            yield [self._source, number]


class Timed(Spout):
    """Emits (name, n, time): ``every`` tuples at each time, and then the next time, in milliseconds."""

    outputs = ["source", "number", "time"]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, count: int = 100, name: str = "", every: int = 3, step: int = 1) -> None:
        super().__init__()
        self._rows = [[name, number, number // every * step] for number in range(count)]

    def tuples(self) -> Iterator[list[Any]]:
        yield from self._rows


class Forward(Bolt):
    """Emits each tuple ``times`` times, with the number of the copy; the numbers repeat."""

    outputs = ["source", "number"]

    def __init__(self, times: int = 1, tag: str = "") -> None:
        super().__init__()
        self._times = times
        self._tag = tag

    def process(self, tup: Any) -> None:
        for copy in range(self._times):
            self.emit([f"{tup.values[0]}{self._tag}{copy}", (tup.values[1] * 3 + copy) % 100])


class Keep(Bolt):
    """Lets the share ``kept`` out of ``of`` pass."""

    outputs = ["source", "number"]

    def __init__(self, kept: int, of: int) -> None:
        super().__init__()
        self._kept = kept
        self._of = of

    def process(self, tup: Any) -> None:
        if tup.values[1] % self._of < self._kept:
            self.emit(list(tup.values[:2]))


class Count(Bolt):
    """Chains what it receives of each number: every output depends on the whole history of its key."""

    outputs = ["source", "number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._chains: dict[int, int] = {}

    def process(self, tup: Any) -> None:
        source, number = tup.values[:2]
        self._chains[number] = chained(self._chains.get(number, 0), source)
        self.emit([f"{source}#{number}", self._chains[number]])


def chained(before: int, text: str) -> int:
    """A number that tells what came before, and in which order."""
    return zlib.crc32(text.encode(), before) % 1000


def plan_of(builder: TopologyBuilder, **options: Any) -> tuple[Plan, Settings]:
    """A plan of what was built, for this thread unless it is said otherwise, with the settings for it.

    Options have their dots written as ``__``.
    """
    topology = builder.build("tested")
    options.setdefault("viper__worker", "inline")
    named = {key.replace("__", "."): value for key, value in options.items()}
    settings, problems = resolve(topology, options=named)
    assert not problems, problems
    return make_plan(topology, settings), settings


def run_built(builder: TopologyBuilder, limits: dict[str, Any] | None = None, **options: Any) -> RunReport:
    """Run what was built; options with dots written as ``__``."""
    return run(*plan_of(builder, **options), **(limits or {}))


def _scheduling(seed: int, usual: str) -> str:
    """The policy by which tasks are chosen, drawn apart from all else, which keeps its seeds."""
    return random.Random(f"{seed}/scheduling").choice((*len(HEURISTICS) * (usual,), *HEURISTICS))


def drawn(seed: int) -> tuple[int, dict[str, Any]]:
    """A parallelism and options that must not show in the output."""
    draw = random.Random(seed)
    jumbo = draw.choice((1, 7, 256, 4096))
    return draw.choice((1, 2, 3, 4, 6)), {
        "viper__jumbo__size": jumbo,
        "viper__channel__jumbos": draw.choice((1, 2, 64)),
        "viper__channel__tuples": draw.choice((jumbo, 8192)),
        "viper__slice__tuples": draw.choice((1, 3, 64, 4096)),
        "viper__scheduling": _scheduling(seed, draw.choice(("downstream", "random", "random"))),
        "viper__seed": seed,
    }


def bolt(
    process: Callable[..., None], outputs: Sequence[Any] | None = ("value",), **attributes: Any
) -> type[Bolt]:
    """A bolt class with this ``process(self, tup)``."""
    return type("Tested", (Bolt,), {"outputs": outputs, "process": process, **attributes})


def spout(
    tuples: Callable[[Any], Iterator[Any]], outputs: Sequence[Any] = ("value",), **attributes: Any
) -> type[Spout]:
    """A generator spout class with this ``tuples(self)``."""
    return type("Source", (Spout,), {"outputs": list(outputs), "tuples": tuples, **attributes})


def polled(
    next_tuple: Callable[[Any], None], outputs: Sequence[Any] = ("value",), **attributes: Any
) -> type[Spout]:
    """A polled spout class with this ``next_tuple(self)``."""
    return type("Polled", (Spout,), {"outputs": list(outputs), "next_tuple": next_tuple, **attributes})


def listed(*rows: Any, outputs: Sequence[Any] = ("value",), **attributes: Any) -> type[Spout]:
    """A spout class that emits these rows."""
    return spout(lambda self: iter(rows), outputs, **attributes)


def built(source: type[Spout], *bolts: type[Bolt], par: int = 1) -> TopologyBuilder:
    """``source -> b1 -> b2 ... -> sink``, shuffled; ``par`` is that of the bolts between."""
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    before = "source"
    for number, cls in enumerate(bolts, 1):
        builder.set_bolt(f"b{number}", cls, par).shuffle_grouping(before)
        before = f"b{number}"
    builder.set_bolt("sink", CollectingSink).global_grouping(before)
    return builder


def endless(self: Any) -> Any:
    for number in itertools.count():
        yield [number]


def one_by_one(self: Any) -> None:
    self.n = getattr(self, "n", -1) + 1
    self.emit([self.n])


def never_returns(self: Any) -> None:
    for number in itertools.count():
        self.emit([number])


class FakeClock(StopSignal):
    """A clock that only advances when the worker rests, and what it rested for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.now = 1000.0
        self.rests: list[float] = []
        monkeypatch.setattr("time.monotonic", lambda: self.now)

    def wait(self, timeout_s: float) -> None:
        assert timeout_s > 0
        self.rests.append(timeout_s)
        self.now += timeout_s
