"""The records of CSV text: of a whole file, or of one that grows."""

from __future__ import annotations

import csv
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Any

Batch = tuple[list[list[str]], csv.Error | None]
"""Some records, and what is wrong with the one behind them."""


def records_of(lines: Iterable[str], dialect: dict[str, Any], most: int) -> Iterator[Batch]:
    """The records of a whole text, at most so many at a time.

    Args:
        lines: its lines, with their ends.
        dialect: arguments of `csv.reader`.
        most: the most records of a batch.
    """
    reader = csv.reader(lines, strict=True, **dialect)
    while True:
        records: list[list[str]] = []
        try:
            records.extend(islice(reader, most))
        except csv.Error as error:
            yield records, error
            continue
        if not records:
            return
        yield records, None


def appended_records(
    texts: Iterable[str | None], dialect: dict[str, Any], most: int
) -> Iterator[Batch | None]:
    """The records of a text that grows; one whose last line has not come whole waits, and so does one with a
    quote that is not closed.

    Args:
        texts: the text piece by piece; None where there is nothing more for now.
        dialect: as of `records_of`.
        most: likewise.

    Yields:
        Batches; None where there is nothing more for now.
    """
    waiting: list[str] = []
    begun: list[str] = []
    for text in texts:
        if text is None:
            yield None
            continue
        first, newline, others = text.partition("\n")
        begun.append(first)
        if newline:
            *lines, rest = others.split("\n")
            waiting += [f"{line}\n" for line in ("".join(begun), *lines)]
            begun = [rest]
            used = yield from _parsed(waiting, dialect, most, is_whole=False)
            del waiting[:used]
    if last := "".join(begun):
        waiting.append(last)
    yield from _parsed(waiting, dialect, most, is_whole=True)


def _parsed(
    lines: list[str], dialect: dict[str, Any], most: int, *, is_whole: bool
) -> Generator[Batch, None, int]:
    """Batches of the records that are whole; returns how many lines they take."""
    given = _Lines(lines)
    reader = csv.reader(given, strict=True, **dialect)
    used = 0
    while True:
        records: list[list[str]] = []
        problem: csv.Error | None = None
        try:
            for record in islice(reader, most):
                records.append(record)
                used = reader.line_num
        except csv.Error as error:
            if not given.have_ended or is_whole:
                problem, used = error, reader.line_num
        if records or problem is not None:
            yield records, problem
        if problem is None and len(records) < most:
            return used


class _Lines:
    """Lines that remember whether one more was asked for than there are, as the last record is not whole."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.have_ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for line in self._lines:
            return line
        self.have_ended = True
        raise StopIteration
