"""Operators over windows of every form, after sources that can be killed or suspended."""

from __future__ import annotations

from typing import Any

from framework import Count, JPlus, KeyWindow, OPlus, SideWindow, TopologyBuilder, Tuple
from framework.operators.sinks import CollectingSink
from tests.framework.operators.windows.joins.joined import Placed
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.workers.killed import Mortal, MortalPartitions, Written

Told = list[tuple[Any, ...]]


class Last(OPlus):
    """Emits the number of tuples of each window, and the last of them; each tuple has two keys, or one."""

    outputs = ["key", "end", "count", "last"]

    def keys(self, tup: Tuple) -> list[int]:
        return [tup.values[1] % 5, tup.values[2] % 3]

    def create(self) -> list[Any]:
        return [0, None]

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> Told | None:
        window.state = [window.state[0] + 1, tup.values]
        return [(window.key, -1, *window.state)] if window.state[0] == 4 else None

    def output(self, window: KeyWindow) -> Told:
        return [(window.key, window.end, *window.state)]


class Sliding(Last):
    """Likewise, with one window for each key, which slides on with half of its count."""

    windows = "single"

    def slide(self, window: KeyWindow) -> list[Any]:
        count, last = window.state
        return [count // 2, last]


class OfTwo(OPlus):
    """Emits the number of tuples of both inputs in each window, and the last ones."""

    outputs = ["key", "end", "count", "last"]
    inputs = 2

    def create(self) -> list[Any]:
        return [0, None]

    def update(self, windows: tuple[SideWindow, SideWindow], tup: Tuple, side: int = 0) -> Told | None:
        window, other = windows[side], windows[1 - side]
        window.state = [window.state[0] + 1, tup.values]
        return [(window.key, -1, *other.state)] if window.state[0] % 3 == 0 else None

    def output(self, windows: tuple[SideWindow, SideWindow]) -> Told:
        (left, last), (right, other) = (window.state for window in windows)
        return [(windows[0].key, windows[0].end, left * 1000 + right, [last, other])]


class OfTwoSliding(OfTwo):
    """Likewise, with one window for each key."""

    windows = "single"

    def slide(self, window: SideWindow) -> list[Any]:
        count, last = window.state
        return [count // 2, last]


class Near(JPlus):
    """Joins tuples of one key whose numbers lie close to each other."""

    outputs = ["partition", "number", "key", "other_partition", "other_number", "other_key"]

    def matches(self, left: Any, right: Any) -> bool:
        return abs(left[1] - right[1]) <= 20


class MortalLast(Mortal, Last):
    """Its process may be killed."""


class MortalSliding(Mortal, Sliding):
    """Its process may be killed."""


class MortalOfTwo(Mortal, OfTwo):
    """Its process may be killed."""


class MortalOfTwoSliding(Mortal, OfTwoSliding):
    """Its process may be killed."""


class MortalNear(Mortal, Near):
    """Its process may be killed."""


FORMS: dict[str, tuple[type[OPlus], type[OPlus], dict[str, Any]]] = {
    "overlapping": (Last, MortalLast, {"size": 30, "advance": 10}),
    "tumbling": (Last, MortalLast, {"size": 20}),
    "sessions": (Last, MortalLast, {"gap": 6}),
    "single": (Sliding, MortalSliding, {"size": 25, "advance": 10}),
    "by count": (Last, MortalLast, {"size": Count(7), "advance": Count(3)}),
    "of two inputs": (OfTwo, MortalOfTwo, {"size": 30, "advance": 20}),
    "single, of two inputs": (OfTwoSliding, MortalOfTwoSliding, {"size": 30, "advance": 10}),
    "joined": (Near, MortalNear, {"size": 25, "advance": 10}),
    "joined at ends": (Near, MortalNear, {"size": 20, "windows": "multi", "pairs_at": "end"}),
}
"""The operator, one whose process may be killed, and its windows, in microseconds as there are between the
rows of `Partitions`."""


def suspended(spout: Partitions, form: str, sources: int = 2, par: int = 1) -> TopologyBuilder:
    """Windows of that form, and windows of what they emit."""
    cls, _, lengths = FORMS[form]
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    if cls.inputs == 2:
        builder.set_spout("other", Partitions(3, 200, 7))
    _add_windows(builder, cls(**lengths).with_partial_window(), par)
    builder.set_bolt("again", Last(size=40)).all_grouping("windows")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("windows")
    sink.global_grouping("again")
    return builder


def placed(form: str, par: int) -> TopologyBuilder:
    """Build windows of that form, whose sink has their output with its positions."""
    cls, _, lengths = FORMS[form]
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions(4, 300, 8), 2)
    if cls.inputs == 2:
        builder.set_spout("other", Partitions(3, 200, 7))
    _add_windows(builder, cls(**lengths), par)
    builder.set_bolt("placed", Placed).global_grouping("windows")
    builder.set_bolt("sink", CollectingSink).global_grouping("placed")
    return builder


def killed(form: str) -> TopologyBuilder:
    """Windows of that form in processes that may be killed."""
    _, cls, lengths = FORMS[form]
    builder = TopologyBuilder()
    builder.set_spout("source", MortalPartitions, 2, kwargs={"count": 900})
    if cls.inputs == 2:
        builder.set_spout("other", MortalPartitions, kwargs={"count": 900})
    _add_windows(builder, cls(**lengths), 2)
    builder.set_bolt("sink", Written).global_grouping("windows")
    return builder


def _add_windows(builder: TopologyBuilder, operator: OPlus, par: int) -> None:
    windows = builder.set_bolt("windows", operator, par)
    for source in ("source", "other")[: operator.inputs]:
        if operator.derives_keys:
            windows.all_grouping(source)
        else:
            windows.fields_grouping(source, ["key"])
