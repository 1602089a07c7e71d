"""Spouts that divide lines among injectors: each line has a time of its own, whoever brings it."""

from array import array
from pathlib import Path

from linear_road.generator import Generator, Traffic
from linear_road.records import REPORT, Record, Times, parsed, record_of
from viperstorm import Block, PartitionedSpout

ROWS = 512
"""In a block."""


class Injector(PartitionedSpout):
    """Divides lines among injectors: of three, the first has lines 0, 3, 6 and so on.

    Args:
        injectors: how many there are.
    """

    outputs = list(Record._fields)

    def __init__(self, injectors=1):
        super().__init__()
        self._injectors = injectors

    @property
    def partitions(self):
        return self._injectors

    def records(self):
        """All records, in the order of the lines."""
        raise NotImplementedError

    def blocks(self, partition, start_us):
        times, rows = array("q"), []
        for time_us, record in in_order(self.records(), self._injectors, partition):
            if start_us is not None and time_us < start_us:
                continue
            times.append(time_us)
            rows.append(tuple(record))
            if len(rows) == ROWS:
                yield Block(times, rows)
                times, rows = array("q"), []
        if rows:
            yield Block(times, rows)


def in_order(records, injectors, injector):
    """The records of one injector with their times, in the order of these: queries come behind their second.

    Args:
        records: all of them, as those of others count as well.
        injectors: how many there are.
        injector: the number of this one, from 0.
    """
    times, second, queries = Times(), -1, []
    for number, record in enumerate(records):
        if record.time != second:
            yield from queries
            second, queries = record.time, []
        time_us = times.next(record)
        if number % injectors != injector:
            continue
        if record.type == REPORT:
            yield time_us, record
        else:
            queries.append((time_us, record))
    yield from queries


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

    def records(self):
        with open(self._path, encoding="ascii") as file:
            yield from map(parsed, file)


class Generated(Injector):
    """Brings lines that are drawn from a seed.

    Args:
        seconds: how long they go on.
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

    def records(self):
        seconds, xways, seed, traffic = self._given
        generator = Generator(xways, seed, traffic)
        for _ in range(seconds):
            yield from map(record_of, generator.second().tolist())
