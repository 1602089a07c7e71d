"""The input of a bolt's task: pieces of jumbo tuples from its channel, and from the ways back through cycles.

Nothing here calls a component or knows what becomes of the tuples; tasks take pieces from a `BoltInput`.
"""

from __future__ import annotations

import re
from array import array
from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from viper.payload import Row
from viper.position import Level, Position, Positions
from viper.reader import Reader, Run


class InputStream(NamedTuple):
    """One stream of one producing task. A C `Inbox` reads these fields to make tuples of a piece's rows."""

    component: str
    name: str
    task: int
    values: type[tuple[Any, ...]] | None
    """The named tuple class of the stream's values; None for a stream without declared fields."""
    level: Level
    """The level of a path at which outputs for the stream's tuples are marked. Replicas that get copies of
    the same tuples mark them apart."""


@dataclass(frozen=True, slots=True)
class InputSource:
    """One task that feeds a bolt's task."""

    name: str
    """``component:task id``."""
    streams: Mapping[int, InputStream]
    """Its streams by their tags, which are their indexes among the producer's outputs."""


Piece = tuple[list[Row], int, int, InputStream]
"""Rows, first, count, stream: ``rows[first:first + count]`` came one after the other on that stream."""


def cut(runs: Sequence[Run], sources: Sequence[InputSource], own: bool = False) -> list[Piece]:
    """Cut runs of jumbo tuples into pieces where the stream changes.

    Args:
        runs: the runs that a reader has delivered.
        sources: the producing tasks, by their index at the gate.
        own: whether to copy rows with mutable values, because other tasks get the same rows and one of them
            may change the values.
    """
    pieces: list[Piece] = []
    for index, jumbo, first, count in runs:
        streams, payload = sources[index].streams, jumbo.payload
        tags = None if jumbo.tags is None else jumbo.tags[first : first + count]
        if own and payload.mutable:
            payload, first = payload.slice(first, count).own(), 0
        if tags is None:
            (stream,) = streams.values()
            pieces.append((payload.rows, first, count, stream))
        else:
            pieces.extend(_cut_at_tags(payload.rows, first, tags, streams))
    return pieces


def _cut_at_tags(
    rows: list[Row], first: int, tags: array[int], streams: Mapping[int, InputStream]
) -> Iterator[Piece]:
    for tag, group in groupby(tags):
        count = sum(1 for _ in group)
        yield rows, first, count, streams[tag]
        first += count


def by_level(pieces: list[Piece]) -> Iterator[tuple[Level, list[Piece]]]:
    """Group successive pieces whose outputs are marked at the same level."""
    for level, group in groupby(pieces, key=lambda piece: piece[3].level):
        yield level, list(group)


def split_at(pieces: Sequence[Piece], count: int) -> tuple[list[Piece], list[Piece]]:
    """Divide pieces into those with the first `count` tuples, and the rest."""
    before: list[Piece] = []
    for index, (rows, first, size, stream) in enumerate(pieces):
        if size >= count:
            before.append((rows, first, count, stream))
            rest = [(rows, first + count, size - count, stream)] if size > count else []
            return before, rest + list(pieces[index + 1 :])
        before.append((rows, first, size, stream))
        count -= size
    return before, []


def rows_of(pieces: Sequence[Piece]) -> list[Row]:
    """All rows of pieces, in order."""
    if len(pieces) == 1:
        rows, first, count, _ = pieces[0]
        return rows if count == len(rows) else rows[first : first + count]
    joined: list[Row] = []
    for rows, first, count, _ in pieces:
        joined += rows[first : first + count]
    return joined


