"""The word count of `test_lines_under_fire`: components that know across deaths what has been done.

What must outlive a process is appended to files of numbers. A write that SIGKILL interrupts ends at a page's
end, and so at the end of a number.
"""

from __future__ import annotations

import gzip
import os
import random
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framework import Bolt, ReliableSpout, TopologyBuilder
from framework.operators.sinks import Sink

TEXT = Path(__file__).parents[3] / "topologies" / "data" / "kjv.txt.gz"
WORDS_PER_LINE = 1000
"""More than any line has: word ``w`` of line ``n`` is number ``n * WORDS_PER_LINE + w``."""


def text_lines() -> list[str]:
    """All lines of the text."""
    with gzip.open(TEXT, "rt", encoding="utf-8") as text:
        return text.read().splitlines()


def tell_pid(component: Any) -> None:
    """Write down which process runs a task; the last one that did so is the one that lives."""
    folder, name = Path(component.storm_conf["marks"]), f"{component.component_name}-{component.task_id}"
    (folder / f"new-{name}").write_text(str(os.getpid()))
    os.replace(folder / f"new-{name}", folder / f"pid-{name}")


def pids(marks: Path) -> dict[str, int]:
    """Read the process that runs, or ran last, each task."""
    return {path.name.removeprefix("pid-"): int(path.read_text()) for path in sorted(marks.glob("pid-*"))}


class Numbers:
    """A file of numbers of 32 bits, to which several processes append."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(self, numbers: Sequence[int]) -> None:
        """Append numbers."""
        os.write(self._descriptor, array("I", numbers).tobytes())

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    @staticmethod
    def read(path: Path) -> array[int]:
        """All numbers in a file; none where there is no file."""
        numbers = array("I")
        if path.exists():
            numbers.frombytes(path.read_bytes())
        return numbers


class Lines(ReliableSpout):
    """Emits the text's lines, again and again until there are ``lines``; and writes down which were acked.

    Its successor begins with those that were not.
    """

    outputs = ["number", "line"]
    max_fails = 1_000_000

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        path = Path(storm_conf["marks"]) / "acked"
        acked = set(Numbers.read(path))
        self.text = text_lines()
        self.rest = iter([number for number in range(storm_conf["lines"]) if number not in acked])
        self.acked = Numbers(path)
        tell_pid(self)

    def next_tuple(self) -> None:
        number = next(self.rest)
        self.emit([number, self.text[number % len(self.text)]], tup_id=number)

    def ack(self, tup_id: int) -> None:
        super().ack(tup_id)
        self.acked.write([tup_id])

    def close(self) -> None:
        self.acked.close()
        assert not self.unacked_tuples, f"never heard of {len(self.unacked_tuples)} lines"


class Split(Bolt):
    """Splits lines, but fails each twentieth, drawn at random."""

    outputs = ["word", "at"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.draw = random.Random(os.getpid())
        tell_pid(self)

    def process(self, tup: Any) -> None:
        number, line = tup.values
        if self.draw.random() < 0.05:
            self.fail(tup)
            return
        for index, word in enumerate(line.split()):
            self.emit([word, number * WORDS_PER_LINE + index])


class Count(Bolt):
    """Counts words."""

    outputs = ["word", "at", "count"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.counts: dict[str, int] = {}
        tell_pid(self)

    def process(self, tup: Any) -> None:
        word, at = tup.values
        count = self.counts[word] = self.counts.get(word, 0) + 1
        self.emit([word, at, count])


class Arrived(Sink):
    """Writes down which words of which lines have arrived."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.arrived = Numbers(Path(storm_conf["marks"]) / "arrived")
        tell_pid(self)

    def consume(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.arrived.write([at for _, at, _ in rows])

    def close(self) -> None:
        self.arrived.close()


def word_count() -> TopologyBuilder:
    """``lines -> split -> count -> sink``."""
    builder = TopologyBuilder()
    builder.set_spout("lines", Lines)
    builder.set_bolt("split", Split, 2).shuffle_grouping("lines")
    builder.set_bolt("count", Count, 2).fields_grouping("split", "word")
    builder.set_bolt("sink", Arrived).global_grouping("count")
    return builder
