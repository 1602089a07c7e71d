"""What a bolt's task knows of the tasks that feed it, and jumbo tuples cut into pieces."""

from __future__ import annotations

import re
from array import array
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from viper.payload import Row
from viper.position import Level
from viper.reader import Run


class InputStream(NamedTuple):
    """One stream of one producing task, as its tuples show it; the head of a piece in an inbox."""

    component: str
    name: str
    task: int
    values: type[tuple[Any, ...]] | None
    """The named tuple class of its values."""
    level: Level
    """Where outputs for its tuples are marked: with the replica where tuples are copied."""


@dataclass(frozen=True, slots=True)
class InputSource:
    """One producing task."""

    name: str
    """``component:task id``."""
    streams: Mapping[int, InputStream]
    """By tag: the index among the producer's outputs."""


Piece = tuple[list[Row], int, int, InputStream]
"""Rows, first, count, stream: ``rows[first:first + count]`` came in a row on that stream."""


def cut(runs: Sequence[Run], sources: Sequence[InputSource], own: bool = False) -> list[Piece]:
    """Runs of jumbo tuples, cut where the stream changes.

    Args:
        runs: what a reader delivered.
        sources: the producing tasks, by their index at the gate.
        own: whether others get the same rows, and one of them may change their values.
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
    """Pieces in a row whose outputs are marked at the same level."""
    for level, group in groupby(pieces, key=lambda piece: piece[3].level):
        yield level, list(group)


def split_at(pieces: Sequence[Piece], count: int) -> tuple[list[Piece], list[Piece]]:
    """The first so many tuples of pieces, and the rest."""
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


@lru_cache(maxsize=1024)
def values_class(component: str, stream: str, fields: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """The named tuple class of a stream's values, named as pystorm names it.

    A field whose name is no identifier is reached by its index: it is called ``_0``, ``_1`` and so on.
    Its instances may be emitted again within other values, so they can be pickled.
    """
    name = _identifier(component) + _identifier(stream) + "Tuple"
    made: type[tuple[Any, ...]] = namedtuple(name, fields, rename=True)  # type: ignore[misc]

    def reduce(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return _values, (component, stream, fields, tuple(values))

    made.__reduce__ = reduce  # type: ignore[assignment, method-assign]
    made._stream = f"{component}:{stream}"  # type: ignore[attr-defined]
    return made


def _values(component: str, stream: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Values anew from their pickled form."""
    return values_class(component, stream, fields)(*values)


def _identifier(text: str) -> str:
    return re.sub(r"\W|^(?=\d)", "_", text.title())
