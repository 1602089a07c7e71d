"""Spouts that divide events among injectors: each event has a time of its own, whoever brings it."""

import gc
from array import array

import numpy as np

from transactions import generators
from viperstorm import Block, PartitionedSpout

ROWS = 512
"""In a block."""


class Drawn(PartitionedSpout):
    """Brings events: of three injectors the first has events 0, 3, 6 and so on.

    The time of an event is its number, in microseconds.

    Args:
        events: how many there are.
        seed: what they are drawn from.
        injectors: among how many they are divided.
        parameters: of the application, see `transactions.generators`.
        held: whether all of them are drawn before the run begins, so that their drawing is not measured.
    """

    draws = None
    """The class that draws them."""

    def __init__(self, events=100_000, seed=1, injectors=1, parameters=None, held=False):
        super().__init__()
        self._holds = held
        self._held = {}
        self._events = events
        self._injectors = injectors
        self._drawn = self.draws(seed, **(parameters or {}))

    @property
    def partitions(self):
        return self._injectors

    @property
    def identity(self):
        return f"{self._events} of {self._drawn}"

    @property
    def rows_total(self):
        return self._events

    def initialize(self, conf, context):
        if self._holds:
            self._held = {each: list(self.made(each, None)) for each in range(self._injectors)}
            gc.freeze()  # or a million events, which no stream would hold, are looked through again and again

    def blocks(self, partition, start_us):
        return iter(self._held[partition]) if self._held else self.made(partition, start_us)

    def made(self, partition, start_us):
        """Draw the blocks of events from now on."""
        for mine in self.portions(partition, start_us):
            times, rows = mine["event"].tolist(), self._drawn.tuples_of(mine)
            for first in range(0, len(rows), ROWS):
                part = slice(first, first + ROWS)
                yield Block(array("q", times[part]), rows[part])

    def portions(self, injector, start_us):
        """The events of an injector, as arrays; some before the given time may be left out."""
        first = min(max(start_us or 0, 0), self._events)
        for arrays in self._drawn.arrays(self._events - first, first):
            mine = np.flatnonzero(arrays["event"] % self._injectors == injector)
            if len(mine):
                yield {name: values[mine] for name, values in arrays.items()}


class GrepSum(Drawn):
    """The input of Grep & Sum."""

    draws = generators.GrepSum
    outputs = list(draws.fields)


class StreamingLedger(Drawn):
    """The input of the Streaming Ledger."""

    draws = generators.StreamingLedger
    outputs = list(draws.fields)


class OnlineBidding(Drawn):
    """The input of Online Bidding."""

    draws = generators.OnlineBidding
    outputs = list(draws.fields)


class TollProcessing(Drawn):
    """The input of Toll Processing."""

    draws = generators.TollProcessing
    outputs = list(draws.fields)