class Inlet:
    """One reader of a gate, and the tasks that feed it."""

    def __init__(self, reader: Reader, sources: Sequence[InputSource], shares: bool) -> None:
        """
        Args:
            reader: delivers runs of jumbo tuples.
            sources: the producing tasks, by their index at the reader's gate.
            shares: whether other replicas get the same values, and one of them may change them.
        """
        self.reader = reader
        self.sources = tuple(sources)
        self._shares = shares

    def take(self, limit: int, positions: Positions) -> list[Piece]:
        """Take tuples that are ready.

        Args:
            limit: the most tuples to take.
            positions: the positions of the tuples are appended here.

        Raises:
            CodecError: a jumbo tuple from another process cannot be decoded here.
        """
        return cut(self.reader.get_ready(limit, positions), self.sources, self._shares)


class BoltInput:
    """The whole input of one task of a bolt."""

    def __init__(
        self,
        reader: Reader,
        sources: Sequence[InputSource],
        feedback: Sequence[tuple[Reader, InputSource]],
        shares: bool,
    ) -> None:
        """
        Args:
            reader: the reader of the task's channel.
            sources: the producing tasks, by their index at the channel's gate.
            feedback: the readers of the ways back through cycles, with their producing tasks.
            shares: whether other replicas get the same values, and one of them may change them.
        """
        self.channel = Inlet(reader, sources, shares)
        self.feedback = tuple(Inlet(back, (source,), shares) for back, source in feedback)
        inlets = (self.channel, *self.feedback)
        streams = [s for inlet in inlets for source in inlet.sources for s in source.streams.values()]
        self._has_one_level = len({stream.level for stream in streams}) == 1

    @property
    def is_cyclic(self) -> bool:
        """Whether tuples come back to the task through a cycle."""
        return bool(self.feedback)

    @property
    def has_producers(self) -> bool:
        """Whether any task sends tuples to this one; otherwise it receives only ticks."""
        return any(source.streams for inlet in (self.channel, *self.feedback) for source in inlet.sources)

    def by_level(self, pieces: list[Piece]) -> Iterable[tuple[Level, list[Piece]]]:
        """Group successive pieces whose outputs are marked at the same level; there is at least one piece."""
        if self._has_one_level:
            return ((pieces[0][3].level, pieces),)
        return by_level(pieces)

    def is_ready(self) -> bool:
        """Whether a tuple could be processed now."""
        return self.channel.reader.ready() or any(back.reader.ready() for back in self.feedback)

    @property
    def held_by(self) -> str | None:
        """The task that holds the input back, as ``component:task id``; None if there is none."""
        held = self.channel.reader.holding_source()
        return None if held is None else self.channel.sources[held].name

    @property
    def waits(self) -> bool:
        """Whether there is input that cannot be processed yet."""
        return self.channel.reader.waiting_tuples() > 0

    def watermark(self) -> Position:
        """The position below which no tuple will come any more, except through a cycle."""
        return self.channel.reader.watermark()

    def last_ts(self) -> int:
        """The latest event time in microseconds that any producer has reached, as the producers tell it."""
        return self.channel.reader.last_ts()

    def done_with(self, waiting: int) -> None:
        """Note that all tuples that were taken have been processed.

        Args:
            waiting: untracked outputs of theirs that still wait for room; if the process dies, they are lost.
        """
        self.channel.reader.working(waiting)
        for back in self.feedback:
            back.reader.working(0)


@lru_cache(maxsize=1024)
def values_class(component: str, stream: str, fields: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """The named tuple class of a stream's values, with the name that pystorm gives it.

    A field whose name is no identifier is called ``_0``, ``_1`` and so on, by its index. Instances can be
    pickled, because a component may emit them within other values.
    """
    name = _identifier(component) + _identifier(stream) + "Tuple"
    made: type[tuple[Any, ...]] = namedtuple(name, fields, rename=True)  # type: ignore[misc]

    def reduce(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return _values, (component, stream, fields, tuple(values))

    made.__reduce__ = reduce  # type: ignore[assignment, method-assign]
    made._stream = f"{component}:{stream}"  # type: ignore[attr-defined]
    return made


def _values(component: str, stream: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Make values again from their pickled form."""
    return values_class(component, stream, fields)(*values)


def _identifier(text: str) -> str:
    return re.sub(r"\W|^(?=\d)", "_", text.title())
