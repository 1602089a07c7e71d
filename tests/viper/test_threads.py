"""Sources and readers of one gate on threads of their own."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from viper.arena import Arena
from viper.bell import Bell
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import Position, Positions
from viper.reader import Reader
from viper.source import Source

SOURCES, READERS, TUPLES = 3, 2, 3000
LONG_S = 60.0


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def produce(source: Source, bell: Bell, seed: int) -> None:
    random_ = random.Random(seed)
    ts = 0
    while ts < TUPLES:
        positions = Positions()
        count = random_.randint(1, 20)
        for i in range(count):
            positions.append(Position(ts + i, 0, 0))
        jumbo = Jumbo(Rows([(source.index, ts + i) for i in range(count)]))
        ticket = bell.ticket()
        while not source.add(jumbo, positions, 0, count):
            bell.wait(ticket, LONG_S)
            ticket = bell.ticket()
        ts += count
    source.close()


def consume(reader: Reader, bell: Bell, seen: list[tuple[int, int]]) -> None:
    into = Positions()
    while not reader.drained():
        ticket = bell.ticket()
        runs = reader.get_ready(50, into)
        for _, jumbo, first, count in runs:
            seen += jumbo.payload.rows[first : first + count]
        if not runs and not reader.drained():
            bell.wait(ticket, LONG_S)


@pytest.mark.parametrize("local", [(), (0,), (0, 1)])
def test_all_readers_see_the_same_however_threads_take_turns(
    switching: None, local: tuple[int, ...], caught: list[Any]
) -> None:
    shape: dict[str, Any] = {"slots": 4, "tuples": 64, "payload_bytes": 4096}
    arena = Arena.private(2_000_000)
    offset = ScaleGate.create(arena, SOURCES, READERS, **shape).offset
    gate, elsewhere = ScaleGate.attach(arena, offset, local_readers=local), ScaleGate.attach(arena, offset)
    seen: list[list[tuple[int, int]]] = [[] for _ in range(READERS)]
    tasks: list[tuple[Callable[..., None], Any]] = []
    for index in range(SOURCES):
        bell = Bell.create(arena)
        gate.set_source_bell(index, bell)
        tasks.append((produce, (gate.source(index), bell, index)))
    for index in range(READERS):
        bell = Bell.create(arena)
        gate.set_reader_bell(index, bell)
        reader = (gate if index in local else elsewhere).reader(index)
        tasks.append((consume, (reader, bell, seen[index])))
    threads = [threading.Thread(target=task, args=args, daemon=True) for task, args in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert not caught
    assert seen[0] == seen[1] == sorted(seen[0], key=lambda row: (row[1], row[0]))
    added = sum(source.added_tuples for source in gate.statistics().sources)
    assert len(seen[0]) == added >= SOURCES * TUPLES


@pytest.fixture
def caught(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The errors that threads raised."""
    errors: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    return errors


def test_ends_asked_for_by_two_threads_at_once_are_the_same(switching: None) -> None:
    for _ in range(200):
        gate = ScaleGate.create(Arena.private(10_000), 1, slots=1, tuples=1)
        barrier = threading.Barrier(2)
        ends: list[tuple[Source, Reader]] = []

        def take(
            gate: ScaleGate = gate, barrier: threading.Barrier = barrier, ends: list[Any] = ends
        ) -> None:
            barrier.wait()
            ends.append((gate.source(0), gate.reader(0)))

        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ends[0][0] is ends[1][0] and ends[0][1] is ends[1][1]
