"""Bells between threads; between processes they are in `test_processes`."""

from __future__ import annotations

import math
import threading
import time

import pytest

from viper.arena import Arena
from viper.bell import Bell
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import Position, Positions

LONG_S = 60.0
"""Nobody waits that long unless a ring is lost."""


@pytest.fixture
def arena() -> Arena:
    return Arena.private(100_000)


def wait_well(bell: Bell, ticket: int) -> None:
    """Wait for a ring that must come."""
    begin = time.monotonic()
    while bell.ticket() == ticket:
        bell.wait(ticket, LONG_S)
        assert time.monotonic() - begin < LONG_S, "a ring was lost"


def test_what_was_rung_since_the_ticket_is_not_waited_for(arena: Arena) -> None:
    bell = Bell.create(arena)
    ticket = bell.ticket()
    Bell.attach(arena, bell.offset).ring()
    assert bell.ticket() == ticket + 1
    bell.wait(ticket, math.inf)


@pytest.mark.parametrize("timeout_s", [-math.inf, -1.0, 0.0, 1e-9, 0.001])
def test_a_wait_ends_in_time(arena: Arena, timeout_s: float) -> None:
    bell = Bell.create(arena)
    bell.wait(bell.ticket(), timeout_s)


def test_two_threads_in_turn(arena: Arena) -> None:
    bells = [Bell.create(arena), Bell.create(arena)]
    turns: list[int] = []

    def play(self: int) -> None:
        for _ in range(500):
            ticket = bells[self].ticket()
            while len(turns) % 2 != self:
                wait_well(bells[self], ticket)
                ticket = bells[self].ticket()
            turns.append(self)
            bells[1 - self].ring()

    threads = [threading.Thread(target=play, args=(self,)) for self in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert turns == [0, 1] * 500


def test_a_gate_rings_for_what_is_added_and_for_the_room_that_was_wanted(arena: Arena) -> None:
    gate = ScaleGate.create(arena, 2, slots=1, tuples=4)
    sending, receiving = Bell.create(arena), Bell.create(arena)
    gate.set_source_bell(0, sending)
    gate.set_reader_bell(0, receiving)
    positions = Positions()
    positions.append(Position(1, 0, 0))
    assert gate.source(0).add(Jumbo(Rows([("a",)])), positions, 0, 1)
    assert receiving.ticket() == 1
    gate.source(1).heartbeat(Position(5, 0, 0))
    assert receiving.ticket() == 2
    gate.source(1).heartbeat(Position(5, 0, 0))  # nothing new
    assert receiving.ticket() == 2
    ticket = sending.ticket()
    assert not gate.source(0).room(1)
    assert len(gate.reader(0).get_ready(1, positions)) == 1
    assert sending.ticket() > ticket


def test_a_bell_of_another_arena_is_refused(arena: Arena) -> None:
    gate = ScaleGate.create(arena, 1, slots=1, tuples=1)
    with pytest.raises(ValueError, match="in another arena than the gate"):
        gate.set_reader_bell(0, Bell.create(Arena.private(1000)))
    for wrong in (-1, 1):
        with pytest.raises(IndexError, match=f"no reader {wrong}: the gate has 1"):
            gate.set_reader_bell(wrong, Bell.create(arena))
        with pytest.raises(IndexError, match=f"no source {wrong}: the gate has 1"):
            gate.set_source_bell(wrong, Bell.create(arena))


def test_whose_sleeper_was_killed_is_forgotten(arena: Arena) -> None:
    bell = Bell.create(arena)
    bell.take_over()
    ticket = bell.ticket()
    bell.ring()
    bell.wait(ticket, math.inf)
