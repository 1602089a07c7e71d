"""Bolts with state by key whose tasks change while they run, at numbers that their spout has reached.

The spout asks for it by the folder of the run, and brings no more than a few rows before it is done. So
nobody waits for a moment, every change is carried out, and rows stand on both sides of its cut.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from framework import (
    APlus,
    Bolt,
    JPlus,
    KeyWindow,
    OPlus,
    SeekableSpout,
    Spout,
    Stream,
    TopologyBuilder,
    Tuple,
)
from framework.frontends.streams import AggregateByKey
from framework.operators.sinks import CollectingSink
from framework.operators.state import ListState, ValueState
from framework.operators.windows.aggregates import Count
from framework.runtime.coordination.commands import ask

MOST = 5
KEYS = 23


class Change(NamedTuple):
    """At a number of the spout's, components are to continue with so many tasks."""

    number: int
    tasks: Mapping[str, int]
    within: int
    """The most rows that are brought before it is done."""


class Polled(Spout):
    """Brings the numbers below a count, and asks for the changes that the configuration names."""

    outputs = ["number", "key", "at"]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._number = 0
        self._asked = 0
        self._waits_from: int | None = None

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._folder = Path(storm_conf["control"])
        self._changes = [Change(*change) for change in storm_conf["changes"]]

    def next_tuple(self) -> None:
        number = self._number
        if self._waits_from is not None and number >= self._waits_from:
            if not self._is_done():
                return
            self._waits_from = None
        if number >= self._count:
            raise StopIteration
        if self._asked < len(self._changes) and self._changes[self._asked].number <= number:
            change = self._changes[self._asked]
            self._asked += 1
            ask(self._folder, "scale", tasks=dict(change.tasks))
            self._waits_from = number + change.within
        else:
            self._number += 1
            self.emit(row_of(number))

    def _is_done(self) -> bool:
        told = ask(self._folder, "scale", tasks={})
        return bool(told["tasks"] == told["now"])


class Asking(Polled, SeekableSpout):
    """One that says where it is."""

    def offset(self) -> Any:
        return self._number

    def seek(self, offset: Any) -> None:
        self._number = offset
        self._asked = sum(change.number < offset for change in self._changes)


def row_of(number: int) -> list[int]:
    """The values of a row: its number, a key, and a time in microseconds."""
    return [number, number * number % KEYS, 3 * number]


class Fan(Bolt):
    """Emits none to three rows for each, by keys of their own."""

    outputs = ["number", "key"]

    def process(self, tup: Any) -> None:
        number, key = tup.values[:2]
        for nth in range(number % 4):
            self.emit([number, (key + 7 * nth) % KEYS])


class Sorted(Bolt):
    """As `Fan`; what belongs to an even number goes to another stream than the rest."""

    outputs = [Stream(["number", "key"], name="even"), Stream(["number", "key"], name="odd")]

    def process(self, tup: Any) -> None:
        number, key = tup.values[:2]
        for nth in range(number % 4):
            self.emit([number, (key + 7 * nth) % KEYS], stream="odd" if (number + nth) % 2 else "even")


class Keyed(Bolt):
    """Emits a row's key, and its number."""

    outputs = ["key", "number"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([tup.values[1], tup.values[0]])


class Counted(Bolt):
    """Says with each row how many its key has had, and the last three of them."""

    outputs = ["number", "key", "nth", "last"]
    config = {"viper.parallelism.max": MOST}
    seen = ValueState("int64", default=0)
    last = ListState("int64")

    def process(self, tup: Any) -> None:
        number, key = tup.values[:2]
        self.seen.value += 1
        before = list(self.last)[-2:]
        self.last.add(number)
        self.emit([number, key, self.seen.value, before])


def chain(tasks: int = 2, count: int = 200, spout: type[Spout] = Asking) -> TopologyBuilder:
    """Two bolts with state, one after the other."""
    builder = TopologyBuilder()
    builder.set_spout("source", spout, kwargs={"count": count})
    builder.set_bolt("fan", Fan, 2).shuffle_grouping("source")
    builder.set_bolt("first", Counted, tasks).fields_grouping("fan", "key")
    builder.set_bolt("second", Counted, tasks).fields_grouping("first", "nth")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    return builder


def streams(tasks: int = 2, count: int = 200) -> TopologyBuilder:
    """Two streams of one bolt, each of which is divided among the tasks of another one."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": count})
    builder.set_bolt("fan", Sorted, 2).shuffle_grouping("source")
    builder.set_bolt("first", Counted, tasks).fields_grouping("fan", "key", stream="even")
    met = builder.set_bolt("second", Counted, tasks).fields_grouping("first", "nth")
    met.fields_grouping("fan", "key", stream="odd")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    return builder


def diamond(tasks: int = 2, count: int = 200) -> TopologyBuilder:
    """Two ways of different lengths, one with state, meet at a bolt with state."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": count})
    builder.set_bolt("fan", Fan, 2).shuffle_grouping("source")
    builder.set_bolt("first", Counted, tasks).fields_grouping("fan", "key")
    met = builder.set_bolt("second", Counted, tasks).fields_grouping("first", "key")
    met.fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    return builder


