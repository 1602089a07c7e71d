"""Jumbo tuples between processes: a spawned child sends and receives."""

from __future__ import annotations

import multiprocessing
import os
import signal
from array import array
from datetime import date
from typing import Any

import pytest

from viper.arena import Arena, ArenaHandle
from viper.bell import Bell
from viper.errors import CodecError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Row, Rows
from viper.position import END, Position, Positions

ROUNDS = 50
TIMEOUT_S = 60.0


def positions_from(ts: int, count: int) -> Positions:
    positions = Positions()
    for i in range(count):
        positions.append(Position(ts + i, 0, 0))
    return positions


def receive(gate: ScaleGate, bell: Bell, wanted: int) -> list[tuple[Jumbo, int, int]]:
    """The next runs, of that many tuples in all."""
    runs: list[tuple[Jumbo, int, int]] = []
    while wanted:
        ticket = bell.ticket()
        made = gate.reader(0).get_ready(wanted, Positions())
        runs += [(jumbo, first, count) for _, jumbo, first, count in made]
        wanted -= sum(count for _, _, _, count in made)
        if not made:
            bell.wait(ticket, TIMEOUT_S)
            assert bell.ticket() != ticket, "nobody rang in time"
    return runs


def echo(handle: ArenaHandle, there: int, back: int, bell_offset: int) -> None:
    """Send back what comes, jumbo tuple by jumbo tuple, until the source is closed."""
    arena = Arena.attach(handle)
    received, sent = ScaleGate.attach(arena, there), ScaleGate.attach(arena, back)
    bell = Bell.attach(arena, bell_offset)
    positions = Positions()
    while not received.reader(0).drained():
        ticket = bell.ticket()
        runs = received.reader(0).get_ready(100, positions)
        for _, jumbo, first, count in runs:
            assert (first, count) == (0, len(jumbo.payload.rows))
            assert sent.source(0).add(jumbo, positions, 0, count)
            positions.clear()
        if not runs and not received.reader(0).drained():
            bell.wait(ticket, TIMEOUT_S)
    sent.source(0).tell_last_ts(received.reader(0).last_ts())
    sent.source(0).close()


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_child_sends_back_what_it_gets(method: str) -> None:
    shape: dict[str, Any] = {"slots": 4, "tuples": 16, "payload_bytes": 4096}
    arena = Arena.shared(1_000_000)
    there, back = (ScaleGate.create(arena, 1, **shape).offset for _ in range(2))
    ours, theirs = Bell.create(arena), Bell.create(arena)
    to_child, from_child = ScaleGate.attach(arena, there), ScaleGate.attach(arena, back)
    to_child.set_reader_bell(0, theirs)
    from_child.set_reader_bell(0, ours)
    child = multiprocessing.get_context(method).Process(
        target=echo, args=(arena.handle(), there, back, theirs.offset)
    )
    # The server that starts processes begins with the first of them, and keeps blocked what is blocked then.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGQUIT})
    child.start()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    for ts in range(ROUNDS):
        rows: list[Row] = [(ts, "word" * ts, b"\x00", None, (1.5, date(2020, 1, 1)))] * 2
        tags = array("H", [0, 65535]) if ts % 2 else None
        assert to_child.source(0).add(Jumbo(Rows(rows), tags), positions_from(ts, 2), 0, 2)
        ((jumbo, first, count),) = receive(from_child, ours, 2)
        assert (jumbo.payload.rows, jumbo.tags, first, count) == (rows, tags, 0, 2)
        assert jumbo.payload.mutable is False
    to_child.source(0).tell_last_ts(77)
    to_child.source(0).close()
    while not from_child.reader(0).drained():
        ticket = ours.ticket()
        if not from_child.reader(0).drained():
            ours.wait(ticket, TIMEOUT_S)
    child.join(TIMEOUT_S)
    assert child.exitcode == 0
    assert from_child.reader(0).last_ts() == 77
    assert from_child.reader(0).watermark() == END
    assert from_child.statistics().sources[0].added_jumbos == ROUNDS


def send_for_ever(handle: ArenaHandle, offset: int, bell_offset: int) -> None:
    """Add until somebody puts an end to it."""
    arena = Arena.attach(handle)
    source, bell = ScaleGate.attach(arena, offset).source(0), Bell.attach(arena, bell_offset)
    ts = 0
    while True:
        ticket = bell.ticket()
        if source.add(Jumbo(Rows([("x" * (ts % 50), ts)])), positions_from(ts, 1), 0, 1):
            ts += 1
        else:
            bell.wait(ticket, TIMEOUT_S)


def test_a_killed_source_is_closed_on_its_behalf_and_nothing_it_added_is_lost() -> None:
    arena = Arena.shared(1_000_000)
    offset = ScaleGate.create(arena, 1, slots=8, tuples=8, payload_bytes=4096).offset
    gate = ScaleGate.attach(arena, offset)
    ours, theirs = Bell.create(arena), Bell.create(arena)
    gate.set_reader_bell(0, ours)
    gate.set_source_bell(0, theirs)
    child = multiprocessing.get_context("spawn").Process(
        target=send_for_ever, args=(arena.handle(), offset, theirs.offset)
    )
    child.start()
    seen = [jumbo.payload.rows[0] for jumbo, *_ in receive(gate, ours, 500)]
    child.kill()
    child.join(TIMEOUT_S)
    source = gate.source(0)
    source.recover()
    assert source.floor().ts == gate.statistics().sources[0].added_tuples - 1
    source.close()
    while not gate.reader(0).drained():
        seen += [jumbo.payload.rows[0] for _, jumbo, _, _ in gate.reader(0).get_ready(100, Positions())]
    assert seen == [("x" * (ts % 50), ts) for ts in range(len(seen))]
    assert len(seen) == gate.statistics().sources[0].added_tuples


def die_while_reading(handle: ArenaHandle, offset: int) -> None:
    gate = ScaleGate.attach(Arena.attach(handle), offset)
    gate.reader(0).get_ready(3, Positions())
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_successor_of_a_killed_reader_gets_what_was_not_released() -> None:
    arena = Arena.shared(1_000_000)
    offset = ScaleGate.create(arena, 1, slots=8, tuples=8, payload_bytes=4096).offset
    gate = ScaleGate.attach(arena, offset)
    for ts in range(0, 8, 2):
        rows: list[Row] = [(ts,), (ts + 1,)]
        assert gate.source(0).add(Jumbo(Rows(rows)), positions_from(ts, 2), 0, 2)
    child = multiprocessing.get_context("spawn").Process(
        target=die_while_reading, args=(arena.handle(), offset)
    )
    child.start()
    child.join(TIMEOUT_S)
    assert child.exitcode == -signal.SIGKILL
    runs = gate.reader(0).get_ready(100, Positions())
    assert [row for _, jumbo, first, count in runs for row in jumbo.payload.rows[first : first + count]] == [
        (2,),
        (3,),
        (4,),
        (5,),
        (6,),
        (7,),
    ]


def test_a_payload_that_stayed_in_its_process_is_an_error_elsewhere() -> None:
    arena = Arena.shared(100_000)
    here = ScaleGate.create(arena, 1, slots=2, tuples=2)
    assert here.source(0).add(Jumbo(Rows([("a",)])), positions_from(0, 1), 0, 1)
    with pytest.raises(CodecError, match="source 0 handed reader 0 a jumbo tuple by reference"):
        ScaleGate.attach(arena, here.offset).reader(0).get_ready(1, Positions())
