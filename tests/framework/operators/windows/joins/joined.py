"""Streams to join, and a nested loop that joins them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from framework import BatchBolt, Rows, Spout, Stream, TopologyBuilder
from framework.model.topology import Grouping
from framework.operators.components import JoinBolt
from framework.operators.sinks import CollectingSink

Row = tuple[Any, ...]
Event = tuple[int, int, Row]
"""The number of the stream (0 left, 1 right), the time in milliseconds, and the values."""

LEFT, RIGHT = {"at": "int64", "k": "string", "x": "int32", "y": "float32"}, {
    "at": "int64", "l": "string", "a": "int32", "b": "float32", "c": "float64"
}  # fmt: skip
FIELDS = [*LEFT, "right_at", "l", "a", "b", "c"]


class Left(Spout):
    """Emits the left stream."""

    outputs = [Stream(schema=LEFT)]
    config = {"viper.timestamp.field": "at", "viper.timestamp.unit": "ms"}
    side = 0

    def __init__(self, events: Sequence[Event]) -> None:
        super().__init__()
        self._rows = [list(values) for side, _, values in events if side == self.side]

    def tuples(self) -> Iterator[list[Any]]:
        yield from self._rows


class Right(Left):
    """Emits the right stream."""

    outputs = [Stream(schema=RIGHT)]
    side = 1


class UntypedLeft(Left):
    """The left stream without types."""

    outputs = list(LEFT)


class UntypedRight(Right):
    """The right stream without types."""

    outputs = list(RIGHT)


class Placed(BatchBolt):
    """Emits rows with their positions."""

    outputs = ["row", "position"]
    config = {"viper.stateless": True}

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows([(row, tuple(at)) for row, at in zip(rows, rows.positions(), strict=True)])


def joining(
    events: Sequence[Event], bolt: JoinBolt, par: int, keys: tuple[str, str] | None, *,
    typed: bool = True, slack_ms: int = 0,
) -> TopologyBuilder:  # fmt: skip
    """A join of two spouts, which put their events in order; by fields groupings with keys, else by all."""
    builder, config = TopologyBuilder(), {**Left.config, "viper.timestamp.slack": slack_ms}
    builder.set_spout("left", Left(events) if typed else UntypedLeft(events), config=config)
    builder.set_spout("right", Right(events) if typed else UntypedRight(events), config=config)
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
    """True if x and a, y and b lie in their bands, in the widths that are declared."""
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
    return sorted(events, key=lambda event: (event[1], event[0]))  # the left spout is the first one
