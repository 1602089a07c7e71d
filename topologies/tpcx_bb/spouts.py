"""Spouts that bring clicks and sales, drawn from a seed; `ParquetSource` brings those of a file."""

import gc
from array import array
from itertools import islice

from tpcx_bb import generator
from viperstorm import Block, PartitionedSpout

ROWS = 512
"""In a block."""
SECOND_US = 1_000_000


class Drawn(PartitionedSpout):
    """Brings rows: of three injectors the first has those of the seconds 0, 3, 6 and so on.

    So the rows of one second come in their own order, whatever the number of injectors.

    Args:
        rows: how many there are.
        seed: what they are drawn from.
        injectors: among how many they are divided.
        parameters: further ones of the function of `tpcx_bb.generator`.
        held: whether all of them are drawn before the run begins, so that their drawing is not measured.
    """

    table = None
    """The name of the table: a key of `generator.TABLES`."""

    def __init__(self, rows=100_000, seed=1, injectors=1, parameters=None, held=False):
        super().__init__()
        self._rows = rows
        self._seed = seed
        self._injectors = injectors
        self._parameters = parameters or {}
        self._holds = held
        self._held = {}

    @property
    def partitions(self):
        return self._injectors

    @property
    def identity(self):
        return f"{self._rows} {self.table}, seed {self._seed}, {self._parameters}"

    @property
    def rows_total(self):
        return self._rows

    def initialize(self, conf, context):
        if self._holds:
            self._held = {each: list(self.made(each, None)) for each in range(self._injectors)}
            gc.freeze()  # or a million rows, which no stream would hold, are looked through again and again

    def blocks(self, partition, start_us):
        return iter(self._held[partition]) if self._held else self.made(partition, start_us)

    def made(self, partition, start_us):
        """Draw the blocks of a partition, those from a time on if it is given."""
        draw, _ = generator.TABLES[self.table]
        drawn = draw(self._rows, self._seed, **self._parameters)
        begin_s = (start_us or 0) // SECOND_US
        mine = (row for row in drawn if row[1] % self._injectors == partition and row[1] >= begin_s)
        while found := list(islice(mine, ROWS)):
            yield Block(array("q", [row[1] * SECOND_US for row in found]), [row[2:] for row in found])


class Clicks(Drawn):
    """The rows of `web_clickstreams`."""

    outputs = list(generator.CLICKS[2:])
    table = "clicks"


class Sales(Drawn):
    """The rows of `store_sales`."""

    outputs = list(generator.SALES[2:])
    table = "sales"
