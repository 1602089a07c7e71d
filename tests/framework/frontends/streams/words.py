"""Functions and a spout at the level of a module, which any worker finds by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from framework import Bolt, Spout
from tests.framework.runtime.workers.dying import die, first_time


class Lines(Spout):
    """Emits lines of words."""

    outputs = ["line"]

    def __init__(self, count: int = 300) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            yield [f"a{number % 7} b{number % 3} a{number % 7}"]


class Pairs(Spout):
    """Emits names and numbers."""

    outputs = ["name", "number"]

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(100):
            yield ["abc"[number % 3], number]


def first_letter(word: str) -> str:
    return word[0]


def is_short(name: str, number: int) -> bool:
    return number < 10


def add(total: int, number: int) -> int:
    return total + number


def with_number(seen: list[int], number: int) -> list[int]:
    """The list itself, changed: what was emitted before must not change with it."""
    seen.append(number)
    return seen


COUNT = 3_000
KEYS = 7


class Keyed(Spout):
    """Brings (key, number) for `COUNT` numbers; the keys take turns."""

    outputs = ["key", "number"]

    def tuples(self) -> Iterator[Any]:
        for number in range(COUNT):
            yield [f"key {number % KEYS}", number]


def collected(before: list[int], number: int) -> list[int]:
    """The last three numbers, in the list of those before."""
    before.append(number)
    del before[:-3]
    return before


def spoils(before: list[Any], number: int) -> list[Any]:
    """A list that holds a generator at last."""
    return [*before[-2:], (n for n in ()) if number > COUNT - 5 else number]


class DiesAtTheHalf(Bolt):
    """Forwards; kills its process when half of the tuples have come."""

    outputs = ["key", "value"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._seen = 0

    def process(self, tup: Any) -> None:
        self._seen += 1
        if self._seen == COUNT // 2 and first_time(self, "half"):
            die()
        self.emit(list(tup.values))
