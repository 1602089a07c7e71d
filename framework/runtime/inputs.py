"""What a bolt's task knows of the tasks that feed it, and jumbo tuples cut into pieces."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from framework.runtime.destination import Row, TaggedRows
from viper.position import Level


@dataclass(frozen=True, slots=True)
class InputStream:
    """One stream of one producing task, as its tuples show it."""

    name: str
    values: type[tuple[Any, ...]] | None
    """The named tuple class of its values."""
    level: Level
    """Where outputs for its tuples are marked: with the replica where tuples are copied."""


@dataclass(frozen=True, slots=True)
class InputSource:
    """One producing task."""

    task: int
    component: str
    streams: Mapping[int, InputStream]
    """By tag: the index among the producer's outputs."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows in a row that came from one source on one stream."""

    source: InputSource
    stream: InputStream
    rows: list[Row]
    first: int
    count: int

    def part(self, start: int, stop: int) -> Piece:
        """The rows from ``start`` up to ``stop``, counted within the piece."""
        return Piece(self.source, self.stream, self.rows, self.first + start, stop - start)


def pieces(source: InputSource, payload: list[Row], first: int, count: int) -> Iterator[Piece]:
    """A run of a jumbo tuple, cut where the stream changes."""
    if not isinstance(payload, TaggedRows):
        (stream,) = source.streams.values()
        yield Piece(source, stream, payload, first, count)
        return
    for tag, group in groupby(payload.tags[first : first + count]):
        size = sum(1 for _ in group)
        yield Piece(source, source.streams[tag], payload, first, size)
        first += size


@lru_cache(maxsize=1024)
def values_class(component: str, stream: str, fields: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """The named tuple class of a stream's values, named as pystorm names it.

    A field whose name is no identifier is reached by its index: it is called ``_0``, ``_1`` and so on.
    """
    name = _identifier(component) + _identifier(stream) + "Tuple"
    return namedtuple(name, fields, rename=True)


def _identifier(text: str) -> str:
    return re.sub(r"\W|^(?=\d)", "_", text.title())
