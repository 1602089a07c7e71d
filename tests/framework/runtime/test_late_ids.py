"""Tracking begins with the first tuple that has an id, whatever has come before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.order.tracking.pending import Pending
from tests.framework.runtime.pieces import run_built, spout

COUNT = 200
FIRST_ID = 100
"""The first number that is emitted with an id."""


class Heard:
    """The answers that the spout has heard."""

    def __init__(self) -> None:
        self.acked: list[int] = []
        self.failed: list[int] = []

    def __len__(self) -> int:
        return len(self.acked) + len(self.failed)


def late(heard: Heard) -> Any:
    """Numbers, of which the later ones have ids; it ends when it has heard of those."""

    def tuples(this: Any) -> Iterator[Any]:
        for number in range(COUNT):
            this.emit([number], tup_id=number if number >= FIRST_ID else None)
            yield None
        while len(heard) < COUNT - FIRST_ID:
            yield None

    return spout(
        tuples,
        ack=lambda this, tup_id: heard.acked.append(tup_id),
        fail=lambda this, tup_id: heard.failed.append(tup_id),
    )


class Divides(Bolt):
    """Emits each number twice, holds those that divide by 3 until the next one, and fails those by 7."""

    outputs = ["value"]
    auto_ack = False

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._held: list[Any] = []

    def process(self, tup: Any) -> None:
        (number,) = tup.values
        self.emit([number])
        self.emit([number])
        while self._held:
            self.ack(self._held.pop())
        if number % 7 == 0:
            self.fail(tup)
        elif number % 3 == 0 and number < COUNT - 1:
            self._held.append(tup)
        else:
            self.ack(tup)


class Last(Bolt):
    def process(self, tup: Any) -> None:
        pass


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("workers", ["inline", "thread"])
def test_ids_that_come_late_are_answered(workers: str, seed: int) -> None:
    heard = Heard()
    builder = TopologyBuilder()
    builder.set_spout("source", late(heard))
    builder.set_bolt("divides", Divides).shuffle_grouping("source")
    builder.set_bolt("last", Last).shuffle_grouping("divides")
    options = {"viper__scheduling": "random", "viper__seed": seed, "viper__worker": workers}
    report = run_built(builder, topology__workers=2, **options)
    by_seven = [number for number in range(FIRST_ID, COUNT) if number % 7 == 0]
    assert sorted(heard.failed) == by_seven, seed
    assert sorted(heard.acked + heard.failed) == list(range(FIRST_ID, COUNT)), seed
    assert report.components["last"].processed == 2 * COUNT


def test_until_then_nobody_does_anything_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    for owner, name in ((Acker, "take"), (Acker, "give"), (Acker, "end"), (Pending, "look")):
        monkeypatch.setattr(owner, name, lambda *args, name=name: done.append(name))
    builder = TopologyBuilder()
    builder.set_spout("source", spout(lambda this: iter([[n] for n in range(COUNT)])))
    builder.set_bolt("divides", Divides).shuffle_grouping("source")
    builder.set_bolt("last", Last).shuffle_grouping("divides")
    assert run_built(builder).components["last"].processed == 2 * COUNT
    assert done == []


def test_a_death_before_the_first_id_fails_none_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """An incident that the forest heard of while nothing was in flight concerns nobody."""
    heard = Heard()
    begin = Pending.begin

    def after_an_incident(self: Pending, ids: Any) -> Any:
        if not len(self):
            self._forest.incident()
        return begin(self, ids)

    monkeypatch.setattr(Pending, "begin", after_an_incident)
    builder = TopologyBuilder()
    builder.set_spout("source", late(heard))
    builder.set_bolt("last", Last).shuffle_grouping("source")
    run_built(builder)
    assert sorted(heard.acked) == list(range(FIRST_ID, COUNT))
    assert heard.failed == []
