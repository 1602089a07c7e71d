"""How runs end before their spouts do, how they wait, and what they hold."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, TicklessBatchingBolt, TopologyBuilder
from framework.runtime import StopReason, StopSignal
from framework.runtime.destination import Destination
from framework.sinks import CountingSink
from tests.framework.runtime.pieces import bolt, built, listed, polled, run_built, spout

REPOSITORY = Path(__file__).parents[3]


def endless(self: Any) -> Any:
    for number in itertools.count():
        yield [number]


def one_by_one(self: Any) -> None:
    self.n = getattr(self, "n", -1) + 1
    self.emit([self.n])


def never_returns(self: Any) -> None:
    for number in itertools.count():
        self.emit([number])


class FakeClock(StopSignal):
    """A clock that only goes on when the worker rests, and what it rested for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.now = 1000.0
        self.rests: list[float] = []
        monkeypatch.setattr("time.monotonic", lambda: self.now)

    def wait(self, timeout_s: float) -> None:
        assert timeout_s > 0
        self.rests.append(timeout_s)
        self.now += timeout_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    return FakeClock(monkeypatch)


# -- limits


@pytest.mark.parametrize("limit", [1, 63, 64, 1000, 10_001])
@pytest.mark.parametrize("source", [spout(endless), polled(one_by_one)], ids=["generator", "polled"])
def test_max_tuples_is_exact_where_one_call_brings_one_tuple(source: Any, limit: int) -> None:
    report = run_built(built(source), {"max_tuples": limit})
    assert report.result("sink") == [(n,) for n in range(limit)]
    assert (report.reason, report.drained, report.emitted) == (StopReason.MAX_TUPLES, True, limit)


def test_max_tuples_counts_all_spouts_together() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", spout(endless), 3)
    builder.set_bolt("sink", CountingSink).global_grouping("source")
    assert run_built(builder, {"max_tuples": 1000}, viper__time="logical").result("sink") == 1000


def test_a_next_tuple_that_never_returns_is_stopped_by_max_tuples() -> None:
    report = run_built(built(polled(never_returns)), {"max_tuples": 1000})
    rows = report.result("sink")
    assert rows == [(n,) for n in range(len(rows))]
    assert 1000 <= len(rows) < 50_000
    assert report.reason is StopReason.MAX_TUPLES


def test_a_next_tuple_that_never_returns_is_stopped_after_the_duration() -> None:
    report = run_built(built(polled(never_returns)), {"duration_s": 0.05})
    rows = report.result("sink")
    assert rows == [(n,) for n in range(len(rows))]
    assert report.reason is StopReason.DURATION


def test_a_next_tuple_that_emits_a_few_tuples_is_never_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = StopSignal()

    def five(self: Any) -> None:
        for number in range(5):
            self.emit([number])
            stop.request(StopReason.INTERRUPTED)

    rows = run_built(built(polled(five)), {"stop": stop}, viper__jumbo__linger__ms=0).result("sink")
    assert rows == [(n,) for n in range(5)]


def test_a_run_is_stopped_from_another_thread() -> None:
    stop = StopSignal()

    def process(self: Any, tup: Any) -> None:
        if tup.values[0] == 100:
            asking = threading.Thread(target=stop.request, args=(StopReason.INTERRUPTED,))
            asking.start()
            asking.join()
        self.emit([tup.values[0]])

    report = run_built(built(spout(endless), bolt(process)), {"stop": stop})
    rows = report.result("sink")
    assert rows == [(n,) for n in range(len(rows))]
    assert len(rows) > 100
    assert (report.reason, report.drained) == (StopReason.INTERRUPTED, True)


def test_what_is_not_drained_in_time_is_given_up(clock: FakeClock) -> None:
    def floods(self: Any, tup: Any) -> None:
        clock.request(StopReason.INTERRUPTED)
        for number in itertools.count():
            clock.now += 0.001
            self.emit([number])

    builder = built(listed([1]), bolt(floods))
    report = run_built(builder, {"stop": clock}, viper__channel__jumbos=1, viper__drain__timeout__secs=20)
    assert not report.drained
    assert 20 <= report.elapsed_s < 30


SCRIPT = """
    import itertools, os, signal, sys, time
    from framework import Bolt, Spout
    from framework.errors import ComponentError
    from tests.framework.runtime.pieces import built, bolt, run_built, spout

    def tuples(self):
        for number in itertools.count():
            if number == 2000:
                os.kill(os.getpid(), signal.{name})
            yield [number]

    def process(self, tup):
        if tup.values[0] == 2000 and {again}:
            os.kill(os.getpid(), signal.{name})
        self.emit([tup.values[0]])

    def close(self):
        sys.stderr.write("closed\\n")

    report = run_built(built(spout(tuples), bolt(process, close=close)))
    rows = report.result("sink")
    assert rows == [(n,) for n in range(len(rows))]
    assert len(rows) > 2000
    print(report.reason, report.drained)
"""


def signalled(name: str, again: bool) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT).format(name=name, again=again)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_first_signal_drains(name: str) -> None:
    done = signalled(name, again=False)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted True\n", "closed\n", 0)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_second_signal_stops_at_once(name: str) -> None:
    done = signalled(name, again=True)
    assert done.stdout == ""
    assert "closed\n" in done.stderr
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode == -signal.SIGINT


