"""Gates by example; `test_gate_model` has the same against a reference."""

from __future__ import annotations

import pytest

from viper.arena import Arena
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import END, LEAST, Position, Positions
from viper.statistics import DeliveryStatistics, GateStatistics, ReaderStatistics, SourceStatistics


def make_gate(sources: int, readers: int = 1, slots: int = 4, tuples: int = 32) -> ScaleGate:
    arena = Arena.private(ScaleGate.size(sources, readers, slots, tuples, 0))
    return ScaleGate.create(arena, sources, readers, slots=slots, tuples=tuples)


def add(gate: ScaleGate, source: int, *timestamps: int) -> None:
    positions = Positions()
    for ts in timestamps:
        positions.append(Position(ts, 0, 0))
    rows = [(f"{source}:{ts}",) for ts in timestamps]
    assert gate.source(source).add(Jumbo(Rows(rows)), positions, 0, len(rows))


def deliver(gate: ScaleGate, limit: int = 100, reader: int = 0) -> list[str]:
    runs = gate.reader(reader).get_ready(limit, Positions())
    return [item for _, jumbo, first, count in runs for (item,) in jumbo.payload.rows[first : first + count]]


def test_a_source_that_has_not_spoken_holds_everything() -> None:
    gate = make_gate(2)
    add(gate, 0, 1, 2)
    assert not gate.reader(0).ready() and deliver(gate) == []
    assert (gate.reader(0).holding_source(), gate.reader(0).watermark()) == (1, LEAST)
    gate.source(1).heartbeat(Position(2, 0, 0))
    assert gate.reader(0).ready() and gate.reader(0).holding_source() is None
    assert gate.reader(0).watermark() == Position(1, 0, 0)
    assert deliver(gate) == ["0:1", "0:2"]  # ties go to the lower index
    assert gate.reader(0).holding_source() == 0


def test_a_tie_waits_for_the_lower_index() -> None:
    gate = make_gate(2)
    add(gate, 1, 5)
    gate.source(0).heartbeat(Position(5, 0, 0))
    assert not gate.reader(0).ready() and gate.reader(0).holding_source() == 0
    add(gate, 0, 5)
    gate.source(0).heartbeat(Position(5, 0, 1))
    assert deliver(gate) == ["0:5", "1:5"]


def test_closed_sources_let_the_rest_go() -> None:
    gate = make_gate(3)
    add(gate, 1, 8, 9)
    for index in range(3):
        gate.source(index).close()
    assert not gate.reader(0).drained()
    assert deliver(gate) == ["1:8", "1:9"]
    assert gate.reader(0).drained() and gate.reader(0).watermark() == END
    assert gate.reader(0).holding_source() is None and not gate.reader(0).ready()


def test_runs_are_as_long_as_order_allows() -> None:
    gate = make_gate(2)
    add(gate, 0, 1, 2, 3, 10, 11)
    add(gate, 1, 4, 5, 6)
    for index in range(2):
        gate.source(index).close()
    runs = gate.reader(0).get_ready(100, Positions())
    assert [(source, first, count) for source, _, first, count in runs] == [(0, 0, 3), (1, 0, 3), (0, 3, 2)]


def test_more_runs_than_one_call_returns_come_in_several() -> None:
    gate = make_gate(2, slots=1, tuples=512)
    add(gate, 0, *range(0, 1000, 2))
    add(gate, 1, *range(1, 1000, 2))
    gate.source(0).close()
    gate.source(1).close()
    delivered = []
    while gate.reader(0).ready():
        delivered += deliver(gate, limit=1000)
    assert [int(item[2:]) for item in delivered] == list(range(1000))


def test_statistics_count_what_passed_and_what_waits() -> None:
    gate = make_gate(2, slots=3, tuples=5)
    add(gate, 0, 1, 2, 3)
    add(gate, 0, 4, 5)
    positions = Positions()
    positions.append(Position(6, 0, 0))
    for _ in range(2):
        assert gate.source(0).add(Jumbo(Rows([("x",)])), positions, 0, 1)
    assert not gate.source(0).add(Jumbo(Rows([("x",)])), positions, 0, 1)
    gate.source(1).heartbeat(Position(3, 9, 9))
    assert len(deliver(gate)) == 3
    found = gate.statistics()
    blocked_ns = found.sources[0].blocked_ns  # till now
    assert blocked_ns > 0
    added = SourceStatistics(added_jumbos=4, added_tuples=7, added_bytes=0, refused=1, blocked_ns=blocked_ns)
    delivered = DeliveryStatistics(delivered_tuples=3, runs=1, waiting_jumbos=3, waiting_tuples=4)
    assert found == GateStatistics(
        slots=4,
        tuples=8,
        payload_bytes=0,
        sources=(added, SourceStatistics(0, 0, 0, 0, 0)),
        readers=(ReaderStatistics(holding=1, sources=(delivered, DeliveryStatistics(0, 0, 0, 0))),),
    )


@pytest.mark.parametrize(
    "wrong", [{"sources": 0}, {"readers": 2**16 + 1}, {"slots": 0}, {"tuples": 2**31 + 1}]
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    numbers = {"sources": 1, "readers": 1, "slots": 1, "tuples": 1, "payload_bytes": 0, **wrong}
    ((name, found),) = wrong.items()
    with pytest.raises(ValueError, match=rf"{name}={found}: expected 1 to \d+"):
        ScaleGate.size(**numbers)


def test_what_waits_for_some_readers_is_added_up() -> None:
    gate = make_gate(2, readers=3)
    add(gate, 0, 1, 2)
    add(gate, 1, 3)
    gate.source(0).close()
    assert deliver(gate, limit=1, reader=1) == ["0:1"]
    assert [gate.waiting_tuples(readers) for readers in ([], [0], [1], [1, 2], range(3))] == [0, 3, 2, 5, 8]
