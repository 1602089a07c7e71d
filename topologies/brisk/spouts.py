"""Spouts that divide lines among injectors: each line has a time of its own, whoever brings it."""

import gc
from array import array

from brisk import generators
from viperstorm import Block, PartitionedSpout

ROWS = 512
"""In a block."""


class Drawn(PartitionedSpout):
    """Brings lines: of three injectors the first has lines 0, 3, 6 and so on.

    The time of a line is its number, in microseconds.

    Args:
        rows: how many lines there are.
        seed: what they are drawn from.
        injectors: among how many they are divided.
        parameters: of the application, see `brisk.generators`.
        held: whether all of them are drawn before the run begins, so that their drawing is not measured.
    """

    draws = None
    """The class that draws them."""
    outputs = ["line"]

    def __init__(self, rows=100_000, seed=1, injectors=1, parameters=None, held=False):
        super().__init__()
        self._rows = rows
        self._injectors = injectors
        self._drawn = self.draws(seed, **(parameters or {}))
        self._holds = held
        self._held = {}

    @property
    def partitions(self):
        return self._injectors

    @property
    def identity(self):
        return f"{self._rows} of {self._drawn}"

    @property
    def rows_total(self):
        return self._rows

    def initialize(self, conf, context):
        if self._holds:
            self._held = {each: list(self.made(each, None)) for each in range(self._injectors)}
            gc.freeze()  # or a million lines, which no stream would hold, are looked through again and again

    def blocks(self, partition, start_us):
        return iter(self._held[partition]) if self._held else self.made(partition, start_us)

    def made(self, partition, start_us):
        """Draw the blocks of lines from now on."""
        for numbers, lines in self.portions(partition, start_us):
            for first in range(0, len(lines), ROWS):
                part = slice(first, first + ROWS)
                yield Block(array("q", numbers[part]), [(line,) for line in lines[part]])

    def portions(self, injector, start_us):
        """The lines of an injector: pairs of a range of their numbers and a list of them.

        Args:
            injector: its number, from 0.
            start_us: lines before this time are left out, if it is given.
        """
        begin = min(max(start_us or 0, 0), self._rows)
        for first, lines in self._drawn.lines(self._rows - begin, begin):
            mine = slice((injector - first) % self._injectors, None, self._injectors)
            numbers = range(first, first + len(lines))[mine]
            if numbers:
                yield numbers, lines[mine]


class Sentences(Drawn):
    """The input of word count."""

    draws = generators.Sentences


class Transactions(Drawn):
    """The input of fraud detection."""

    draws = generators.Transactions


class Readings(Drawn):
    """The input of spike detection."""

    draws = generators.Readings


class Requests(Drawn):
    """The input of log processing."""

    draws = generators.Requests
