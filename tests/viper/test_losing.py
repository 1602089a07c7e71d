"""A delivery that fails half-way leaves nothing of what it was about to deliver."""

from __future__ import annotations

from typing import Any

import pytest

from viper.arena import Arena
from viper.errors import CodecError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Row, Rows
from viper.position import Position, Positions
from viper.reader import Reader
from viper.source import Source


class Unreadable:
    """Pickles, and cannot be unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return int, ("no number",)


def ends(sources: int, slots: int, local: bool = False) -> tuple[list[Source], Reader]:
    """The sources of a gate and its reader, as if in different processes, or in one."""
    arena = Arena.private(1_000_000)
    gate = ScaleGate.create(arena, sources, slots=slots, tuples=64, payload_bytes=4096)
    there = gate if local else ScaleGate.attach(arena, gate.offset)
    here = gate if local else ScaleGate.attach(arena, gate.offset)
    return [there.source(index) for index in range(sources)], here.reader(0)


def add(source: Source, *timestamps: int, rows: list[Row] | None = None) -> bool:
    positions = Positions()
    for ts in timestamps:
        positions.append(Position(ts, 0, 0))
    return source.add(Jumbo(Rows(rows or [(ts,) for ts in timestamps])), positions, 0, len(timestamps))


def promise(sources: list[Source], ts: int) -> None:
    for source in sources:
        source.heartbeat(Position(ts, 0, 0))


def delivered(reader: Reader, limit: int = 100) -> list[Row]:
    into = Positions()
    runs = reader.get_ready(limit, into)
    rows = [row for _, jumbo, first, count in runs for row in jumbo.payload.rows[first : first + count]]
    assert [position.ts for position in into] == [ts for (ts,) in rows]
    return rows


def lose(reader: Reader, error: type[BaseException]) -> None:
    """A delivery that raises, into positions that have one already."""
    into = Positions()
    into.append(Position(-1, 0, 0))
    with pytest.raises(error):
        reader.get_ready(100, into)
    assert [position.ts for position in into] == [-1]


def test_a_slot_never_shows_the_rows_that_were_in_it_before() -> None:
    (a, b), reader = ends(2, slots=2)
    assert add(a, 1, 5) and add(b, 3, rows=[(Unreadable(),)])
    assert delivered(reader, limit=1) == [(1,)]
    promise([a, b], 10)
    lose(reader, CodecError)
    assert add(a, 11, 12) and add(a, 31, 32)
    promise([a, b], 50)
    assert delivered(reader) == [(11,), (12,), (31,), (32,)]


def test_a_payload_that_cannot_be_read_gives_its_room_back() -> None:
    (source,), reader = ends(1, slots=1)
    assert add(source, 1, rows=[(Unreadable(),)])
    lose(reader, CodecError)
    assert reader.waiting_tuples() == 0
    assert add(source, 2)
    assert delivered(reader) == [(2,)]


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_loses_what_was_taken_and_no_more(error: type[BaseException], local: bool) -> None:
    (a, b), reader = ends(2, slots=2, local=local)
    assert add(a, 1, 2) and add(b, 3, 4) and add(a, 5, 9)
    promise([b], 6)
    take = reader._take

    def take_and_raise(*arguments: Any) -> int:
        take(*arguments)
        raise error

    reader._take = take_and_raise
    lose(reader, error)  # 1 to 5; of the last jumbo tuple one is left
    reader._take = take
    assert add(a, 10) and add(b, 11)
    promise([a, b], 20)
    assert delivered(reader) == [(9,), (10,), (11,)]


def test_a_limit_out_of_range_loses_nothing() -> None:
    (source,), reader = ends(1, slots=1)
    assert add(source, 1)
    with pytest.raises(ValueError, match="limit=-1: expected 0 to"):
        reader.get_ready(-1, Positions())
    assert delivered(reader) == [(1,)]
