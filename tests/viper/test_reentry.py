"""A source that is used in the middle of an add to it, as a finalizer may: refused, and nothing is spoilt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from viper.arena import Arena
from viper.errors import OrderError, ReentryError, SourceClosedError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import Position, Positions
from viper.source import Source


@pytest.fixture(params=["handed over", "encoded"])
def gate(request: pytest.FixtureRequest) -> ScaleGate:
    """A gate with its reader in this process, or as if in another."""
    arena = Arena.private(100_000)
    made = ScaleGate.create(arena, 1, slots=4, tuples=16, payload_bytes=1024)
    return made if request.param == "handed over" else ScaleGate.attach(arena, made.offset)


def add(source: Source, *timestamps: int) -> bool:
    positions = Positions()
    for ts in timestamps:
        positions.append(Position(ts, 0, 0))
    return source.add(Jumbo(Rows([(ts,) for ts in timestamps])), positions, 0, len(timestamps))


def delivered(gate: ScaleGate) -> list[tuple[int, int]]:
    """The timestamps that came, with what the rows say of them."""
    into = Positions()
    runs = gate.reader(0).get_ready(100, into)
    rows = [row for _, jumbo, first, count in runs for row in jumbo.payload.rows[first : first + count]]
    return [(position.ts, ts) for position, (ts,) in zip(into, rows, strict=True)]


def after_the_claim(source: Source, step: Callable[[], object]) -> None:
    """Let the next add do something where a collection would fall: after its claim."""
    claim = source._claim

    def claim_and_step(*arguments: Any) -> int:
        source._claim = claim
        slot: int = claim(*arguments)
        step()
        return slot

    source._claim = claim_and_step


def test_an_add_within_an_add_is_refused(gate: ScaleGate) -> None:
    source = gate.source(0)
    refused: list[str] = []

    def add_too() -> None:
        with pytest.raises(ReentryError) as found:
            add(source, 3)
        refused.append(str(found.value))

    after_the_claim(source, add_too)
    assert add(source, 5, 6)
    assert ["source 0 is in the middle of an add: a finalizer" in text for text in refused] == [True]
    assert add(source, 7)
    assert delivered(gate) == [(5, 5), (6, 6), (7, 7)]


def test_a_promise_below_what_is_added_changes_nothing(gate: ScaleGate) -> None:
    source = gate.source(0)
    after_the_claim(source, lambda: source.heartbeat(Position(5, 0, 0)))
    assert add(source, 5, 6)
    assert delivered(gate) == [(5, 5), (6, 6)]


def test_a_promise_above_what_is_added_is_kept(gate: ScaleGate) -> None:
    source = gate.source(0)
    after_the_claim(source, lambda: source.heartbeat(Position(6, 0, 0)))
    with pytest.raises(OrderError, match=r"tuple 0 .* at Position\(ts=5, .* nothing below Position\(ts=6,"):
        add(source, 5, 6)
    assert add(source, 6)
    assert delivered(gate) == [(6, 6)]


def test_a_source_that_is_closed_meanwhile_takes_nothing(gate: ScaleGate) -> None:
    source = gate.source(0)
    after_the_claim(source, source.close)
    with pytest.raises(SourceClosedError, match="source 0 was closed"):
        add(source, 5)
    assert delivered(gate) == [] and gate.reader(0).drained()


def test_an_add_that_was_interrupted_can_be_done_again(gate: ScaleGate) -> None:
    source = gate.source(0)

    def interrupt() -> None:
        raise KeyboardInterrupt

    after_the_claim(source, interrupt)
    with pytest.raises(KeyboardInterrupt):
        add(source, 5)
    assert delivered(gate) == []
    assert add(source, 5)
    assert delivered(gate) == [(5, 5)]
