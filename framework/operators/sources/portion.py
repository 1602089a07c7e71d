"""The rows of a file in portions, with malformed ones among them."""

from __future__ import annotations

import logging
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from framework.model.errors import SourceError
from framework.model.topology import did_you_mean, one_of
from framework.operators.components import Block

ON_MALFORMED: Final = ("error", "skip", "stream")
"""The choices for malformed rows."""
MALFORMED: Final = "malformed"
"""The stream that they may go to."""
MALFORMED_FIELDS: Final = ("file", "line", "raw", "reason")
_MOST_LOGGED: Final = 10
NO_TIME: Final = -(2**63)
"""The time of the last row, where there was none."""


class Malformed(NamedTuple):
    """A record that no row could be made of."""

    number: int
    """Its number among the records of its file."""
    row: tuple[Any, ...]
    """The row for the stream of malformed rows."""


class Portion(NamedTuple):
    """Some rows of a file."""

    rows: Any
    """A list of tuples, or a record batch on a stream with a schema."""
    numbers: Sequence[int]
    """The number of each row among the records of its file, malformed ones included, from 0."""
    times: Sequence[int] | None
    """The event time of each row in microseconds since 1970 UTC; None where the source has no such field."""
    end: int
    """The number of records of the file that have been read so far."""
    malformed: Sequence[Malformed] = ()
    """The malformed records among them, where they go to a stream of their own."""

    def part(self, times: array[int], start: int, end: int, *, mutable: bool) -> Numbered:
        """A block of some of the rows, whose times are among those of all of them."""
        if end - start == len(times):
            return Block(times, self.rows, mutable), self.numbers
        is_list = isinstance(self.rows, list)
        rows = self.rows[start:end] if is_list else self.rows.slice(start, end - start)
        return Block(times[start:end], rows, mutable), self.numbers[start:end]


Numbered = tuple[Block, Sequence[int]]
"""A block, and the number of each of its rows among the records of their file."""


class Refusals:
    """Deals with the malformed records of a source as `on_malformed` says.

    Args:
        choice: one of `ON_MALFORMED`.
        advice: what an error says behind the reason.

    Raises:
        SourceError: it is none of them.
    """

    def __init__(self, choice: str, advice: str = "") -> None:
        if choice not in ON_MALFORMED:
            expected = f"expected {one_of(ON_MALFORMED)}{did_you_mean(str(choice), ON_MALFORMED)}"
            raise SourceError(f"on_malformed is {choice!r}: {expected}")
        self.choice = choice
        self._advice = advice
        self.count = 0
        """The number of records that were left out, or have gone to their stream."""

    @property
    def has_stream(self) -> bool:
        """True if they go to a stream of their own."""
        return self.choice == "stream"

    def refuse(
        self,
        number: int,
        error: Exception,
        described: Callable[[], tuple[str, tuple[Any, ...]]],
        logger: logging.Logger,
    ) -> Sequence[Malformed]:
        """End the run at a record, or count it; returns what is to be emitted of it.

        Args:
            number: of the record.
            error: the reason.
            described: tells where it is, for messages, and its row for their stream, without the reason.
            logger: takes a warning of each of the first ones that are left out.

        Raises:
            SourceError: the run is to end.
        """
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        if self.choice == "error":
            raise SourceError(f"{described()[0]}: {reason}{self._advice}") from None
        self.count += 1
        if self.has_stream:
            return [Malformed(number, (*described()[1], reason))]
        if self.count <= _MOST_LOGGED:
            last = "; further ones are counted only" if self.count == _MOST_LOGGED else ""
            logger.warning("left out: %s: %s%s", described()[0], reason, last)
        return ()


class Mixing:
    """Puts malformed rows among the others of a partition.

    If the number of a row is its time, this holds for malformed rows, too. Otherwise each has the latest time
    of all rows before it, so that none is late. Malformed rows before any other have the time of the first
    one.

    Args:
        by_number: whether the number of a row is its time.
    """

    def __init__(self, *, by_number: bool) -> None:
        self._by_number = by_number
        self._begun: list[Malformed] = []
        """The malformed rows before any row that has a time."""

    def blocks(
        self, portion: Portion, times: array[int], base: int, latest_us: int, *, mutable: bool
    ) -> Iterator[Numbered]:
        """The blocks of a portion.

        Args:
            portion: the rows.
            times: the time of each.
            base: how many records there were in the files before.
            latest_us: the latest time of all rows before, or `NO_TIME`.
            mutable: whether a row may hold a value that a consumer can change.
        """
        if not self._by_number and latest_us == NO_TIME:
            self._begun += portion.malformed if not times else ()
            if not times:
                return
            latest_us = times[0]
            if self._begun:
                yield _block(self._begun, [latest_us] * len(self._begun))
                self._begun = []
        done = 0
        for end, some in groupby(portion.malformed, lambda found: bisect_left(portion.numbers, found.number)):
            if end > done:
                yield portion.part(times, done, end, mutable=mutable)
                latest_us = max(latest_us, *times[done:end])
                done = end
            found = list(some)
            own = [base + one.number for one in found] if self._by_number else [latest_us] * len(found)
            yield _block(found, own)
        if done < len(times):
            yield portion.part(times, done, len(times), mutable=mutable)

    def check_end(self, place: Callable[[Malformed], str]) -> None:
        """See to it that all malformed rows have had a time.

        Args:
            place: where one is, for the message.

        Raises:
            SourceError: there was no row that has one.
        """
        if self._begun:
            raise SourceError(
                f"{place(self._begun[0])}: no row has a time, so malformed ones have none either: check "
                "'timestamp', or leave them out (on_malformed='skip')"
            )


def _block(malformed: Sequence[Malformed], times: list[int]) -> Numbered:
    rows = [found.row for found in malformed]
    return Block(array("q", times), rows, stream=MALFORMED), [found.number for found in malformed]
