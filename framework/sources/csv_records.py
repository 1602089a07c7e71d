"""The records of CSV text: of a whole file, or of one that grows."""

from __future__ import annotations

import csv
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple


class Batch(NamedTuple):
    """Some records that follow each other."""

    records: list[list[str]]
    error: csv.Error | None = None
    """What is wrong with the record behind them."""
    lines: Sequence[str] = ()
    """All their lines, and those of the malformed record behind them, where lines are kept."""
    ends: Sequence[int] = ()
    """For each record how many of the lines there are up to its end."""
    line: int = 1
    """The number in the file of the first one of the lines, from 1."""

    def behind_first(self) -> Batch:
        """The same without the first record, if there is one."""
        begin = self.ends[0] if self.ends else 0
        ends = [end - begin for end in self.ends[1:]]
        return Batch(self.records[1:], self.error, self.lines[begin:], ends, self.line + begin)

    def raw(self, index: int) -> tuple[int, str]:
        """The number of a record's first line, and its text as it stands there; where lines are kept.

        Args:
            index: of the record in the batch; the malformed one stands behind all others.
        """
        begin = self.ends[index - 1] if index else 0
        end = self.ends[index] if index < len(self.ends) else len(self.lines)
        return self.line + begin, "".join(self.lines[begin:end]).rstrip("\r\n")


def records_of(lines: Iterable[str], dialect: dict[str, Any], most: int) -> Iterator[Batch]:
    """The records of a whole text, at most so many at a time; their lines are not kept.

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
            yield Batch(records, error)
            continue
        if not records:
            return
        yield Batch(records)


def appended_records(
    texts: Iterable[str | None], dialect: dict[str, Any], most: int
) -> Iterator[Batch | None]:
    """The records of a text that grows, with their lines; one whose last line has not come whole waits, and
    so does one with a quote that is not closed.

    Args:
        texts: the text piece by piece; None where there is nothing more for now.
        dialect: as of `records_of`.
        most: likewise.

    Yields:
        Batches; None where there is nothing more for now.
    """
    waiting: list[str] = []
    begun: list[str] = []
    line = 1
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
            used = yield from _parsed(waiting, line, dialect, most, is_whole=False)
            line += used
            del waiting[:used]
    if last := "".join(begun):
        waiting.append(last)
    yield from _parsed(waiting, line, dialect, most, is_whole=True)


def _parsed(
    lines: list[str], line: int, dialect: dict[str, Any], most: int, *, is_whole: bool
) -> Generator[Batch, None, int]:
    """Batches of the records that are whole; returns how many lines they take."""
    given = _Lines(lines)
    reader = csv.reader(given, strict=True, **dialect)
    used = 0
    while True:
        before = used
        records: list[list[str]] = []
        ends: list[int] = []
        problem: csv.Error | None = None
        try:
            for record in islice(reader, most):
                records.append(record)
                used = reader.line_num
                ends.append(used - before)
        except csv.Error as error:
            if not given.have_ended or is_whole:
                problem, used = error, reader.line_num
        if records or problem is not None:
            yield Batch(records, problem, lines[before:used], ends, line + before)
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
