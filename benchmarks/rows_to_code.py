"""Kinds of rows as tuples on their way to another process hold them."""

from __future__ import annotations

import datetime
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from counting_words import read_lines

Row = tuple[Any, ...]
EPOCH = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
START_US = 1_700_000_000_000_000


def texts(count: int) -> Iterator[str]:
    """Words, each an object of its own, of a text in which most come again."""
    lines = itertools.cycle(read_lines(count))
    return itertools.islice((word for line in lines for word in line.split()), count)


def words(count: int) -> Iterator[Row]:
    """One word each."""
    for word in texts(count):
        yield (word,)


def counted(count: int) -> Iterator[Row]:
    """A word and how often it has come."""
    seen: Counter[str] = Counter()
    for word in texts(count):
        seen[word] += 1
        yield word, seen[word]


def events(count: int) -> Iterator[Row]:
    """A timestamp, an id, a measured value, and a text that does not come again."""
    draw = random.Random(1)
    for number in range(count):
        yield START_US + 37 * number, number, draw.random(), f"event {number} of {draw.random()}"


def nested(count: int) -> Iterator[Row]:
    """A word and a tuple within a tuple."""
    for number, word in enumerate(texts(count)):
        yield word, (number, (word, number / 3, None))


def dated(count: int) -> Iterator[Row]:
    """A word and a date with a time, for which the codec has no form of its own."""
    for number, word in enumerate(texts(count)):
        yield word, EPOCH + datetime.timedelta(seconds=number)


KINDS: dict[str, Callable[[int], Iterator[Row]]] = {
    "word": words,
    "word, count": counted,
    "ts, id, float, text": events,
    "nested": nested,
    "word, datetime": dated,
}
"""By the name that is printed."""
