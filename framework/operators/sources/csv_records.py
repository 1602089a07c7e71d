"""The records of CSV text: of a whole file, or of one that grows."""

from __future__ import annotations

import importlib.util
import re
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from io import StringIO
from itertools import accumulate, chain, islice, tee
from typing import Any, Final, NamedTuple

FIELD_LIMIT: Final = 131_072
"""The most characters of a value, unless somebody says otherwise: as many as of Python's own `csv`."""


class CsvForm(NamedTuple):
    """The form in which records are written."""

    delimiter: str
    """The character between two values."""
    quote: str | None
    """The character around a value; None for none."""
    limit: int = FIELD_LIMIT
    """The most characters of a value."""

    def reader(self, lines: Iterable[str]) -> Any:
        """Reads records of lines, which have their ends, as `csv.reader` does.

        Raises:
            TypeError: the delimiter or the quote is not one character.
        """
        made = _csv_within(self.limit).reader
        return made(lines, strict=True, delimiter=self.delimiter, quotechar=self.quote)

    @property
    def error(self) -> type[Exception]:
        """The class of what `reader` raises at a malformed record."""
        found: type[Exception] = _csv_within(self.limit).Error
        return found

    def last_value(self, text: str) -> tuple[int, int]:
        """Find the wrong value in the text of a malformed record: where it begins, and how far it is read."""
        delimiter, quote = re.escape(self.delimiter), re.escape(self.quote or "")
        plain = re.compile(f"[^{delimiter}\r\n]*")
        quoted = re.compile(f"{quote}[^{quote}]*(?:{quote}{quote}[^{quote}]*)*{quote}?") if quote else plain
        at = 0
        while True:
            is_quoted = self.quote is not None and text.startswith(self.quote, at)
            found = (quoted if is_quoted else plain).match(text, at)
            end = at if found is None else found.end()
            if text[end : end + 1] != self.delimiter or end - at > self.limit:
                return at, end
            at = end + 1


@lru_cache(maxsize=16)
def _csv_within(limit: int) -> Any:
    """The module `_csv`, with a limit of its own: that of the one that all share is nobody's to change."""
    spec = importlib.util.find_spec("_csv")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.field_size_limit(limit)
    return module


class Batch:
    """Some records that follow each other, perhaps with a malformed one behind them.

    Args:
        records: the values of each.
        lines: all their lines, and those of the malformed record behind them.
        line: the number in the file of the first one of the lines, from 1.
        form: how they are written.
        problem: what is wrong with the record behind them, if there is one.
    """

    def __init__(
        self,
        records: list[list[str]],
        lines: Sequence[str],
        line: int,
        form: CsvForm,
        problem: str | None = None,
    ) -> None:
        self.records = records
        self.problem = problem
        self._lines = lines
        self._line = line
        self._form = form

    def behind_first(self) -> Batch:
        """The same without the first record, if there is one."""
        begin = self.ends[0] if self.ends else 0
        return Batch(self.records[1:], self._lines[begin:], self._line + begin, self._form, self.problem)

    def raw(self, index: int) -> tuple[int, str]:
        """The number of a record's first line, and its text as it is in the file.

        Args:
            index: of the record in the batch; the malformed one comes after all others.
        """
        begin = self.ends[index - 1] if index else 0
        end = self.ends[index] if index < len(self.ends) else len(self._lines)
        return self._line + begin, "".join(self._lines[begin:end]).rstrip("\r\n")

    @cached_property
    def ends(self) -> Sequence[int]:
        """For each record how many of the lines there are up to its end; found when it is needed, as it takes
        as long as the records themselves."""
        reader = self._form.reader(self._lines)
        return [reader.line_num for _ in islice(reader, len(self.records))]


def records_of(lines: Iterable[str], form: CsvForm, most: int) -> Generator[Batch]:
    """The records of a whole text, at most so many at a time.

    Args:
        lines: its lines, with their ends.
        form: how they are written.
        most: the most records of a batch.
    """
    yield from _batches(lines, 1, form, most, is_whole=True)


