"""Readers that share the tuples of a gate by claims: each tuple goes to one of them, in order for each."""

from __future__ import annotations

import random
import threading

import pytest

from tests.portions import at_every_change
from viper.arena import Arena
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import END, Position, Positions
from viper.reader import Reader


def make_gate(sources: int, readers: int, slots: int = 8, tuples: int = 32) -> ScaleGate:
    arena = Arena.private(ScaleGate.size(sources, readers, slots, tuples, 0))
    return ScaleGate.create(arena, sources, readers, slots=slots, tuples=tuples, claims=True)


def add(gate: ScaleGate, source: int, *timestamps: int) -> bool:
    positions = Positions()
    for ts in timestamps:
        positions.append(Position(ts, 0, 0))
    rows = [(source, ts) for ts in timestamps]
    return gate.source(source).add(Jumbo(Rows(rows)), positions, 0, len(rows))


def take(reader: Reader, limit: int) -> list[tuple[int, int]]:
    """Claim tuples; returns for each its source and its time, which is that of its position."""
    positions = Positions()
    runs = reader.get_ready(limit, positions)
    rows = [row for _, jumbo, first, count in runs for row in jumbo.payload.rows[first : first + count]]
    assert [row[1] for row in rows] == [positions[index].ts for index in range(len(positions))]
    return rows


def grow(reader: Reader) -> None:
    """Let a reader claim as many at once as there are."""
    reader._shares = 1  # type: ignore[attr-defined]


def test_a_tuple_goes_to_whoever_takes_it_first() -> None:
    gate = make_gate(1, 2)
    one, other = gate.reader(0), gate.reader(1)
    grow(one), grow(other)
    add(gate, 0, 1, 2, 3, 4, 5)
    assert take(one, 2) == [(0, 1), (0, 2)]
    assert take(other, 1) == [(0, 3)]
    assert take(one, 9) == [(0, 4), (0, 5)]
    assert not other.ready() and take(other, 9) == []


def test_a_reader_is_as_far_as_what_nobody_has_claimed() -> None:
    gate = make_gate(1, 2)
    one, other = gate.reader(0), gate.reader(1)
    grow(one)
    add(gate, 0, 1, 2, 3)
    assert other.watermark() == Position(1, 0, 0)
    assert take(one, 2) == [(0, 1), (0, 2)]
    assert other.watermark() == one.watermark() == Position(3, 0, 0)
    gate.source(0).close()
    assert not other.drained()
    assert take(one, 2) == [(0, 3)]
    assert other.drained() and other.watermark() == END


def test_what_others_have_claimed_leaves_room() -> None:
    gate = make_gate(1, 2, slots=2)
    one, other = gate.reader(0), gate.reader(1)
    grow(one)
    for ts in range(100):
        assert add(gate, 0, ts)
        assert take(one, 9) == [(0, ts)]
        other.outlook()


def test_what_is_put_back_stays_its_readers() -> None:
    gate = make_gate(1, 2)
    one, other = gate.reader(0), gate.reader(1)
    grow(one), grow(other)
    one.defer()
    add(gate, 0, 1, 2, 3, 4, 5)
    positions = Positions()
    (run,) = one.get_ready(3, positions)
    one.put_back([(run, 2)], positions, 1)
    one.accept()
    assert one.watermark() == Position(2, 0, 0)
    assert take(other, 9) == [(0, 4), (0, 5)]
    assert take(one, 9) == [(0, 2), (0, 3)]


def test_a_claim_is_half_of_the_readers_share_of_what_waits() -> None:
    gate = make_gate(1, 2, slots=64, tuples=2048)
    one, other = gate.reader(0), gate.reader(1)
    add(gate, 0, *range(1000))
    assert [len(take(reader, 1000)) for reader in (one, other, one, other)] == [250, 187, 140, 105]
    assert len(take(one, 7)) == 7


