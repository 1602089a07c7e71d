"""The producing end: what it refuses, and how it says so."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from viper.arena import Arena
from viper.errors import JumboSizeError, OrderError, PositionError, SourceClosedError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import END, LEAST, Position, Positions
from viper.source import Heartbeats, Source


def at(*timestamps: int) -> Positions:
    positions = Positions()
    for ts in timestamps:
        positions.append(Position(ts, 0, 0))
    return positions


def make_gate(sources: int = 1, slots: int = 4, tuples: int = 8) -> ScaleGate:
    arena = Arena.private(ScaleGate.size(sources, 1, slots, tuples, 0))
    return ScaleGate.create(arena, sources, slots=slots, tuples=tuples)


def jumbo_of(*items: object) -> Jumbo:
    return Jumbo(Rows([(item,) for item in items]))


def add(source: Source, *timestamps: int) -> bool:
    return source.add(jumbo_of(*timestamps), at(*timestamps), 0, len(timestamps))


def test_a_full_source_takes_nothing() -> None:
    gate = make_gate(slots=2)
    source = gate.source(0)
    assert add(source, 1) and add(source, 2)
    assert not source.room(1)
    assert not add(source, 3)
    assert source.floor().ts == 2
    assert [jumbo.payload.rows for _, jumbo, _, _ in gate.reader(0).get_ready(10, Positions())] == [
        [(1,)],
        [(2,)],
    ]
    assert source.room(8) and add(source, 3)


def test_descending_positions_are_refused_naming_both() -> None:
    source = make_gate().source(0)
    assert add(source, 5)
    with pytest.raises(OrderError, match=r"tuple 0 .* at Position\(ts=4, .* nothing below Position\(ts=5,"):
        add(source, 4)
    with pytest.raises(OrderError, match=r"tuple 2 .* at Position\(ts=6, .* nothing below Position\(ts=7,"):
        add(source, 6, 7, 6)
    source.heartbeat(Position(9, 0, 1))
    with pytest.raises(OrderError, match=r"at Position\(ts=9, hi=0, lo=0\), expected nothing below .*lo=1\)"):
        add(source, 9)
    assert source.add(jumbo_of("same"), _one(Position(9, 0, 1)), 0, 1)


def _one(position: Position) -> Positions:
    positions = Positions()
    positions.append(position)
    return positions


def test_a_closed_source_takes_nothing_more() -> None:
    source = make_gate().source(0)
    source.close()
    source.close()
    assert source.floor() == END
    with pytest.raises(SourceClosedError, match=r"source 0 was closed: it cannot add at Position\(ts=1,"):
        add(source, 1)


def test_the_end_is_no_tuples_position() -> None:
    with pytest.raises(OrderError, match="is reserved"):
        make_gate().source(0).add(jumbo_of("x"), _one(END), 0, 1)


def test_sizes_that_can_never_be_taken_are_errors() -> None:
    source = make_gate(tuples=8).source(0)
    with pytest.raises(JumboSizeError, match="of 9 tuples: source 0 of the gate takes from 1 to 8"):
        add(source, *range(9))
    with pytest.raises(JumboSizeError, match="a jumbo tuple of 0 tuples"):
        add(source)
    for count in (0, 9):
        with pytest.raises(JumboSizeError, match=f"a jumbo tuple of {count} tuples"):
            source.room(count)
    with pytest.raises(JumboSizeError, match="2 tuples for 1 positions"):
        source.add(jumbo_of("a", "b"), at(1, 2), 0, 1)
    with pytest.raises(IndexError, match=r"\[1, 3\) out of range: there are 2 positions"):
        source.add(jumbo_of("a", "b"), at(1, 2), 1, 2)


@pytest.mark.parametrize("first", [-1, 2**64, -(2**70)])
def test_places_out_of_range(first: int) -> None:
    with pytest.raises(IndexError, match=rf"\[{first}, {first + 1}\) out of range: there are 2 positions"):
        make_gate().source(0).add(jumbo_of("a"), at(1, 2), first, 1)


NO_POSITIONS = [(1, 2), (1, 2, 3, 4), (2**63, 0, 0), (0, -1, 0), (0, 0, 2**64), ("a", 0, 0), (1.0, 0, 0), 5]


@pytest.mark.parametrize("wrong", NO_POSITIONS)
def test_what_is_no_position_is_refused(wrong: Any) -> None:
    source = make_gate().source(0)
    for take in (source.heartbeat, Heartbeats([source]).publish, Positions().append):
        with pytest.raises(PositionError, match="expected a ts of 64 bits, signed, and two words"):
            take(wrong)
    with pytest.raises(PositionError):
        source.tell_last_ts(2**63)
    assert source.floor() == LEAST


def test_limits_out_of_range() -> None:
    for limit in (-1, 2**64):
        with pytest.raises(ValueError, match=f"limit={limit}: expected 0 to"):
            make_gate().reader(0).get_ready(limit, Positions())


def test_ends_that_do_not_exist() -> None:
    gate = make_gate(sources=2)
    for wrong in (-1, 2):
        with pytest.raises(IndexError, match=f"no source {wrong}: the gate has 2"):
            gate.source(wrong)
        with pytest.raises(IndexError, match=f"no reader {wrong}: the gate has 1"):
            gate.reader(wrong)
        with pytest.raises(IndexError, match=f"no reader {wrong}: the gate has 1"):
            ScaleGate.attach(gate._arena, gate.offset, local_readers=[wrong])
    assert gate.source(1) is gate.source(1) and gate.reader(0) is gate.reader(0)


class WeakList(list[tuple[object, ...]]):
    """A list that can be referred to weakly."""


def test_a_payload_is_handed_over_by_reference_and_let_go() -> None:
    gate = make_gate()
    rows = WeakList([("a",), ("b",), ("c",)])
    assert gate.source(0).add(Jumbo(Rows(rows)), at(0, 1, 2, 3), 1, 3)
    alive = weakref.ref(rows)
    del rows
    into = Positions()
    (first,) = gate.reader(0).get_ready(2, into)
    (second,) = gate.reader(0).get_ready(2, into)
    assert first[1] is second[1] and first[1].payload.rows is alive()
    assert (first[2:], second[2:]) == ((0, 2), (2, 1))
    assert [p.ts for p in into] == [1, 2, 3]
    del first, second
    gc.collect()
    assert alive() is None


def test_one_call_publishes_to_many_gates() -> None:
    gates = [make_gate(), make_gate(sources=2), make_gate()]
    sources = [gates[0].source(0), gates[1].source(1), gates[2].source(0)]
    heartbeats = Heartbeats(sources)
    heartbeats.publish(Position(7, 1, 2))
    assert [source.floor() for source in sources] == [Position(7, 1, 2)] * 3
    assert [gate.reader(0).watermark() for gate in gates] == [Position(7, 1, 2), LEAST, Position(7, 1, 2)]
    heartbeats.publish(Position(3, 0, 0))
    assert gates[0].reader(0).watermark() == Position(7, 1, 2)
    heartbeats.publish(END)
    assert [gate.reader(0).drained() for gate in gates] == [True, False, True]


def test_nobody_to_tell_is_fine() -> None:
    Heartbeats([]).publish(END)


def test_a_source_keeps_its_memory() -> None:
    source = make_gate().source(0)
    gc.collect()
    assert add(source, 1) and source.floor().ts == 1
