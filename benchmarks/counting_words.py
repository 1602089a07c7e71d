"""The word count that several benchmarks run: components and topology, importable by worker processes."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from framework import Bolt, Spout, TopologyBuilder
from framework.model.topology import Topology
from framework.operators.sinks import CountingSink

TEXT = Path(__file__).parent.parent / "topologies" / "data" / "kjv.txt.gz"


@cache
def read_lines(words: int) -> list[str]:
    """The text's lines, repeated until they hold so many words; nobody changes them."""
    with gzip.open(TEXT, "rt") as text:
        once = text.read().splitlines()
    per_pass = sum(len(line.split()) for line in once)
    return list(itertools.chain.from_iterable(itertools.repeat(once, max(round(words / per_pass), 1))))


class Lines(Spout):
    """Emits the text's lines; they are read before the clock starts."""

    outputs = ["line"]

    def __init__(self, words: int) -> None:
        super().__init__()
        self._words = words

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Read them."""
        self._lines = read_lines(self._words)

    def tuples(self) -> Iterator[list[str]]:
        """One line each."""
        for line in self._lines:
            yield [line]


class Split(Bolt):
    """Splits lines into words."""

    outputs = ["word"]

    def process(self, tup: Any) -> None:
        """Split one."""
        for word in tup.values.line.split():
            self.emit([word])


class Count(Bolt):
    """Counts each word, and emits it with its count."""

    outputs = ["word", "count"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No word has been seen."""
        self.counts: dict[str, int] = {}

    def process(self, tup: Any) -> None:
        """Count one."""
        word = tup.values[0]
        number = self.counts[word] = self.counts.get(word, 0) + 1
        self.emit([word, number])


def wordcount(words: int, par: int, *, sink: bool, counter: type[Bolt] = Count) -> Topology:
    """``lines -> split -> count``, and with ``sink`` every word with its count into one counting sink."""
    builder = TopologyBuilder()
    builder.set_spout("lines", Lines, args=[words])
    builder.set_bolt("split", Split, par).shuffle_grouping("lines")
    builder.set_bolt("count", counter, par).fields_grouping("split", "word")
    if sink:
        builder.set_bolt("sink", CountingSink).global_grouping("count")
    return builder.build("word-count")
