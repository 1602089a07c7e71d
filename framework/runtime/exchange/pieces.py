"""Pieces of the input of a bolt's task: rows that follow one another, with the streams that they came on.

If the tuples of a stretch of a jumbo tuple follow one another, they are a piece, which refers to the jumbo
tuple's rows. If sources interleave so finely that such stretches are short, all their rows are put in order
in one piece, and each row has the index of its stream: an object for every few tuples would cost more than
the tuples. Whoever reads pieces need not know which kind they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from framework.runtime.exchange.reader import SortedInPython
from viper.addressed import own_rows
from viper.link import Link
from viper.payload import Payload, Row, Rows, interleaved, worth_joining
from viper.position import Level, Positions
from viper.reader import Reader, Run
from viper.rows import interleave_tags
from viper.schema import Schema

Key = TypeVar("Key")

_MOST_STREAMS: Final = 1 << 16
"""The indexes of a piece's streams are numbers of 16 bits."""


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
    schema: Schema | None = None
    """The types of the values; None for a stream that carries any."""
    key: tuple[int, ...] | None = None
    """Indexes of the fields that name the key of the component's state; None for a stream without one."""
    beside: int = 0
    """The number of values at the end of each row that are an address (`viper.addressed`)."""
    sealed: bool = False
    """True if nobody can change any of the values, as `viper.payload.Rows.sealed` of the rows says."""


@dataclass(frozen=True, slots=True)
class InputSource:
    """One task that feeds a bolt's task."""

    name: str
    """``component:task id``."""
    streams: Mapping[int, InputStream]
    """Its streams by their tags, which are their indexes among the producer's outputs."""


Delivering: TypeAlias = Reader | Link | SortedInPython
"""Delivers runs of jumbo tuples."""
Streams: TypeAlias = tuple[InputStream, ...]
PieceOfOne: TypeAlias = tuple[Any, int, int, InputStream]
"""Rows, first, count, stream: ``rows[first:first + count]`` came one after the other on that stream. The rows
are a list of tuples, or a payload for a component that takes many tuples at once."""
PieceOfSeveral: TypeAlias = tuple[Any, int, int, Streams, bytes]
"""Rows, first, count, streams, which: likewise, with the index in `streams` of each row's stream, as native
uint16 for all the rows."""
Piece: TypeAlias = PieceOfOne | PieceOfSeveral


