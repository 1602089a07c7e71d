"""A spout with times, functions for windows at the level of a module, and windows by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from framework import KeyWindow, Spout
from framework.frontends.streams import AggregateWindow, CountWindow, Session, Sliding, Tumbling
from tests.framework.runtime.workers.killed import Mortal

Row = tuple[str, int, int]
"""A key, a number, and the time in milliseconds."""
Found = tuple[str, int, int, list[int]]
"""A window of a key: its start, its end, in microseconds, and the numbers of its tuples."""


class Timed(Spout):
    """Emits rows in the order of their times."""

    outputs = ["user", "amount", "time"]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self._rows = rows

    def tuples(self) -> Iterator[Row]:
        yield from map(tuple, self._rows)  # type: ignore[misc]


class MortalWindow(Mortal, AggregateWindow):
    """Its process may be killed."""


def shared(partition: str, number: int, key: int) -> tuple[int, str, float]:
    return key, partition, number / 7


def drawn(seed: int, count: int = 150) -> list[Row]:
    """Rows with ties, gaps, and keys that come and go."""
    random = Random(seed)
    time, rows = random.choice((-1000, 0, 1_700_000_000_000)), []
    for _ in range(count):
        rows.append((random.choice("abcdefg"), random.randrange(-50, 50), time))
        time += random.choice((0, 0, 1, 1, 2, 5, random.randrange(40)))
    return rows


def every(user: str, amount: int, time: int) -> bool:
    return True


def larger(one: int, other: int) -> int:
    return max(one, other)


def totals(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], max(one[1], other[1])


def told(window: KeyWindow, values: list[Any]) -> Iterator[tuple[Any, ...]]:
    """A row for the window, and one more for each even number."""
    yield window.key, window.start, window.end, [value[0] for value in values]
    for value in values:
        if value[0] % 2 == 0:
            yield window.key, window.start, window.end, [value[0]]


def windows(rows: Sequence[Row], form: Any) -> list[Found]:
    """All windows that fire, in the order of their ends."""
    found = [one for key in "abcdefg" for one in _of_key(key, [row for row in rows if row[0] == key], form)]
    return sorted(found, key=lambda one: one[2])


def _of_key(key: str, rows: Sequence[Row], form: Any) -> Iterator[Found]:
    if not rows:
        return
    times = [row[2] * 1000 for row in rows]
    numbers = [row[1] for row in rows]
    match form:
        case CountWindow(count, slide):
            step = slide or count
            for first in range(0, len(rows) - count + 1, step):
                yield key, first, first + count, numbers[first : first + count]
        case Session(gap):
            gap_us, first = int(gap), 0
            for index in range(1, len(rows) + 1):
                if index == len(rows) or times[index] - times[index - 1] >= gap_us:
                    yield key, times[first], times[index - 1] + gap_us, numbers[first:index]
                    first = index
        case Tumbling(size):
            yield from _sliding(key, times, numbers, int(size), int(size))
        case Sliding(size, advance):
            yield from _sliding(key, times, numbers, int(size), int(advance))


def _sliding(key: str, times: list[int], numbers: list[int], size: int, advance: int) -> Iterator[Found]:
    start = (times[0] - size) // advance * advance
    while start <= times[-1]:
        inside = [number for number, time in zip(numbers, times, strict=True) if start <= time < start + size]
        if inside:
            yield key, start, start + size, inside
        start += advance
