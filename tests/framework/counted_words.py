"""The parts of a small word count, and what must come out of it."""

from __future__ import annotations

from typing import Any

from framework import Bolt, Spout

LINES = ["a b a", "c", "a b"]
COUNTED = [("a", 1), ("b", 1), ("a", 2), ("c", 1), ("a", 3), ("b", 2)]


class Lines(Spout):
    outputs = ["line"]

    def tuples(self) -> Any:
        for line in LINES:
            yield [line]


class Split(Bolt):
    outputs = ["word"]

    def process(self, tup: Any) -> None:
        for word in tup.values.line.split():
            self.emit([word])


class Count(Bolt):
    outputs = ["word", "count"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.counts: dict[str, int] = {}

    def process(self, tup: Any) -> None:
        word = tup.values.word
        self.counts[word] = self.counts.get(word, 0) + 1
        self.emit([word, self.counts[word]])
