"""Operators over windows by key that tell everything of theirs, and the same by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from framework import Count, KeyWindow, OPlus, Spout, Tuple
from tests.framework.runtime.workers.killed import Mortal
from viper.hashing import group_of_hash, stable_hash

GROUPS = 8
"""Few, so that some have several keys."""


class Row(NamedTuple):
    """A tuple of the tests; its time is in milliseconds."""

    number: int
    keys: list[str]
    key: str
    time: int


class Keyed(Spout):
    """Emits rows."""

    outputs = ["number", "keys", "key", "time"]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self._rows = rows

    def tuples(self) -> Iterator[Row]:
        yield from self._rows


class TellWindow(OPlus):
    """Emits each window that has ended, and a row for each third tuple of a window."""

    outputs = ["key", "start", "end", "numbers"]

    def create(self) -> list[tuple[int, int]]:
        return []

    def update(self, window: KeyWindow, tup: Tuple, side: int = 0) -> list[tuple[Any, ...]] | None:
        window.state.append((tup.values.number, tup.values.time * 1000))
        if tup.values.number % 3:
            return None
        return [(window.key, window.start, None, [tup.values.number])]

    def output(self, window: KeyWindow) -> Iterator[tuple[Any, ...]]:
        yield window.key, window.start, window.end, [number for number, _ in window.state]


class TellSliding(TellWindow):
    """Likewise, with one window for each key, which slides."""

    windows = "single"

    def slide(self, window: KeyWindow) -> list[tuple[int, int]]:
        assert not isinstance(self.size, str | Count) and isinstance(self.advance, int)
        return [found for found in window.state if found[1] >= window.start + self.advance]


class TellKeys(TellWindow):
    """Likewise, with several keys for each tuple."""

    def keys(self, tup: Tuple) -> list[str]:
        found: list[str] = tup.values.keys
        return found


class TellKeysSliding(TellSliding):
    """Likewise, with one window for each of them."""

    def keys(self, tup: Tuple) -> list[str]:
        found: list[str] = tup.values.keys
        return found


class MortalTell(Mortal, TellKeys):
    """Its process may be killed."""


def drawn(random: Random, count: int) -> list[Row]:
    """Rows with ties, gaps, times below 0, and keys that come and go."""
    time, rows = random.choice((-1000, -17, 0, 1_700_000_000_000)), []
    names = [f"key{number}" for number in range(random.choice((1, 3, 12)))]
    for number in range(count):
        keys = random.choices(names, k=random.randrange(4))
        rows.append(Row(number, keys, random.choice(names), time))
        time += random.choice((0, 0, 1, 1, 2, 5, random.randrange(40)))
    return rows


class Found(NamedTuple):
    """A window by brute force, with what it is ordered by."""

    end: int
    group: int
    made: tuple[int, int]
    """The number of the tuple that made it, or its forerunner, and its place among those that this made."""
    row: tuple[Any, ...]


def expected(
    rows: Sequence[Row], size: int, advance: int, *, several: bool, single: bool
) -> list[tuple[Any, ...]]:
    """All that `TellWindow` and its like emit, in microseconds, looked for window by window."""
    taken: dict[str, list[tuple[int, int, int]]] = {}
    for row in rows:
        for place, key in enumerate(dict.fromkeys(row.keys if several else [row.key])):
            taken.setdefault(key, []).append((row.number, row.time * 1000, place))
    windows = [one for key, found in taken.items() for one in _windows(key, found, size, advance, single)]
    windows.sort()
    told: list[tuple[Any, ...]] = []
    for row in rows:
        while windows and windows[0].end <= row.time * 1000:
            told.append(windows.pop(0).row)
        if row.number % 3 == 0:
            keys = dict.fromkeys(row.keys if several else [row.key])
            for key in sorted(keys, key=group_of):
                starts = sorted(_starts(row.time * 1000, size, advance))
                told += [(key, s, None, [row.number]) for s in (starts[:1] if single else starts)]
    return told + [one.row for one in windows]


def group_of(key: str) -> int:
    return group_of_hash(stable_hash(key), GROUPS)


def _starts(time: int, size: int, advance: int) -> list[int]:
    """The starts of all windows that a time lies in."""
    first = (time // advance) * advance
    return [start for n in range(size // advance + 2) if (start := first - n * advance) + size > time]


def _windows(
    key: str, found: list[tuple[int, int, int]], size: int, advance: int, single: bool
) -> Iterator[Found]:
    made, before, last = (0, 0), 0, None
    for start in sorted({start for _, time, _ in found for start in _starts(time, size, advance)}):
        inside = [one for one in found if start <= one[1] < start + size]
        goes_on = last is not None and start == before + advance and last >= start
        if not (single and goes_on):
            made = inside[0][0], inside[0][2]
        before, last = start, inside[-1][1]
        numbers = [number for number, _, _ in inside]
        yield Found(start + size, group_of(key), made, (key, start, start + size, numbers))