class Totals(APlus):
    """Counts the rows of each key in windows that do not overlap."""

    outputs = ["key", "rows"]
    config = {"viper.parallelism.max": MOST}
    size = "24us"
    aggregate = Count()


class Each(OPlus):
    """Emits with each row how many its key has had in the window, and both with the last one at its end."""

    outputs = ["key", "end", "count", "last"]
    config = {"viper.parallelism.max": MOST}

    def keys(self, tup: Tuple) -> list[int]:
        return [tup.values[1] % 5]

    def create(self) -> list[Any]:
        return [0, None]

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> list[tuple[Any, ...]] | None:
        window.state = [window.state[0] + 1, tup.values[0]]
        return [(window.key, -1, *window.state)]

    def output(self, window: KeyWindow) -> list[tuple[Any, ...]]:
        return [(window.key, window.end, *window.state)]


class Met(JPlus):
    """Joins rows of one key in windows that overlap."""

    outputs = ["key", "number", "other"]
    config = {"viper.parallelism.max": MOST}

    def joined(self, left: Any, right: Any) -> tuple[Any, ...]:
        return left[1] % 5, left[0], right[0]


TIMED = {"viper.timestamp.field": "at", "viper.timestamp.unit": "us"}


def windows(tasks: int = 2, count: int = 200) -> TopologyBuilder:
    """Overlapping windows by keys that the tasks derive, and after them some by given keys."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": count}, config=TIMED)
    builder.set_bolt("first", Each(size=30, advance=12), tasks).all_grouping("source")
    builder.set_bolt("second", Totals(), tasks).fields_grouping("first", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    return builder


def joined(tasks: int = 2, count: int = 200) -> TopologyBuilder:
    """A join in windows of what comes by two ways, and windows of its pairs."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": count}, config=TIMED)
    builder.set_bolt("fan", Fan, 2).shuffle_grouping("source")
    met = builder.set_bolt("first", Met(size=30, advance=12), tasks)
    met.fields_grouping("source", "key").fields_grouping("fan", "key")
    builder.set_bolt("second", Totals(), tasks).fields_grouping("first", "key")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("first").global_grouping("second")
    return builder


def latest(before: list[int], number: int) -> list[int]:
    """The last three numbers of a key."""
    return [*before[-2:], number]


def steps(tasks: int = 2, count: int = 200) -> TopologyBuilder:
    """Steps of functions, which keep what they have used of each key."""
    builder = TopologyBuilder()
    options = {"config": {"viper.parallelism.max": MOST}}
    builder.set_spout("source", Asking, kwargs={"count": count})
    builder.set_bolt("keyed", Keyed, 2).shuffle_grouping("source")
    first = AggregateByKey(latest, 1, ["key", "numbers"], [])
    builder.set_bolt("first", first, tasks, **options).fields_grouping("keyed", "key")
    second = AggregateByKey(latest, 1, ["key", "numbers"], [])
    builder.set_bolt("second", second, tasks, **options).fields_grouping("first", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    return builder


SHAPES = {
    "chain": chain,
    "diamond": diamond,
    "windows": windows,
    "joined": joined,
    "steps": steps,
    "streams": streams,
}


def drawn(seed: int, changes: int, count: int = 200, within: int = 12) -> list[Change]:
    """So many changes, of one bolt or of both at once, at places of the input that a seed draws."""
    draw = random.Random(seed)
    numbers = sorted(draw.sample(range(count - within), changes))
    names = ("first", "second")
    return [
        Change(
            number,
            {name: draw.randint(1, MOST) for name in draw.sample(names, draw.randint(1, 2))},
            draw.randrange(within),
        )
        for number in numbers
    ]