class Cutter:
    """Makes pieces of what a reader delivers.

    Args:
        reader: delivers runs of jumbo tuples.
        sources: the producing tasks, by their index at the reader's gate.
        copies: whether to copy rows with mutable values, because other tasks get the same rows and one of
            them may change the values.
        whole: whether pieces are to hold payloads, not lists of rows.
        borrows: whether columns may lie in memory that the reader asks back.
        own: the key groups of the task, where rows are addressed and those that concern none of them are to
            be None; else None.
    """

    def __init__(
        self,
        reader: Delivering,
        sources: Sequence[InputSource],
        *,
        copies: bool,
        whole: bool,
        borrows: bool = False,
        own: range | None = None,
    ) -> None:
        self._own = own
        self._reader = reader
        self._sources = tuple(sources)
        self._copies = copies
        self._whole = whole
        self._borrows = borrows
        streams: list[InputStream] = []
        self._bases: list[int] = []
        """The first number of the streams of each source among all; a tag is added to it."""
        for source in sources:
            self._bases.append(len(streams))
            streams += _by_tag(source.streams)
        self._streams = tuple(streams)
        self._only: list[Any] = [next(iter(source.streams.values()), None) for source in sources]
        """Of each source the only stream, where it has no more than one."""
        self._sealed = [only and only._replace(sealed=True) for only in self._only]
        """The same streams, for rows that are sealed."""
        self._mixes = len(sources) > 1 and len(streams) <= _MOST_STREAMS

    def take(self, limit: int, positions: Positions) -> list[Piece]:
        """Take tuples that are ready.

        Args:
            limit: the most tuples to take.
            positions: the positions of the tuples are appended here.

        Raises:
            CodecError: a jumbo tuple from another process cannot be decoded here.
        """
        runs, order = self._delivered(limit, positions)
        return self.cut(runs) if order is None else [self.mix(runs, order)]

    def take_first(
        self, limit: int, positions: Positions, wanted: Callable[[Positions], int]
    ) -> list[Piece]:
        """Take tuples that are ready, and put those back that are not to be processed as yet.

        The reader defers what it releases.

        Args:
            limit: the most tuples to take.
            positions: empty; gets the positions of the tuples.
            wanted: returns how many of the tuples at some positions, at least one, are to be processed.

        Raises:
            CodecError: as for `take`.
        """
        runs, order = self._delivered(limit, positions)
        if runs and (count := wanted(positions)) < len(positions):
            runs, order = self._put_back(runs, order, positions, count)
        self._reader.accept()
        return self.cut(runs) if order is None else [self.mix(runs, order)]

    def _delivered(self, limit: int, positions: Positions) -> tuple[list[Run], bytes | None]:
        reader = self._reader
        if isinstance(reader, Link):
            return reader.get_ready(limit, positions), None
        if not self._mixes:
            return reader.get_ready(limit, positions, borrows=self._borrows), None
        return reader.get_interleaved(limit, positions, borrows=self._borrows)

    def _put_back(
        self, runs: list[Run], order: bytes | None, positions: Positions, kept: int
    ) -> tuple[list[Run], bytes | None]:
        """Put all tuples back but the first so many; returns the runs of these."""
        counts = _ends(runs, len(positions) - kept) if order is None else _ends_of(runs, order, kept)
        rest = [(run, count) for run, count in zip(runs, counts, strict=True) if count]
        self._reader.put_back(rest, positions, kept)
        left = [(*run[:3], run[3] - count) for run, count in zip(runs, counts, strict=True)]
        if order is None or not kept:
            return [run for run in left if run[3]], None
        return left, order[: 2 * kept]

    def cut(self, runs: Sequence[Run]) -> list[Piece]:
        """Cut runs of jumbo tuples into pieces where the stream changes."""
        pieces: list[Piece] = []
        for index, jumbo, first, count in runs:
            payload, tags, at = jumbo.payload, jumbo.tags, first
            if self._own is not None:
                payload, at = _concerning(self._own, payload, first, count), 0
            if self._copies:
                payload, at = _owned(payload, at, count)
            if not (self._whole or payload.__class__ is Rows):  # whose rows are made for whoever asks
                payload, at = payload.slice(at, count), 0
            rows = payload if self._whole else payload.rows
            if tags is None:
                is_sealed = payload.__class__ is Rows and payload.sealed and not self._whole
                pieces.append((rows, at, count, (self._sealed if is_sealed else self._only)[index]))
            else:
                pieces.extend(
                    _cut_at_tags(rows, at, tags[first : first + count], self._sources[index].streams)
                )
        return pieces

    def mix(self, runs: Sequence[Run], order: bytes) -> Piece:
        """Put the tuples of runs in order in one piece.

        Args:
            runs: at least one.
            order: for each tuple the index of its run, as native uint16.
        """
        payloads, firsts = [], []
        for _, jumbo, first, count in runs:
            payload = jumbo.payload
            if self._own is not None:
                payload, first = _concerning(self._own, payload, first, count), 0
            if self._copies:
                payload, first = _owned(payload, first, count)
            payloads.append(payload)
            firsts.append(first)
        mixed = interleaved(payloads, firsts, order)
        rows = mixed if self._whole else mixed.rows
        return rows, 0, len(mixed), self._streams, self._which(runs, order)

    def _which(self, runs: Sequence[Run], order: bytes) -> bytes:
        """For each tuple the index of its stream among all."""
        firsts = [first for _, _, first, _ in runs]
        bases = [
            self._bases[index] + (_only(self._sources[index].streams) if jumbo.tags is None else 0)
            for index, jumbo, _, _ in runs
        ]
        return interleave_tags([jumbo.tags for _, jumbo, _, _ in runs], firsts, bases, order)


def _ends(runs: Sequence[Run], count: int) -> list[int]:
    """For each run how many of the last `count` tuples it has, where all tuples come run after run."""
    counts = []
    for run in reversed(runs):
        counts.append(min(run[3], count))
        count -= counts[-1]
    return counts[::-1]


def _ends_of(runs: Sequence[Run], order: bytes, kept: int) -> list[int]:
    """Likewise for the tuples behind the first `kept`, where `order` has the index of each tuple's run."""
    counts = Counter(memoryview(order).cast("H")[kept:])
    return [counts[index] for index in range(len(runs))]


