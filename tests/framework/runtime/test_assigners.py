"""A task's emitter relies on this: the positions of an emission stay until the next one has been made."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from framework.model.topology import Stream
from framework.operators.components import Tuple
from framework.runtime.exchange.collector import TaskCollector
from framework.runtime.exchange.output import Output, Port
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.positions.clocks import LogicalClock
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from framework.runtime.tasks.emitter import Assigner, Emitter
from framework.runtime.tasks.pullers import Allowance
from framework.runtime.tasks.spout_assigner import SpoutAssigner
from viper.position import LEAST, Level, Position
from viper.rows import Inbox

LEVEL = Level(64, 16, 0, 0)


class Unlimited:
    """A quota that is never used up."""

    left = None


def collector() -> TaskCollector:
    port = Port(0, Stream(fields=["n"]), kept=True)
    return TaskCollector("component", Output([port], []), TaskCounters(), logging.getLogger("test"))


def of_a_bolt(at: TaskCollector) -> BoltAssigner:
    return BoltAssigner(at.buffer, Inbox(Tuple, at.outbox, 2048), LEVEL, None)


def of_a_spout(at: TaskCollector) -> SpoutAssigner:
    quota: Any = Unlimited()
    return SpoutAssigner(at.buffer, LogicalClock(LEVEL), Allowance(quota), None, at.counters)


@pytest.mark.parametrize("make", [of_a_bolt, of_a_spout])
def test_the_last_position_stays_known_until_another_one_follows(make: Any) -> None:
    gathered, context = collector(), None
    assigner: Assigner = make(gathered)
    emitter = Emitter(context, gathered.output, assigner)  # type: ignore[arg-type]
    assert emitter.last_placed == LEAST
    placed: list[Position] = []
    for number in range(4):
        gathered.outbox.emit([number])
        emitter.place()
        placed.append(emitter.last_placed)
        emitter.place()  # of nothing
        assert emitter.last_placed == placed[-1]
    assert placed == sorted(set(placed))


@pytest.mark.parametrize("make", [of_a_bolt, of_a_spout])
def test_an_emission_that_is_being_made_does_not_change_the_one_before(make: Any) -> None:
    gathered = collector()
    assigner: Assigner = make(gathered)
    gathered.outbox.emit([1])
    first = assigner.take()
    assert first is not None
    before = list(first.positions)
    assert assigner.take() is None
    gathered.outbox.emit([2])
    second = assigner.take()
    assert second is not None
    assert list(first.positions) == before
    assert first.positions.last() < second.positions.last()
