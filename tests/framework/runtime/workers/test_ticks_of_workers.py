"""Ticks follow event time in every worker, or the wall clock of each."""

from __future__ import annotations

import time
from typing import Any

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.components import Endless, Ticked, Timed
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind, several

TICKS: dict[str, Any] = {"topology.tick.tuple.freq.secs": 10}


def by_event_time(par: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Timed, args=[95])
    builder.set_bolt("ticked", Ticked, par, config=TICKS).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("ticked")
    return builder


@several
def test_event_time_ticks_come_at_the_same_tuple_everywhere(workers: Workers) -> None:
    assert workers.run(by_event_time(3)).result("sink") == INLINE.run(by_event_time(3)).result("sink")


@every_kind
def test_one_comes_every_so_many_seconds_of_event_time_and_one_at_the_end(workers: Workers) -> None:
    report = workers.run(by_event_time(1))
    assert report.result("sink") == [(10,), (20,), (30,), (40,), (50,), (60,), (70,), (80,), (90,), (95,)]
    assert report.components["ticked"].ticks == 10


@every_kind
def test_wall_clock_ticks_come_while_tuples_do(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    config = {"topology.tick.tuple.freq.secs": 0.05}
    builder.set_bolt("ticked", Ticked, 2, config=config).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("ticked")
    began = time.monotonic()
    report = workers.run(builder, {"duration_s": 0.4})
    # How long the drain takes after that is the machine's affair.
    most = (time.monotonic() - began) / 0.05 + 1
    assert 2 * 2 <= report.components["ticked"].ticks <= 2 * most
    assert len(report.result("sink")) == report.components["ticked"].ticks
    # Of an odd number one task has got one more, and may have said so twice.
    assert sum(sorted(seen for (seen,) in report.result("sink"))[-2:]) - report.emitted in (0, 1)
