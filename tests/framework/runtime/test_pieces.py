"""Pieces of runs that were put together say the same as pieces of single runs, whoever reads them."""

from __future__ import annotations

import itertools
from array import array
from collections import namedtuple
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import viper.reader
from framework.runtime.exchange.inputs import values_class
from framework.runtime.exchange.pieces import (
    Cutter,
    InputSource,
    InputStream,
    Piece,
    PieceOfSeveral,
    grouped,
    rows_of,
    split_at,
)
from viper.arena import Arena
from viper.errors import CodecError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Row, Rows
from viper.position import Level, Position, Positions
from viper.reader import Reader
from viper.rows import Inbox, Outbox

Record = namedtuple("Record", "id component stream task values")
SHAPE: dict[str, Any] = {"slots": 64, "tuples": 256, "payload_bytes": 1 << 16}


@pytest.fixture(scope="module", autouse=True)
def runs_are_put_together(request: pytest.FixtureRequest) -> None:
    """However few and long they are."""
    patch = pytest.MonkeyPatch()
    patch.setattr(viper.reader, "MANY", 1)
    patch.setattr(viper.reader, "SHORT", 1 << 20)
    request.addfinalizer(patch.undo)


@dataclass
class Fed:
    """The additions of one source: for each tuple timestamp and tag, and the sizes of jumbo tuples."""

    tagged: bool
    component: str
    tuples: list[tuple[int, int]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def streams(self, task: int) -> dict[int, InputStream]:
        """Tags 0 and 2 of three; each at a level of its own. Without tags there is only the latter."""
        tags = {0: "left", 2: "right"} if self.tagged else {2: "right"}
        return {
            tag: InputStream(self.component, name, task, self._values(name), Level(8 * (tag + 1), 4, 4, 1))
            for tag, name in tags.items()
        }

    def _values(self, name: str) -> type[tuple[Any, ...]] | None:
        return values_class(self.component, name, ("value",)) if name == "left" else None


@st.composite
def fed(draw: st.DrawFn) -> Fed:
    """A source with a few tuples."""
    tagged = draw(st.booleans())
    stamps = sorted(draw(st.lists(st.integers(0, 25), min_size=1, max_size=30)))
    tags = [draw(st.sampled_from((0, 2))) if tagged else 2 for _ in stamps]
    sizes = draw(st.lists(st.integers(1, 9), min_size=30, max_size=30))
    return Fed(tagged, draw(st.sampled_from("ab")), list(zip(stamps, tags, strict=True)), sizes)


class Ends:
    """The readers of a gate that all these have been added to: one is read run by run, the other is not."""

    def __init__(self, feeds: list[Fed], *, encoded: bool, mutable: bool) -> None:
        arena = Arena.private(ScaleGate.size(len(feeds), 2, **SHAPE))
        offset = ScaleGate.create(arena, len(feeds), 2, **SHAPE).offset
        gate = ScaleGate.attach(arena, offset, local_readers=() if encoded else (0, 1))
        self.rows: list[list[Row]] = []
        for index, feed in enumerate(feeds):
            self._add(gate.source(index), feed, index, mutable)
        self.sources = [InputSource(f"{f.component}:{n}", f.streams(n)) for n, f in enumerate(feeds)]
        self.readers = [gate.reader(0), gate.reader(1)]

    def _add(self, source: Any, feed: Fed, index: int, mutable: bool) -> None:
        first = 0
        for size in feed.sizes:
            tuples = feed.tuples[first : first + size]
            if not tuples:
                break
            positions = Positions()
            for ts, _ in tuples:
                positions.append(Position(ts, 0, 0))
            numbers = [f"{index}.{first + n}" for n in range(len(tuples))]
            rows: list[Row] = [([number],) if mutable else (number,) for number in numbers]
            self.rows.append(rows)
            tags = array("H", [tag for _, tag in tuples]) if feed.tagged else None
            assert source.add(Jumbo(Rows(rows, mutable), tags), positions, 0, len(tuples))
            first += size
        source.close()


def said(pieces: list[Piece]) -> list[tuple[Row, InputStream]]:
    """The rows with their streams."""
    found = []
    for piece in pieces:
        rows, first, count = piece[:3]
        if len(piece) == 4:
            streams = [piece[3]] * count
        else:
            streams = [piece[3][n] for n in memoryview(piece[4]).cast("H")[first : first + count]]
        found += list(zip(rows[first : first + count], streams, strict=True))
    return found


def both(ends: Ends, limit: int, copies: bool) -> tuple[list[Piece], list[Piece]]:
    """Take the pieces of two readers: run by run, and together."""
    cutter, taken = (
        Cutter(ends.readers[1], ends.sources, copies=copies, whole=False),
        (Positions(), Positions()),
    )
    apart = cutter.cut(ends.readers[0].get_ready(limit, taken[0]))
    together = cutter.take(limit, taken[1])
    assert list(taken[0]) == list(taken[1])
    return apart, together


FEEDS = st.lists(fed(), min_size=2, max_size=5)
LIMITS = st.sampled_from([1, 3, 20, 1000])


@given(feeds=FEEDS, limit=LIMITS, encoded=st.booleans(), mutable=st.booleans(), copies=st.booleans())
@settings(max_examples=100)
def test_together_they_say_the_same(
    feeds: list[Fed], limit: int, encoded: bool, mutable: bool, copies: bool
) -> None:
    ends = Ends(feeds, encoded=encoded, mutable=mutable)
    added = {id(row) for rows in ends.rows for row in rows}
    count = 0
    while True:
        apart, together = both(ends, limit, copies)
        assert said(apart) == said(together)
        assert rows_of(apart) == rows_of(together)
        count += len(rows_of(together))
        shared = not encoded and not (copies and mutable)
        assert all((id(row) in added) == shared for row in rows_of(together))
        if not together:
            break
    assert count == sum(len(feed.tuples) for feed in feeds)


@pytest.mark.slow
@given(feeds=FEEDS, cuts=st.lists(st.integers(1, 20), max_size=5))
@settings(max_examples=60)
def test_they_are_divided_alike(feeds: list[Fed], cuts: list[int]) -> None:
    apart, together = both(Ends(feeds, encoded=False, mutable=False), 1000, copies=False)
    for cut in cuts:
        if cut < len(said(together)):
            before, apart = split_at(apart, cut)
            also_before, together = split_at(together, cut)
            assert said(before) == said(also_before) and len(said(before)) == cut
        assert said(apart) == said(together)


def without_task(stream: InputStream) -> InputStream:
    return stream._replace(task=0)


@pytest.mark.few(1)
@pytest.mark.parametrize("key", [attrgetter("level"), without_task, attrgetter("component")])
@given(feeds=FEEDS, cut=st.integers(1, 10))
@settings(max_examples=40)
def test_they_are_grouped_alike(key: Any, feeds: list[Fed], cut: int) -> None:
    pairs = both(Ends(feeds, encoded=False, mutable=False), 1000, copies=False)
    expected, found = (
        [(value, said(group)) for value, group in grouped(split_at(pieces, cut)[1], key)] for pieces in pairs
    )
    assert expected == found
    assert all(a[0] != b[0] for a, b in itertools.pairwise(found))


@given(feeds=FEEDS, pause_at=st.integers(1, 10))
@settings(max_examples=40)
def test_an_inbox_reads_them_alike(feeds: list[Fed], pause_at: int) -> None:
    found = []
    for pieces in both(Ends(feeds, encoded=False, mutable=False), 1000, copies=False):
        outbox = Outbox((("default", -1, True),), lambda *_: None, lambda: None, 1000)
        inbox = Inbox(Record, outbox, pause_at).load(pieces)
        records, marks = [], []
        while True:
            for record in inbox:
                records.append((record, type(record.values)))
                for _ in range(record.task + 1):
                    outbox.emit(record.values)
            if not inbox.paused:
                break
            marks.append(inbox.cut())
            outbox.take()
        found.append((records, marks, inbox.cut(), inbox.handed))
    assert found[0] == found[1]


def test_many_short_runs_are_one_piece() -> None:
    tuples = [(ts, 2) for ts in range(20)]
    ends = Ends([Fed(False, "a", tuples[n::2], [10]) for n in range(2)], encoded=False, mutable=False)
    (piece,) = both(ends, 1000, copies=False)[1]
    several: PieceOfSeveral = piece  # type: ignore[assignment]
    assert [len(part) for part in several[3:]] == [6, 40]


class Unreadable:
    """Pickles, and cannot be unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return int, ("no number",)


def test_a_jumbo_tuple_that_cannot_be_read_loses_what_was_to_come_with_it() -> None:
    arena = Arena.private(ScaleGate.size(2, 1, **SHAPE))
    gate = ScaleGate.attach(arena, ScaleGate.create(arena, 2, 1, **SHAPE).offset, local_readers=())
    reader: Reader = gate.reader(0)
    for index in range(2):
        positions = Positions()
        for ts in (index, index + 2):
            positions.append(Position(ts, 0, 0))
        rows: list[Row] = [(Unreadable(),), (1,)] if index else [(0,), (2,)]
        assert gate.source(index).add(Jumbo(Rows(rows)), positions, 0, 2)
        gate.source(index).heartbeat(Position(9, 0, 0))
    into = Positions()
    with pytest.raises(CodecError):
        reader.get_interleaved(100, into)
    assert len(into) == 0 and reader.waiting_tuples() == 0
    assert reader._payloads == [[None] * 64, [None] * 64]
