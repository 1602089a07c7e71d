"""The time in which tasks had their turns and did not compute, apart from what they computed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.runtime import Run, StopReason
from framework.runtime.execution.accounting import CpuTimes, ThreadClock, WaitedTimes
from framework.runtime.observation import Bottleneck, ComponentRates, bottleneck, rates_between
from framework.runtime.tasks.task import Task
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.running import Workers, every_kind

LOOKED_S = 0.2


class FakeTask:
    """A task of which only its role matters."""

    def __init__(self, *, is_source: bool = False) -> None:
        self.is_source = is_source


def fake(*, is_source: bool = False) -> Task:
    return cast(Task, FakeTask(is_source=is_source))


def test_turns_without_cpu_time_are_waited() -> None:
    bolt, waited = fake(), WaitedTimes(lambda: 0.0)
    assert waited.look({bolt: 1.0}, {bolt: 0.25}, 0.0) == {bolt: 0.75}
    assert waited.look({bolt: 2.0}, {bolt: 1.25}, 0.0) == {bolt: 0.75}
    assert waited.look({bolt: 3.0}, {bolt: 1.25}, 0.0) == {bolt: 1.75}


def test_a_thread_without_a_processor_does_not_wait() -> None:
    """Its delay is divided among its tasks by the time that they did not compute."""
    bolt, other, delays = fake(), fake(), iter([0.5, 0.5])
    waited = WaitedTimes(lambda: next(delays))
    assert waited.look({bolt: 1.0, other: 0.5}, {bolt: 0.25, other: 0.25}, 0.0) == {bolt: 0.375, other: 0.125}
    assert waited.look({bolt: 2.0, other: 0.5}, {bolt: 0.25, other: 0.25}, 0.0) == {bolt: 1.375, other: 0.125}


def test_delays_from_before_the_run_are_none_of_it(tmp_path: Path) -> None:
    """The thread that runs the tasks may have loaded the topology, on a machine that was busy meanwhile."""
    schedule = tmp_path / "schedstat"
    schedule.write_text("7 3000000000 1\n", encoding="ascii")
    clock = ThreadClock(schedule)
    assert clock.delayed_s() == 0.0
    schedule.write_text("7 3500000000 2\n", encoding="ascii")
    assert clock.delayed_s() == 0.5
    schedule.unlink()
    assert clock.delayed_s() == 0.0


def test_others_that_compute_may_have_had_the_lock_of_a_bolt() -> None:
    bolt, source = fake(), fake(is_source=True)
    idle = {bolt: 1.0, source: 1.0}
    assert WaitedTimes(lambda: 0.0).look(idle, {bolt: 0.0, source: 0.0}, 5.0) == {bolt: 0.0, source: 1.0}


def test_what_is_told_a_little_late_is_not_counted_twice() -> None:
    """CPU time of the last turns comes with the next reading."""
    bolt, waited = fake(), WaitedTimes(lambda: 0.0)
    waited.look({bolt: 1.0}, {bolt: 0.0}, 0.0)
    waited.look({bolt: 1.0}, {bolt: 0.5}, 0.0)
    assert waited.look({bolt: 2.0}, {bolt: 0.5}, 0.0) == {bolt: 1.5}


def test_the_cpu_time_of_a_turn_that_goes_on() -> None:
    """By the share of the time since the last reading: the thread itself has spun since then."""
    cpu = CpuTimes()
    began_s = time.monotonic()
    cpu.begin(began_s)
    while time.thread_time_ns() < cpu._read_ns + 20_000_000:
        pass
    now_s = time.monotonic()
    whole_s = cpu.used_since(began_s, now_s)
    half_s = cpu.used_since((began_s + now_s) / 2, now_s)
    assert whole_s >= 0.02 and half_s == pytest.approx(whole_s / 2, rel=0.2)
    cpu.end()
    assert cpu.used_since(began_s, now_s) == 0.0


class Waits(Spout):
    """Waits in its own code, until the process ends that its run is looked at from."""

    outputs = ["number"]

    def tuples(self) -> Iterator[list[Any]]:
        while True:
            time.sleep(0.02)
            yield [1]


class Asks(Bolt):
    """Waits for every tuple."""

    def process(self, tup: Any) -> None:
        time.sleep(0.02)


class Endless(Spout):
    """Has more tuples than anybody takes."""

    outputs = ["number"]

    def tuples(self) -> Iterator[list[Any]]:
        while True:
            yield [1]


def looked_at(builder: TopologyBuilder, waiting: str, **options: Any) -> tuple[ComponentRates, Any]:
    """The rates of a component once its turns have taken a while, and what is named for holding the run."""
    run, found = Run(*plan_of(builder, viper__drain__timeout__secs=0.01, **options)), []

    def in_turns(before: Any) -> float:
        return sum(task.busy_s for each in before.components if each.id == waiting for task in each.tasks)

    def look() -> None:
        try:
            while not in_turns(before := run.look()):
                time.sleep(0.01)
            while in_turns(now := run.look()) < in_turns(before) + LOOKED_S:
                time.sleep(0.01)
            rates = rates_between(before, now)
            found.append((rates[waiting], bottleneck(now, rates)))
        finally:
            run._stop.request(StopReason.INTERRUPTED)

    looking = threading.Thread(target=look)
    looking.start()
    run.execute()
    looking.join()
    return found[0]


@pytest.mark.few(1)
@every_kind
def test_a_source_that_waits_is_not_named(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Waits)
    builder.set_bolt("count", Asks).global_grouping("source")
    rates, held = looked_at(builder, "source", **workers.options)
    assert rates.waiting > rates.busy and rates.capacity < 0.9
    assert held is None or held.component != "source"


@pytest.mark.few(1)
@every_kind
def test_a_bolt_that_waits_is_said_to_wait(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    builder.set_bolt("asks", Asks).global_grouping("source")
    rates, held = looked_at(builder, "asks", **workers.options)
    assert rates.waiting > rates.busy and rates.capacity == pytest.approx(rates.waiting + rates.busy)
    # On a busy machine it may not be at its limit, and a source that had no processor may seem to be.
    assert held is None or held.waits or held.component != "asks"


@pytest.mark.parametrize(
    ("role", "waits", "told"),
    [
        ("bolt", True, "waiting, not computing: more tasks in more workers help, more cores do not"),
        ("bolt", False, "computing: more tasks help, in more workers on more cores"),
        ("spout", False, "computing: more tasks help, if they can share its input, on more cores"),
    ],
)
def test_in_words(role: str, waits: bool, told: str) -> None:
    found = Bottleneck("ask", role, 0.95, waits).told
    assert found == f"{role} ask is at its limit, in its code for 95% of the time, {told}"
