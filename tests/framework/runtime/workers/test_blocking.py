"""A component that blocks, and says so, holds up nobody; what it has emitted flows meanwhile.

Every one waits here for something that happens further down, so a run that holds it back never ends.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink, CountingSink
from framework.runtime.exchange.output import Output
from framework.runtime.execution import stand_in
from framework.runtime.tasks.presence import BlockingPresence
from framework.runtime.workers import executor_thread
from tests.framework.runtime.pieces import drawn
from tests.framework.runtime.shapes import SHAPES
from tests.framework.runtime.workers.components import AsksForReceivers, Endless, Forward, Numbers
from tests.framework.runtime.workers.conftest import Gate
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.framework.runtime.workers.waiting import (
    BLOCKS,
    GoesBack,
    Opens,
    Swallows,
    WaitsFirst,
    WaitsInBolt,
    WaitsInCall,
    WaitsInGenerator,
    WaitsInNextCall,
)
from tests.portions import seeds_at_every_change

COUNT = 3000

everywhere = pytest.mark.parametrize(
    "workers", [INLINE, Workers("thread", 1), THREADS, Workers("process", 1), PROCESSES], ids=str
)


def beside(waits: type[Bolt]) -> TopologyBuilder:
    """The source feeds the bolt that waits, and another one, whose output opens the gate."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("waits", waits).shuffle_grouping("source")
    builder.set_bolt("free", Forward).shuffle_grouping("source")
    builder.set_bolt("opens", Opens).global_grouping("free")
    return builder


@everywhere
def test_others_of_its_worker_go_on(workers: Workers, gate: Gate) -> None:
    report = workers.run(
        beside(WaitsInBolt), gate__go=gate("go"), wait__at=7, wait__after=False, open__at=COUNT
    )
    assert report.components["waits"].processed == COUNT
    assert len(report.result("opens")) == COUNT


@pytest.mark.parametrize("waits", [WaitsInCall, WaitsInNextCall, WaitsInGenerator])
@everywhere
def test_what_a_spout_emits_flows_before_it_blocks(workers: Workers, waits: type[Spout], gate: Gate) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", waits)
    builder.set_bolt("middle", Forward).shuffle_grouping("source")
    builder.set_bolt("opens", Opens).global_grouping("middle")
    assert workers.run(builder, gate__go=gate("go"), open__at=1).result("opens") == [(1,)]


@everywhere
def test_what_a_bolt_emits_flows_before_it_blocks(workers: Workers, gate: Gate) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("waits", WaitsInBolt).shuffle_grouping("source")
    builder.set_bolt("opens", Opens).global_grouping("waits")
    report = workers.run(builder, gate__go=gate("go"), wait__at=2000, wait__after=True, open__at=2001)
    assert report.result("opens") == [(n,) for n in range(COUNT)]


@everywhere
def test_who_merges_its_output_knows_how_far_it_is(workers: Workers, gate: Gate) -> None:
    """Nothing comes from it, so only its progress lets the source's own tuples through."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("waits", Swallows).shuffle_grouping("source")
    builder.set_bolt("opens", Opens).global_grouping("waits").global_grouping("source")
    report = workers.run(builder, gate__go=gate("go"), wait__at=2000, wait__after=False, open__at=2000)
    assert len(report.result("opens")) == COUNT + 1000
    assert report.result("opens")[:2000] == [("0", n) for n in range(2000)]


@everywhere
def test_the_time_of_a_live_source_goes_on_while_it_blocks(workers: Workers, gate: Gate) -> None:
    builder = TopologyBuilder()
    builder.set_spout("waits", WaitsFirst)
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("opens", Opens).global_grouping("waits").global_grouping("source")
    report = workers.run(builder, gate__go=gate("go"), open__at=COUNT, viper__time="ingest")
    assert report.result("opens") == [*(("0", n) for n in range(COUNT)), (-1,)]


@everywhere
def test_what_cannot_be_emitted_is_told_although_the_callback_does_not_return(
    workers: Workers, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_thread, "LAST_CALL_S", 0.1)
    builder = TopologyBuilder()
    builder.set_spout("source", GoesBack)
    builder.set_bolt("sink", CountingSink).global_grouping("source")
    with pytest.raises(ComponentError, match=r"source.*in emit: .*event time must not go back"):
        workers.run(builder, gate__go=gate("go"))


def look_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have who speaks for blocking tasks cut in as often as it can, and not only when it is called."""
    monkeypatch.setattr(stand_in, "PERIOD_S", 0)
    monkeypatch.setattr(stand_in, "LONGEST_WAIT_S", 0)


def test_who_speaks_for_a_spout_never_says_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A position below what was promised would be refused, so nothing may come between placing and adding."""
    deliver = Output.deliver

    def deliver_later(self: Output, *arguments: Any) -> None:
        time.sleep(0.0001)  # others may run
        deliver(self, *arguments)

    monkeypatch.setattr(Output, "deliver", deliver_later)
    look_all_the_time(monkeypatch)
    builder = TopologyBuilder()
    builder.set_spout("source", Endless, 2, config=BLOCKS)
    builder.set_bolt("sink", CountingSink).global_grouping("source")
    assert THREADS.run(builder, {"max_tuples": 100}, viper__time="ingest").result("sink") == 100


@pytest.mark.few(1)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(4), 1), ids=str)
def test_nothing_of_it_shows_in_the_output(shape: str, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often who speaks for a task cuts in between two emits."""
    look_all_the_time(monkeypatch)
    serial = INLINE.run(SHAPES[shape](1, 60)).result("sink")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for seed in seeds:
            par, options = drawn(seed)
            report = THREADS.run(SHAPES[shape](par, 60), viper__blocking=True, **options)
            assert report.result("sink") == serial, (seed, par, options)
            assert not any(counters.unplanned for counters in report.components.values()), seed
    finally:
        sys.setswitchinterval(before)


def test_who_receives_a_tuple_is_told_however_often_others_act_for_the_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = threading.Semaphore(0)
    look, back = BlockingPresence.stand_in, BlockingPresence.back

    def look_and_say_so(self: BlockingPresence, call: Callable[[], None]) -> None:
        look(self, call)
        looked.release()

    def wait_and_come_back(self: BlockingPresence, call: Callable[[], Any]) -> Any:
        while looked.acquire(blocking=False):
            pass
        for _ in range(2):  # the first may have begun before the last emit
            assert looked.acquire(timeout=60)
        return back(self, call)

    look_all_the_time(monkeypatch)
    monkeypatch.setattr(BlockingPresence, "stand_in", look_and_say_so)
    monkeypatch.setattr(BlockingPresence, "back", wait_and_come_back)
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[10])
    builder.set_bolt("asks", AsksForReceivers, config=BLOCKS).shuffle_grouping("source")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("asks", "told")
    builder.set_bolt("heard", CountingSink).shuffle_grouping("asks")
    report = THREADS.run(builder)
    assert [len(told) for (told,) in report.result("sink")] == [1] * 10
    assert report.result("heard") == 10
