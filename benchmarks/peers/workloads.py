"""The workloads, each defined once: its input, and what has to come out of it.

Every program of the comparison imports this module, also those that run in a peer's own environment. So it
uses the standard library only. The input is made in memory before the clock starts, the same for everybody.
"""

from __future__ import annotations

import gzip
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]

TEXT = Path(__file__).parents[2] / "topologies" / "data" / "kjv.txt.gz"
RECORDS = 200_000
"""Records that are made; larger inputs repeat them. They take half of a second to make."""
KEYS = 10_000
"""Different ids in the records."""
KEPT_FROM = 1.0
"""The least value that a filter keeps. Values are spread evenly from 0 to 100, so it keeps 99 %."""


class Workload(ABC):
    """One task that is set to every system alike."""

    name: str
    kind: str
    """The task without its sizes: programs for one do all of its kind."""
    title: str
    """For people: what a system does with each row."""
    unit: str
    """The unit that is counted per second, in the plural."""
    fields: Sequence[str]
    """Names of the values of an input row."""
    size: int
    """Rows of a measured run."""
    quick_size: int
    """Rows of a run that only shows that everything works."""

    @property
    @abstractmethod
    def base(self) -> Sequence[Row]:
        """The rows that the input repeats."""

    @abstractmethod
    def outputs(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The definition: every row that has to reach the sink."""

    def rows(self, size: int, part: int = 0, parts: int = 1) -> list[Row]:
        """Return this number of rows of input; of n parts one, which takes every n-th row."""
        return list(islice(cycle(self.base), part, size, parts))

    def key(self, output: Row) -> Any:
        """Identify outputs that replace each other for a system that only keeps the newest; here none do."""
        return output

    def units(self, size: int) -> int:
        """Count the units in so many rows of input."""
        return size

    def count(self, size: int) -> int:
        """Count the rows that have to reach the sink of so many rows of input."""
        return sum(1 for _ in self.outputs(self.rows(size)))


class WordCount(Workload):
    """Splits lines, and emits every word with its count so far."""

    name = kind = unit = "words"
    title = "Word count, every word emitted"
    fields = ("line",)
    size, quick_size = 2 * 31_102, 3_000

    @cached_property
    def base(self) -> Sequence[Row]:
        """The lines of a long text."""
        with gzip.open(TEXT, "rt", encoding="utf-8") as text:
            return [(line,) for line in text.read().splitlines()]

    def outputs(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Each word and its count."""
        counts: dict[str, int] = {}
        for (line,) in rows:
            for word in line.split():
                counts[word] = counts.get(word, 0) + 1
                yield word, counts[word]

    def key(self, output: Row) -> Any:
        """The word."""
        return output[0]

    def units(self, size: int) -> int:
        """Words of each pass over the base, so that inputs may be long."""
        passes, rest = divmod(size, len(self.base))
        words = [len(line.split()) for (line,) in self.base]
        return passes * sum(words) + sum(words[:rest])

    def count(self, size: int) -> int:
        """Count the words, each of which is emitted."""
        return self.units(size)


class Filter(Workload):
    """Keeps the records of which the last value is large enough, which are 99 %.

    Args:
        name: of the workload.
        fields: of the records, of which the last is compared.
        size: rows of a measured run.
    """

    kind, unit = "filter", "records"
    quick_size = 20_000

    def __init__(self, name: str, fields: Sequence[str], size: int) -> None:
        self.name, self.fields, self.size = name, fields, size
        self.title = f"Filter that keeps 99 % of records of {len(fields)} fields"

    @cached_property
    def base(self) -> Sequence[Row]:
        """Records of a number, an id, further numbers and the value, as many as there are fields."""
        between = max(len(self.fields) - 3, 0)
        # Two million values are made at most, so that wide records take neither memory nor time.
        count = min(RECORDS, 2_000_000 // len(self.fields))
        rows = []
        for number, drawn in zip(range(count), numbers(12345), strict=False):
            made = (number, drawn % KEYS, *range(drawn, drawn + between), drawn % 100_000 / 1000)
            rows.append(made[-len(self.fields) :])
        return rows

    def outputs(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows that are kept."""
        return (row for row in rows if row[-1] >= KEPT_FROM)

    def count(self, size: int) -> int:
        """Count the rows of each pass over the base, so that inputs for columns may be long."""
        passes, rest = divmod(size, len(self.base))
        kept: list[bool] = [row[-1] >= KEPT_FROM for row in self.base]
        return passes * sum(kept) + sum(kept[:rest])


class Changes(Workload):
    """Emits a record when the segment of its id differs from the id's record before."""

    name = kind = "changes"
    title, unit = "Keyed state, a third of the records change it and are emitted", "records"
    fields = ("ts", "id", "segment")
    size, quick_size = 1_000_000, 20_000

    @cached_property
    def base(self) -> Sequence[Row]:
        """Records of ids that move on to the next segment by a third of them."""
        segments = [0] * KEYS
        rows = []
        for number, drawn in zip(range(RECORDS), numbers(54321), strict=False):
            segments[drawn % KEYS] += drawn // KEYS % 3 == 0
            rows.append((number, drawn % KEYS, segments[drawn % KEYS]))
        return rows

    def outputs(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The records that changed something."""
        segments: dict[int, int] = {}
        for row in rows:
            if segments.get(row[1]) != row[2]:
                segments[row[1]] = row[2]
                yield row

    def key(self, output: Row) -> Any:
        """The id."""
        return output[1]


class Paced(Workload):
    """Counts keys that come on a schedule, whatever becomes of them; the delay is what is measured.

    Its rows have one more value at the sink: the time for which a row was scheduled.

    Args:
        name: of the workload.
        rate: rows a second.
    """

    kind, unit = "latency", "tuples"
    fields = ("key", "scheduled_ns")
    warm_up_s = 1

    def __init__(self, name: str, rate: int) -> None:
        self.name, self.rate = name, rate
        self.title = f"Latency at {rate:,} tuples a second"
        self.size, self.quick_size = rate * (self.warm_up_s + 4), rate * self.warm_up_s + rate // 10

    @cached_property
    def base(self) -> Sequence[Row]:
        """The keys, without times."""
        return [(key,) for key in range(1000)]

    def outputs(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Each key with its count so far."""
        counts: dict[int, int] = {}
        for key, *_ in rows:
            counts[key] = counts.get(key, 0) + 1
            yield key, counts[key]

    def schedule(self, size: int, part: int = 0, parts: int = 1) -> Iterator[Row]:
        """Each key with the monotonic time in nanoseconds at which it is due, from now on.

        Args:
            size: rows of all parts together.
            part: the part that is wanted, which has every n-th row, of n parts.
            parts: the number of parts.
        """
        start = time.monotonic_ns()
        for number in range(part, size, parts):
            yield number % len(self.base), start + number * 1_000_000_000 // self.rate


@dataclass(frozen=True, slots=True)
class Expected:
    """The figures of a right run."""

    units: int
    """The number that the rate is made of."""
    rows: int
    """Rows at the sink."""
    digest: int | None = None
    """`digest` of them, in any order; None where rows are only counted."""
    newest: int | None = None
    """`digest` of the newest row of each key; None likewise."""


def expected(workload: Workload, size: int, *, exact: bool) -> Expected:
    """Compute the output for so many rows by the definition of a workload.

    Args:
        workload: the workload.
        size: rows of input.
        exact: whether the rows are inspected, and not only counted.
    """
    if not exact:
        return Expected(workload.units(size), workload.count(size))
    rows = digests = 0
    newest: dict[Any, Row] = {}
    for row in workload.outputs(workload.rows(size)):
        rows += 1
        digests += digest([row])
        newest[workload.key(row)] = row
    return Expected(workload.units(size), rows, digests, digest(newest.values()))


def digest(rows: Iterable[Row]) -> int:
    """A sum over rows, for which their order does not matter."""
    return sum(zlib.crc32(repr(row).encode()) for row in rows)


def numbers(seed: int) -> Iterator[int]:
    """Numbers that look random and are the same everywhere: a linear congruential generator's upper bits."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


WIDTHS = (1, 3, 10, 30, 100)
"""Fields of the records of which the growth with the width is measured."""


def _all() -> Iterator[Workload]:
    yield WordCount()
    yield Filter("filter", ("ts", "id", "value"), 2_000_000)
    yield Changes()
    yield Paced("latency", 20_000)
    yield Paced("latency-1000", 1_000)
    for width in WIDTHS:
        names = [*(f"value{number}" for number in range(1, width)), "value"]
        yield Filter(f"width {width}", names, 1_000_000 if width < 30 else 300_000)


WORKLOADS = {workload.name: workload for workload in _all()}
"""By name."""
