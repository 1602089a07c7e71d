"""Spouts that divide lines among injectors: each line has a time of its own, whoever brings it."""

from array import array
from itertools import islice
from pathlib import Path

import numpy as np

from linear_road.generator import Generator, Traffic
from linear_road.records import FIELDS, USED, in_order, parsed, whole_seconds
from viperstorm import Block, PartitionedSpout

ROWS = 512
"""In a block, and lines of a file that are read at once; a block has whole seconds before it is divided."""


class Injector(PartitionedSpout):
    """Divides lines among injectors: of three, the first has lines 0, 3, 6 and so on.

    Args:
        injectors: how many there are.
    """

    outputs = list(FIELDS)

    def __init__(self, injectors=1):
        super().__init__()
        self._injectors = injectors

    @property
    def partitions(self):
        return self._injectors

    def lines(self):
        """All lines in their order, as arrays with some of them."""
        raise NotImplementedError

    def blocks(self, partition, start_us):
        for times, found in self.portions(partition, start_us):
            rows = list(map(tuple, found.tolist()))
            for first in range(0, len(rows), ROWS):
                part = slice(first, first + ROWS)
                yield Block(array("q", times[part].tobytes()), rows[part])

    def portions(self, injector, start_us):
        """The lines of an injector in the order of time: pairs of arrays, times and what is used of lines.

        Args:
            injector: its number, from 0.
            start_us: lines before this time are left out, if it is given.
        """
        begun = 0
        for lines in whole_seconds(self.lines()):
            order, times = in_order(lines)
            mine = (order + begun) % self._injectors == injector
            if start_us is not None:
                mine &= times >= start_us
            begun += len(lines)
            if mine.any():
                yield times[mine], lines[order[mine]][:, USED]


class Lines(Injector):
    """Brings the lines of a file.

    Args:
        path: of the file.
        injectors: among how many they are divided.
    """

    def __init__(self, path, injectors=1):
        super().__init__(injectors)
        self._path = path

    @property
    def identity(self):
        return f"{self._path}, {Path(self._path).stat().st_size} bytes"

    def lines(self):
        with open(self._path, encoding="ascii") as file:
            while read := list(islice(file, ROWS)):
                yield np.array(list(map(parsed, read)), np.int64)


class Generated(Injector):
    """Brings lines that are drawn from a seed.

    Args:
        seconds: how long they last.
        xways: for how many expressways.
        seed: what they are drawn from.
        injectors: among how many they are divided.
        traffic: values of `Traffic` by name.
    """

    def __init__(self, seconds=600, xways=1, seed=1, injectors=1, traffic=None):
        super().__init__(injectors)
        self._given = seconds, xways, seed, Traffic(**(traffic or {}))

    @property
    def identity(self):
        return f"generated, {self._given}"

    def lines(self):
        seconds, xways, seed, traffic = self._given
        generator = Generator(xways, seed, traffic)
        for _ in range(seconds):
            yield generator.second()