def appended_records(texts: Iterable[str | None], form: CsvForm, most: int) -> Generator[Batch | None]:
    """Yield the records of a text that grows.

    A record whose last line is not complete yet waits. So does one with a quote that is not closed, for as
    long as its value is within the limit.

    Args:
        texts: the text piece by piece; None where there is nothing more for now.
        form: as of `records_of`.
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
        if "\n" not in text and "\r" not in text:
            begun.append(text)
            continue
        waiting += StringIO("".join([*begun, text]), newline="").readlines()
        begun = [] if waiting[-1].endswith(("\n", "\r")) else [waiting.pop()]
        used = yield from _batches(waiting, line, form, most, is_whole=False)
        line += used
        del waiting[:used]
    yield from _batches([*waiting, *begun], line, form, most, is_whole=True)


def _batches(
    lines: Iterable[str], line: int, form: CsvForm, most: int, *, is_whole: bool
) -> Generator[Batch, None, int]:
    """Batches of the records that are whole; returns how many lines they take.

    A malformed record has the lines up to that in which the value begins that is wrong: a quote that is not
    closed takes no others with it. The copy of the lines that `tee` makes takes 5 % of the time of reading
    a record with its types.
    """
    first, rest, again = line, iter(lines), list[str]()
    while True:
        ended: list[bool] = []
        live, kept = tee(chain(again, rest, _noting(ended)))
        reader, seen, error = form.reader(live), 0, None
        while error is None:
            records: list[list[str]] = []
            try:
                records.extend(islice(reader, most))
            except form.error as found:
                error = found
            taken = list(islice(kept, reader.line_num - seen))
            seen = reader.line_num
            batch = Batch(records, taken, line, form)
            if error is None:
                if records:
                    yield batch
                line += len(taken)
                if len(records) < most:
                    return line - first
        begin = batch.ends[-1] if records else 0
        if ended and not is_whole:
            if records:
                yield Batch(records, taken[:begin], line, form)
            return line + begin - first
        problem, extent = _malformed(taken[begin:], line + begin, form, error, has_ended=bool(ended))
        end = begin + extent
        yield Batch(records, taken[:end], line, form, problem)
        again = taken[end:] + again[seen:]
        line += end


def _noting(ended: list[bool]) -> Iterator[str]:
    """No line; notes that one more was asked for than there are, as the last record is not whole."""
    ended.append(True)
    yield from ()


def _malformed(
    lines: Sequence[str], line: int, form: CsvForm, error: Exception, *, has_ended: bool
) -> tuple[str, int]:
    """Return the fault of a record, and the number of its lines.

    Args:
        lines: from its first one to the one in which it was found to be wrong.
        line: the number of the first one.
        form: how it should be written.
        error: what `csv` says.
        has_ended: whether the text has ended within it.
    """
    text = "".join(lines)
    at, end = form.last_value(text)
    index = min(bisect_right(list(accumulate(map(len, lines))), at), len(lines) - 1)
    opened, last = line + index, line + len(lines) - 1
    if has_ended:
        problem = f"the quote that opens in line {opened} is not closed up to the end of the file"
    elif "field limit" in str(error):
        problem = f"a value has more than {form.limit:,} characters: raise field_limit to take it"
        if opened < last:
            problem = (
                f"the quote that opens in line {opened} is not closed within {form.limit:,} characters, up "
                f"to line {last}: close it, or raise field_limit if there are such values"
            )
    else:
        expected = f"expected {form.delimiter!r} or the end of the line behind a closing quote"
        problem = f"{expected}, found {text[end : end + 20].splitlines()[0]!r}"
        if opened < last:
            problem += f" in line {last}: is the quote that opens in line {opened} closed?"
    return problem, index + 1
