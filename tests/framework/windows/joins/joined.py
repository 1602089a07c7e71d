"""Streams to join, and a nested loop that joins them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from framework import BatchBolt, Bolt, Rows, Spout, Stream, TopologyBuilder
from framework.components import JoinBolt
from framework.sinks import CollectingSink
from framework.topology import Grouping

Row = tuple[Any, ...]
Event = tuple[int, int, Row]
"""Which stream (0 left, 1 right), the time in milliseconds, and the values."""

LEFT, RIGHT = {"at": "int64", "k": "string", "x": "int32", "y": "float32"}, {
    "at": "int64", "l": "string", "a": "int32", "b": "float32", "c": "float64"
}  # fmt: skip
FIELDS = [*LEFT, "right_at", "l", "a", "b", "c"]


class Events(Spout):
    """Emits both streams in the order of time."""

    outputs = [Stream(schema=LEFT, name="left"), Stream(schema=RIGHT, name="right")]
    config = {"viper.timestamp.field": "at", "viper.timestamp.unit": "ms"}

    def __init__(self, events: Sequence[Event]) -> None:
        super().__init__()
        self._events = list(events)

    def next_tuple(self) -> bool:
        for side, _, values in self._events[:50]:
            self.emit(list(values), stream=("left", "right")[side])
        del self._events[:50]
        return bool(self._events)


class Untyped(Events):
    """The same, without types."""

    outputs = [Stream(fields=list(LEFT), name="left"), Stream(fields=list(RIGHT), name="right")]


class Left(Bolt):
    """Passes the left stream on."""

    outputs = [Stream(schema=LEFT)]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values))


class Right(Left):
    """Passes the right stream on."""

    outputs = [Stream(schema=RIGHT)]


class UntypedLeft(Left):
    outputs = [Stream(fields=list(LEFT))]


class UntypedRight(Left):
    outputs = [Stream(fields=list(RIGHT))]


class Placed(BatchBolt):
    """Emits rows with their positions."""

    outputs = ["row", "position"]
    config = {"viper.stateless": True}

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows([(row, tuple(at)) for row, at in zip(rows, rows.positions(), strict=True)])


def joining(
    events: Sequence[Event], bolt: JoinBolt, par: int, keys: tuple[str, str] | None, *, typed: bool = True
) -> TopologyBuilder:
    """A join behind two bolts; by fields groupings with keys, else by all groupings."""
    builder = TopologyBuilder()
    builder.set_spout("events", Events(events) if typed else Untyped(events))
    builder.set_bolt("left", Left() if typed else UntypedLeft(), 2).shuffle_grouping("events", "left")
    builder.set_bolt("right", Right() if typed else UntypedRight(), 3).shuffle_grouping("events", "right")
    declarer = builder.set_bolt("join", bolt, par)
    for number, source in enumerate(("left", "right")):
        declarer.grouping(source, Grouping.ALL if keys is None else Grouping.fields(keys[number]))
    builder.set_bolt("placed", Placed).global_grouping("join")
    builder.set_bolt("sink", CollectingSink).global_grouping("placed")
    return builder


def nested_loop(
    events: Sequence[Event],
    matches: Callable[[Row, Row], bool],
    before_ms: int,
    after_ms: int,
    size_ms: int | None = None,
) -> list[Row]:
    """All pairs: by the later tuple, then by the earlier one."""

    def pairs() -> Iterator[Row]:
        for number, (side, time, values) in enumerate(events):
            for other, stored_time, stored in events[:number]:
                if other == side:
                    continue
                left, right = (values, stored) if side == 0 else (stored, values)
                shift = (stored_time - time) * (1 if side == 0 else -1)
                if not -before_ms <= shift <= after_ms:
                    continue
                if size_ms is not None and time // size_ms != stored_time // size_ms:
                    continue
                if matches(left, right):
                    yield left + right

    return list(pairs())


def near(left: Row, right: Row, width_x: float, width_y: float) -> bool:
    """Whether x and a, y and b lie in their bands, in the widths that are declared."""
    if None in (left[2], right[2], left[3], right[3]):
        return False
    apart = abs(np.float32(left[3]) - np.float32(right[3]))
    return abs(left[2] - right[2]) <= width_x and bool(apart <= np.float32(width_y))


def drawn(random: Any, count: int, *, values: int = 12, with_none: bool = False) -> list[Event]:
    """Events with ties, gaps and times below 0."""
    events: list[Event] = []
    time = random.choice((-40, -7, 0, 1_700_000_000_000))
    for _ in range(count):
        side = random.randrange(2)
        x: Any = random.randrange(values)
        y: Any = float(np.float32(random.randrange(values * 10) / 10))
        if with_none and random.randrange(8) == 0:
            x = None
        row: Row = (time, random.choice("abc"), x, y)
        events.append((side, time, row if side == 0 else (*row, random.random())))
        time += random.choice((0, 0, 1, 1, 2, 5, random.randrange(20)))
    return events
