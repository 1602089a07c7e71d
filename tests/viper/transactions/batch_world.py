"""A task that processes batches, for tests."""

from __future__ import annotations

from typing import Any

from tests.viper.transactions.programs import SPECS
from tests.viper.transactions.world import HOLDER, World
from viper.position import Position, Positions
from viper.rows import Inbox
from viper.transactions.recorder import Recorder, RowResults


def positions_of(count: int, first: int = 0) -> Positions:
    positions = Positions()
    for ts in range(first, first + count):
        positions.append(Position(ts, 0, 0))
    return positions


class Batches:
    """A task that processes batches."""

    def __init__(self, log_bytes: int = 1 << 20) -> None:
        self.world = World(SPECS, log_bytes=log_bytes)
        self.begin()

    def begin(self) -> None:
        self.recorder = Recorder(Inbox(tuple, None, 10), self.world.group, 0)

    def place(self, count: int, first: int = 0) -> None:
        self.recorder.place(positions_of(count, first), 0)
        self.tell(first + count)

    def tell(self, below: int) -> bool:
        told = self.recorder.publish()
        self.recorder.collected((below, 0, 0))
        return told

    def evaluate(self) -> int:
        self.world.group.evaluate(HOLDER, 0)
        return self.recorder.evaluated_inputs()

    def run(self, count: int, *blocks: Any) -> RowResults:
        """Say blocks, each (where, function), and take all results."""
        self.recorder.start_rows(count)
        for where, what in blocks:
            with self.recorder.begin_rows(where) as t:
                what(t)
        self.place(count)
        assert self.evaluate() == count
        return self.recorder.take_rows(count)