def test_who_rests_claims_nothing_and_is_as_far_as_the_others() -> None:
    gate = make_gate(1, 2)
    one, other = gate.reader(0), gate.reader(1)
    claimants, rested = [2], []
    one.rest_by(lambda: claimants[0], lambda: rested.append(one.watermark()))  # type: ignore[attr-defined]
    one.defer()
    add(gate, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    positions = Positions()
    (run,) = one.get_ready(9, positions)
    assert len(positions) == 2  # half of the half of nine
    one.put_back([(run, 1)], positions, 1)
    one.accept()
    claimants[0] = 0
    assert one.outlook()[:2] == (True, Position(2, 0, 0))  # the end of its claim
    assert take(one, 9) == [(0, 2)]
    assert one.outlook()[:2] == (False, Position(3, 0, 0)) and take(one, 9) == []
    assert rested == [Position(2, 0, 0)]  # once
    assert one.waiting_tuples() == 0 and other.waiting_tuples() == 9
    assert take(other, 1) == [(0, 3)] and one.watermark() == Position(4, 0, 0)
    claimants[0] = 1
    assert one.outlook()[:2] == (True, Position(4, 0, 0))
    assert take(one, 9) == [(0, 4), (0, 5), (0, 6)]  # half of what waits


@pytest.mark.parametrize("seed", at_every_change(range(300), 40))
def test_any_takers_get_the_merge_divided(seed: int) -> None:
    """Sources add as they like, readers take as they like: all of them together see what one alone would."""
    draw = random.Random(seed)
    sources, readers = draw.randrange(1, 4), draw.randrange(1, 5)
    gate = make_gate(sources, readers)
    got: list[list[tuple[int, int]]] = [[] for _ in range(readers)]
    for reader in range(readers):
        grow(gate.reader(reader))
    at = [0] * sources
    added: list[tuple[int, int]] = []
    for _ in range(400):
        source = draw.randrange(sources)
        if draw.random() < 0.5:
            stamps = sorted(at[source] + draw.randrange(4) for _ in range(draw.randrange(1, 6)))
            if add(gate, source, *stamps):
                added += [(source, ts) for ts in stamps]
                at[source] = stamps[-1]
        reader = draw.randrange(readers)
        got[reader] += take(gate.reader(reader), draw.randrange(1, 9))
        gate.reader(draw.randrange(readers)).outlook()
    for source in range(sources):
        gate.source(source).close()
    while not all(gate.reader(reader).drained() for reader in range(readers)):
        reader = draw.randrange(readers)
        got[reader] += take(gate.reader(reader), draw.randrange(1, 9))
    for mine in got:
        assert [(ts, source) for source, ts in mine] == sorted((ts, source) for source, ts in mine)
    assert sorted(row for mine in got for row in mine) == sorted(added)


def test_threads_divide_the_merge() -> None:
    gate = make_gate(2, 3, slots=64, tuples=1024)
    got: list[list[tuple[int, int]]] = [[], [], []]

    def produce(source: int) -> None:
        for ts in range(0, 3000, 3):
            while not add(gate, source, ts, ts, ts + 1):
                pass
        gate.source(source).close()

    def consume(index: int) -> None:
        reader = gate.reader(index)
        while not reader.drained():
            got[index] += take(reader, 1 + index)
            reader.outlook()

    threads = [threading.Thread(target=produce, args=(source,)) for source in range(2)]
    threads += [threading.Thread(target=consume, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [row for mine in got for row in mine]
    assert len(rows) == 6000 and all(mine == sorted(mine, key=lambda row: row[::-1]) for mine in got)
    assert sorted(rows) == sorted(
        (source, ts) for source in range(2) for base in range(0, 3000, 3) for ts in (base, base, base + 1)
    )


def test_what_another_has_ended_is_read_anew() -> None:
    """Of bytes a reader keeps what it has decoded for the rest, which another may claim."""
    arena = Arena.private(ScaleGate.size(1, 2, 1, 8, 1024))
    made = ScaleGate.create(arena, 1, 2, slots=1, tuples=8, payload_bytes=1024, claims=True)
    gate = ScaleGate.attach(arena, made.offset)
    one, other = gate.reader(0), gate.reader(1)
    grow(one), grow(other)
    for ts in range(0, 40, 2):
        assert add(gate, 0, ts, ts + 1)
        assert take(one, 1) == [(0, ts)] and take(other, 1) == [(0, ts + 1)]
        one.outlook()


def test_what_waits_is_counted_once_however_far_each_reader_has_looked() -> None:
    gate = make_gate(2, 3)
    grow(gate.reader(0))
    add(gate, 0, 1, 2, 3, 4)
    add(gate, 1, 5)
    assert gate.waiting_tuples(range(3)) == 5
    assert take(gate.reader(0), 3) == [(0, 1), (0, 2), (0, 3)]
    assert gate.waiting_tuples(range(3)) == 2  # and not 5, of readers that have not looked since
    with pytest.raises(IndexError, match="no reader 3"):
        gate.waiting_tuples([3])