def _owned(payload: Payload, first: int, count: int) -> tuple[Payload, int]:
    """The values of tuples, copied if they can be changed where others see them, and where they begin."""
    return (payload.slice(first, count).own(), 0) if payload.mutable else (payload, first)


def _concerning(own: range, payload: Payload, first: int, count: int) -> Payload:
    """Some of the rows, with None in the place of those that concern no key group of one's own."""
    return Rows(own_rows(payload.rows, first, count, own.start, own.stop), payload.mutable)


def _by_tag(streams: Mapping[int, InputStream]) -> list[InputStream]:
    """The streams at the indexes that are their tags; tags that do not come have any of them."""
    if not streams:
        return []
    some = next(iter(streams.values()))
    return [streams.get(tag, some) for tag in range(max(streams) + 1)]


def _only(streams: Mapping[int, InputStream]) -> int:
    """The tag of the only stream."""
    (tag,) = streams
    return tag


def _cut_at_tags(
    rows: Any, first: int, tags: Iterable[int], streams: Mapping[int, InputStream]
) -> Iterator[Piece]:
    for tag, group in groupby(tags):
        count = sum(1 for _ in group)
        yield rows, first, count, streams[tag]
        first += count


def grouped(pieces: Iterable[Piece], key: Callable[[InputStream], Key]) -> Iterator[tuple[Key, list[Piece]]]:
    """Group successive tuples whose streams have the same key, in pieces."""
    stretches = (stretch for piece in pieces for stretch in _stretches(piece, key))
    for value, group in groupby(stretches, key=itemgetter(0)):
        yield value, [piece for _, piece in group]


def _stretches(piece: Piece, key: Callable[[InputStream], Key]) -> Iterator[tuple[Key, Piece]]:
    """Divide a piece where the key of its tuples' streams changes."""
    if len(piece) == 4:
        yield key(piece[3]), piece
        return
    rows, first, count, streams, which = piece
    keys = [key(stream) for stream in streams]
    if keys.count(keys[0]) == len(keys):
        yield keys[0], piece
        return
    for value, group in groupby(memoryview(which).cast("H")[first : first + count], keys.__getitem__):
        size = sum(1 for _ in group)
        yield value, (rows, first, size, streams, which)
        first += size


def split_at(pieces: Sequence[Piece], count: int) -> tuple[list[Piece], list[Piece]]:
    """Divide pieces into those with the first `count` tuples, and the rest."""
    before: list[Piece] = []
    for index, piece in enumerate(pieces):
        size = piece[2]
        if size >= count:
            before.append(_part(piece, 0, count))
            rest = [_part(piece, count, size - count)] if size > count else []
            return before, rest + list(pieces[index + 1 :])
        before.append(piece)
        count -= size
    return before, []


def _part(piece: Piece, first: int, count: int) -> Piece:
    """Some of a piece's tuples, from index `first` of the piece on."""
    if len(piece) == 4:
        return piece[0], piece[1] + first, count, piece[3]
    return piece[0], piece[1] + first, count, piece[3], piece[4]


def by_stream(pieces: Sequence[Piece]) -> Iterable[tuple[InputStream, Payload]]:
    """Successive tuples of one stream, whichever of its tasks they come from, in portions that are not worth
    putting together; pieces hold payloads."""
    if len(pieces) == 1 and len(pieces[0]) == 4:  # most often; to find that out below takes 9 us
        payload, first, count, stream = pieces[0]
        return ((stream, payload.slice(first, count)),)
    return _portions(pieces)


def _portions(pieces: Sequence[Piece]) -> Iterator[tuple[InputStream, Payload]]:
    for stream, group in grouped(pieces, _without_task):
        payloads = [piece[0].slice(piece[1], piece[2]) for piece in group]
        while payloads:
            count = worth_joining(payloads)
            first, *others = payloads[:count]
            yield stream, first.joined(*others)
            del payloads[:count]


def _without_task(stream: InputStream) -> InputStream:
    """Return the stream with its task set to 0, so that only the stream tells tuples apart."""
    return stream._replace(task=0)


def rows_of(pieces: Sequence[Piece]) -> list[Row]:
    """All rows of pieces that hold lists of rows, in order."""
    if len(pieces) == 1:
        rows, first, count = pieces[0][:3]
        return rows if count == len(rows) else rows[first : first + count]  # type: ignore[no-any-return]
    joined: list[Row] = []
    for piece in pieces:
        rows, first, count = piece[:3]
        joined += rows[first : first + count]
    return joined