# -- waiting


def test_an_idle_spout_is_polled_with_a_growing_pause(clock: FakeClock) -> None:
    polls: list[float] = []

    def next_tuple(self: Any) -> None:
        polls.append(clock.now)
        if len(polls) == 5:
            self.emit([5])

    run_built(built(polled(next_tuple)), {"stop": clock, "duration_s": 1.0}, viper__poll__pause__max__ms=50)
    pauses = [round((later - earlier) * 1000) for earlier, later in itertools.pairwise(polls)]
    assert pauses[:12] == [1, 2, 4, 8, 0, 0, 1, 2, 4, 8, 16, 32]
    assert pauses[12:] == [50] * len(pauses[12:])
    assert 20 < len(polls) < 40


def test_a_blocked_spout_does_not_keep_the_worker_awake(clock: FakeClock) -> None:
    """One spout has more than the channel holds, while the consumer waits for the other, idle one."""
    builder = TopologyBuilder()
    builder.set_spout("fast", spout(endless))
    builder.set_spout("idle", polled(lambda self: None))
    builder.set_bolt("sink", CountingSink).global_grouping("fast").global_grouping("idle")
    report = run_built(builder, {"stop": clock, "duration_s": 1.0}, viper__time="logical")
    assert len(clock.rests) < 60
    assert sum(clock.rests) == pytest.approx(1.0, abs=0.1)
    assert report.result("sink") == report.emitted


# -- timers


class Ticked(Bolt):
    outputs = ["at"]

    def process(self, tup: Any) -> None:
        pass

    def process_tick(self, tup: Any) -> None:
        self.emit([tup.values[0]])


def quiet(clock: FakeClock, until_s: float, then: Callable[[], object] = lambda: None) -> Any:
    """A spout that says something once, and ends after so many seconds."""

    def tuples(self: Any) -> Any:
        started = clock.now
        yield [0]
        while clock.now < started + until_s:
            yield None
        then()

    return spout(tuples)


def test_ticks_by_the_wall_clock_arrive_although_nothing_else_does(clock: FakeClock) -> None:
    seen: list[float] = []
    arrived = bolt(lambda self, tup: seen.append(clock.now), None)
    builder = TopologyBuilder()
    builder.set_spout("source", quiet(clock, 3.5))
    builder.set_bolt("ticked", Ticked).shuffle_grouping("source")
    builder.set_bolt("arrived", arrived).shuffle_grouping("ticked")
    run_built(builder, {"stop": clock}, topology__tick__tuple__freq__secs=1)
    assert [round(at - 1000, 1) for at in seen] == pytest.approx([1, 2, 3, 3.5], abs=0.11)


def test_a_bolt_of_ticks_alone(clock: FakeClock) -> None:
    builder = built(quiet(clock, 3.5))
    builder.set_bolt("ticked", Ticked).shuffle_grouping("__system", stream="__tick")
    builder.set_bolt("told", CountingSink).global_grouping("ticked")
    assert run_built(builder, {"stop": clock}, topology__tick__tuple__freq__secs=1).result("told") == 4


@pytest.mark.parametrize("set_in_initialize", [False, True])
def test_tickless_batches_fire_by_their_timer(clock: FakeClock, set_in_initialize: bool) -> None:
    class Batches(TicklessBatchingBolt):
        outputs = ["at", "values"]
        secs_between_batches = 99 if set_in_initialize else 1.5

        def initialize(self, storm_conf: Any, context: Any) -> None:
            self.secs_between_batches = 1.5

        def process_batch(self, key: Any, tups: list[Any]) -> None:
            self.emit([round(clock.now - 1000, 1), [tup.values[0] for tup in tups]])

    def tuples(self: Any) -> Any:
        for number in range(5):
            yield [number]
            while clock.now < 1001 + number:
                yield None

    rows = run_built(built(spout(tuples), Batches), {"stop": clock}).result("sink")
    assert [values for _, values in rows] == [[0, 1], [2], [3, 4]]
    assert [at for at, _ in rows] == pytest.approx([1.5, 3, 4.5], abs=0.11)


# -- what is held


def test_memory_does_not_grow_with_the_speed_of_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0
    flush = Destination.flush

    def watched(self: Destination) -> bool:
        nonlocal most
        most = max(most, len(self.rows))
        return flush(self)

    monkeypatch.setattr(Destination, "flush", watched)
    slow = bolt(lambda self, tup: self.emit(list(tup.values)))
    options = {"viper__channel__jumbos": 2, "viper__jumbo__size": 16, "viper__poll__pause__max__ms": 1}
    for source in (polled(never_returns), spout(endless), polled(one_by_one)):
        builder = built(source, slow)
        builder.set_spout("idle", spout(quiet_for(100)))
        builder.set_bolt("both", CountingSink).global_grouping("b1").global_grouping("idle")
        run_built(builder, {"max_tuples": 60_000, "duration_s": 10}, viper__time="logical", **options)
        assert 0 < most <= 3 * 8192


def quiet_for(polls: int) -> Callable[[Any], Any]:
    def tuples(self: Any) -> Any:
        for _ in range(polls):
            yield None

    return tuples
