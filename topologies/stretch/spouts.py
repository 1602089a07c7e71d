"""Spouts that bring the data of the queries, as fast as possible or at its pace."""

from array import array
from itertools import islice

from stretch import data
from viperstorm import Block, Pace, PartitionedSpout, Stream

ROWS = 256
"""In a block."""


class Drawn(PartitionedSpout):
    """Brings rows that are drawn from a seed.

    Args:
        phases: for how many seconds of event time how many rows a second come, as [[seconds, rate], ...]; or
            what such phases are drawn from, as `stretch.data.drawn_phases` takes it.
        seed: what they are drawn from.
        partitions: how many sources there are.
        speed: seconds of event time that pass in one second; as fast as possible, if None.
    """

    draw = None
    """The function of `stretch.data` that makes the rows."""

    def __init__(self, phases=((10, 1000),), seed=1, partitions=1, speed=None):
        super().__init__()
        self._phases = data.phases_of(phases)
        self._seed = seed
        self._partitions = partitions
        self._speed = speed

    @property
    def partitions(self):
        return self._partitions

    @property
    def identity(self):
        return f"{type(self).__name__}, seed {self._seed}, {self._partitions} x {self._phases}"

    def pace(self):
        return None if self._speed is None else Pace(0, self._speed)

    def blocks(self, partition, start_us):
        chance = data.chance_of(self._seed, type(self).__name__, partition)
        times = data.times(self._phases, self._partitions, partition)
        found = zip(times, type(self).draw(chance), strict=False)
        while block := list(islice(found, ROWS)):
            if start_us is None or block[-1][0] >= start_us:
                yield Block(array("q", [time for time, _ in block]), [row for _, row in block])


class Tweets(Drawn):
    """Tweets with their users."""

    outputs = ["user", "text"]
    draw = data.tweets


class Left(Drawn):
    """The left stream of ScaleJoin."""

    outputs = [Stream(schema={"x": "int32", "y": "float32"})]
    draw = data.left_rows


class Right(Drawn):
    """The right stream of ScaleJoin."""

    outputs = [Stream(schema={"a": "int32", "b": "float32", "c": "float64", "d": "bool"})]
    draw = data.right_rows


class Trades(Drawn):
    """Trades with the average price of their stock so far."""

    outputs = ["id", "price", "average"]
    draw = data.trades
