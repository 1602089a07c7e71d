"""Windows by brute force, and bolts that tell everything of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from framework import Bolt, Spout, TopologyBuilder, TupleWindow, WindowedBolt
from framework.operators.sinks import CollectingSink
from framework.operators.windows.spec import GAP_MS, LENGTH_COUNT, LENGTH_MS, PARTIAL, SLIDE_COUNT, SLIDE_MS
from tests.framework.runtime.workers.killed import Mortal

Rows = Sequence[tuple[int, int]]
"""The number of each tuple and its time in milliseconds, in the order of time."""
Window = tuple[int | None, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Start and end in microseconds, the numbers of the tuples, those that are new, and those that expired."""


class Numbered(Spout):
    """Emits each number with its time."""

    outputs = ["number", "time"]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self._rows = rows

    def tuples(self) -> Iterator[tuple[int, int]]:
        yield from self._rows


class Tell(WindowedBolt):
    """Emits all that a window says."""

    outputs = ["start", "end", "numbers", "new", "expired"]

    def process_window(self, window: TupleWindow) -> None:
        parts = (window.tuples, window.new, window.expired)
        self.emit([window.start, window.end, *([tup.values.number for tup in part] for part in parts)])


class Both(Bolt):
    """Emits each tuple again; it keeps nothing."""

    outputs = ["number", "time"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values[:2]))


class MortalTell(Mortal, Tell):
    """Its process may be killed."""


def topology(rows: Rows, config: dict[str, Any], par: int = 1) -> TopologyBuilder:
    """Windows of all tuples, after so many tasks of a shuffle."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbered, args=[rows])
    builder.set_bolt("both", Both, par).shuffle_grouping("source")
    builder.set_bolt("windows", Tell, config=config).global_grouping("both")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    return builder


def drawn(random: Random, count: int) -> Rows:
    """Rows with ties, with gaps, on boundaries, and with times below 0."""
    time, rows = random.choice((-1000, -17, 0, 1_700_000_000_000)), []
    for number in range(count):
        rows.append((number, time))
        time += random.choice((0, 0, 1, 1, 2, 5, random.randrange(40)))
    return rows


def drawn_config(random: Random) -> dict[str, Any]:
    """Any way to form windows; sizes are multiples of intervals, or not, or smaller."""
    count, milliseconds = random.randrange(1, 9), random.choice((0.5, 1, 2, 3, 5, 7, 10, 25))
    if random.randrange(6) == 0:
        return {GAP_MS: milliseconds}
    length = random.choice(({LENGTH_COUNT: count}, {LENGTH_MS: milliseconds}))
    factor = random.choice((1, 2, 3, 0.5, 0.4))
    interval = {SLIDE_MS: milliseconds * factor}
    sliding = random.choice(({SLIDE_COUNT: random.randrange(1, 9)}, interval, interval))
    return {**length, **sliding, PARTIAL: random.randrange(2) == 0}


def expected(rows: Rows, config: dict[str, Any]) -> list[Window]:
    """The windows that fire, looked for at every end there is."""
    times = [(number, time * 1000) for number, time in rows]
    found: list[Window] = []
    before: list[int] = []
    for start, end, numbers in _windows(times, config):
        new = tuple(number for number in numbers if number not in before)
        expired = tuple(number for number in before if number not in numbers)
        found.append((start, end, tuple(numbers), new, expired))
        before = numbers
    return found


def _windows(times: Rows, config: dict[str, Any]) -> Iterator[tuple[int | None, int, list[int]]]:
    if config.get(GAP_MS) is not None:
        yield from _sessions(times, round(config[GAP_MS] * 1000))
        return
    length_us = None if LENGTH_MS not in config else round(config[LENGTH_MS] * 1000)
    for end, come in _ends(times, config, length_us):
        if length_us is None:
            chosen = come[-config[LENGTH_COUNT] :]
        else:
            chosen = [(number, time) for number, time in come if time > end - length_us]
        if chosen:
            yield (None if length_us is None else end - length_us), end, [number for number, _ in chosen]


def _ends(times: Rows, config: dict[str, Any], length_us: int | None) -> Iterator[tuple[int, Rows]]:
    """Every end at which a window may fire, with the tuples up to it."""
    if SLIDE_COUNT in config:
        every = config[SLIDE_COUNT]
        counts = list(range(every, len(times) + 1, every))
        if config.get(PARTIAL) and len(times) % every:
            counts.append(len(times))
        for count in counts:
            yield times[count - 1][1], times[:count]
        return
    slide_us = round(config[SLIDE_MS] * 1000)
    end = times[0][1] // slide_us * slide_us
    while end < times[-1][1] + (length_us or 0) + slide_us:
        come = [(number, time) for number, time in times if time <= end]
        if length_us is not None or any(time > end - slide_us for _, time in come):
            yield end, come
        end += slide_us


def _sessions(times: Rows, gap_us: int) -> Iterator[tuple[int, int, list[int]]]:
    session: list[tuple[int, int]] = []
    for number, time in [*times, (-1, times[-1][1] + gap_us)]:
        if session and time - session[-1][1] >= gap_us:
            yield session[0][1], session[-1][1] + gap_us, [found for found, _ in session]
            session = []
        session.append((number, time))
