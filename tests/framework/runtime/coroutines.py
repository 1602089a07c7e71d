"""Bolts whose process is a coroutine function, which other tests run too, and what they wait for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

from framework import Bolt, Spout, TopologyBuilder
from framework.operators.sinks import CollectingSink

COUNT = 500
AHEAD = {"viper.stateless": True}


class Tracked(Spout):
    """Emits 0, 1 and so on, with their numbers as ids, and ends when it has heard of all."""

    outputs = ["number"]

    def __init__(self, count: int = COUNT) -> None:
        super().__init__()
        self._count = count

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.next, self.heard = 0, 0

    def next_tuple(self) -> None:
        if self.next == self._count:
            if self.heard == self._count:
                raise StopIteration
            return
        self.emit([self.next], tup_id=self.next)
        self.next += 1

    def ack(self, tup_id: int) -> None:
        self.heard += 1

    def fail(self, tup_id: int) -> None:
        self.heard += 1


class Plain(Spout):
    """Emits the same without ids."""

    outputs = ["number"]

    def __init__(self, count: int = COUNT) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            yield [number]


async def out_of_order(draw: random.Random) -> None:
    """Let others go first, for a drawn number of turns of the event loop."""
    for _ in range(draw.randrange(40)):
        await asyncio.sleep(0)


class Some(Bolt):
    """Emits a number no time, once or twice, and waits for as long as is drawn."""

    outputs = ["number", "time"]
    config = AHEAD

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.draw = random.Random(7)

    async def process(self, tup: Any) -> None:
        for time in range(tup.values.number % 3):
            await out_of_order(self.draw)
            self.emit([tup.values.number, time])


def expected(count: int = COUNT) -> list[tuple[int, int]]:
    """The rows of `Some`."""
    return [(number, time) for number in range(count) for time in range(number % 3)]


def built(
    bolt: Any = Some,
    tasks: int = 1,
    config: dict[str, Any] | None = None,
    spout: type[Spout] = Tracked,
    count: int = COUNT,
) -> TopologyBuilder:
    """A spout of numbers, the bolt, and a sink of what it emits."""
    builder = TopologyBuilder()
    builder.set_spout("source", spout, args=[count])
    own = {**AHEAD, **(config or {})}
    builder.set_bolt("some", bolt, tasks, config=own).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("some")
    return builder
