"""The behaviour of a run while it has nothing to do, timers, and how much it holds."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from framework import Bolt, Stream, TicklessBatchingBolt, TopologyBuilder
from framework.operators.sinks import CountingSink
from framework.runtime import StopReason
from framework.runtime.exchange.destination import Destination
from framework.runtime.execution.executor import Executor
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.task import TaskState
from tests.framework.runtime.pieces import (
    FakeClock,
    bolt,
    built,
    endless,
    never_returns,
    one_by_one,
    polled,
    run_built,
    spout,
)

# -- waiting


def test_an_idle_spout_is_polled_with_a_growing_pause(clock: FakeClock) -> None:
    polls: list[float] = []

    def next_tuple(self: Any) -> None:
        polls.append(clock.now)
        if len(polls) == 5:
            self.emit([5])

    run_built(built(polled(next_tuple)), {"stop": clock, "duration_s": 1.0}, viper__poll__pause__max__ms=50)
    pauses_us = [round((later - earlier) * 1e6) for earlier, later in itertools.pairwise(polls)]
    assert pauses_us[:5] == [20, 40, 80, 160, 0]
    assert pauses_us[5:17] == [20 * 2**n for n in range(12)]
    assert pauses_us[17:] == [50_000] * len(pauses_us[17:])
    assert 30 < len(polls) < 40


def test_an_idle_spout_is_asked_without_a_look_at_all_tasks(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tuple that it brings in the middle of a rest is processed before the clock moves."""
    polls: list[float] = []
    looks: list[float] = []
    processed: list[float] = []
    look = Executor._look

    def next_tuple(self: Any) -> None:
        polls.append(clock.now)
        if len(polls) == 20:
            self.emit([20])

    def looked(self: Any, candidates: Any) -> Any:
        looks.append(clock.now)
        return look(self, candidates)

    monkeypatch.setattr(Executor, "_look", looked)
    builder = built(polled(next_tuple), bolt(lambda self, tup: processed.append(clock.now)))
    run_built(builder, {"stop": clock, "duration_s": 1.0}, viper__poll__pause__max__ms=5)
    assert processed == [polls[19]]
    assert len(polls) > 150
    assert len(looks) < len(polls) / 2


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


def test_a_spout_that_waits_for_room_leaves_others_what_it_was_granted(clock: FakeClock) -> None:
    """Its channel is full in the middle of a slice for which it was granted all that there was left."""
    emitted: list[int] = []

    def many(self: Any) -> None:
        emitted.append(len(emitted))
        if len(emitted) == 70:  # in the slice after those of 1 to 32 tuples, of which 63 wait in the channel
            clock.now += 0.01
        self.emit([emitted[-1]])

    def late(self: Any) -> None:
        if len(emitted) >= 70:
            self.emit([-1])

    builder = TopologyBuilder()
    builder.set_spout("many", polled(many))
    builder.set_spout("late", polled(late))
    builder.set_bolt("sink", CountingSink).global_grouping("many").global_grouping("late")
    limits = {"stop": clock, "max_tuples": 127, "duration_s": 10.0}
    small = {"viper__jumbo__size": 16, "viper__channel__tuples": 64}

    report = run_built(builder, limits, viper__time="logical", **small)

    assert (report.reason, report.drained) == (StopReason.MAX_TUPLES, True)
    assert (report.emitted, report.result("sink")) == (127, 127)


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


@pytest.mark.slow
def test_memory_does_not_grow_with_the_speed_of_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0
    flush = Destination.flush

    def watched(self: Destination) -> bool:
        nonlocal most
        most = max(most, self.count)
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


def test_a_call_that_emits_much_hands_it_on_in_large_parts(clock: FakeClock) -> None:
    """Also once it has emitted more than was asked for, so that no more calls are made in this slice."""

    def next_tuple(self: Any) -> None:
        if self.storm_conf.pop("is over", False):
            raise StopIteration
        self.storm_conf["is over"] = True
        for number in range(40_000):
            self.emit([number])

    report = run_built(built(polled(next_tuple)), viper__jumbo__linger__ms=5_000)
    (sink,) = (task for task in report.statistics.tasks if task.component == "sink")
    assert sum(given.tuples for given in sink.inputs) == 40_000
    assert sum(given.jumbos for given in sink.inputs) < 100


def test_a_call_goes_on_beside_a_bolt_that_is_runnable_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one is, once the run is to end, of which another process asks again and again how far it is."""
    is_runnable = BoltTask.is_runnable

    def always(self: BoltTask, now: float) -> bool:
        return is_runnable(self, now) or self.state is TaskState.RUNNING

    monkeypatch.setattr(BoltTask, "is_runnable", always)

    def next_tuple(self: Any) -> None:
        for number in range(900):
            self.emit([number])

    seen: list[int] = []
    builder = built(polled(next_tuple), bolt(lambda self, tup: seen.append(tup.values[0])))
    options = {"viper__channel__tuples": 1024, "viper__jumbo__linger__ms": 0}
    report = run_built(builder, {"max_tuples": 1}, **options)
    assert report.reason is StopReason.MAX_TUPLES
    assert seen == list(range(900))


def quiet_for(polls: int) -> Callable[[Any], Any]:
    def tuples(self: Any) -> Any:
        for _ in range(polls):
            yield None

    return tuples


# -- fairness


def test_no_spout_is_kept_waiting_by_another() -> None:
    builder = TopologyBuilder()
    for name in "abc":
        builder.set_spout(name, spout(endless))
        builder.set_bolt(f"after {name}", CountingSink).global_grouping(name)
    # Many times what one slice brings, as a slice is a span of time, and another process may take some of it.
    report = run_built(builder, {"max_tuples": 300_000, "duration_s": 60}, viper__time="ingest")
    shares = [report.components[name].emitted for name in "abc"]
    assert sum(shares) == 300_000
    assert min(shares) > 50_000


def test_spouts_are_not_kept_waiting_by_what_always_goes_round() -> None:
    outputs = [Stream(["value"]), Stream(["value"], name="again")]
    builder = TopologyBuilder()
    builder.set_spout("source", spout(endless))
    again = bolt(
        lambda self, tup: self.emit([0], stream="again" if tup.values[0] == 0 else "default"), outputs
    )
    declared = builder.set_bolt("round", again).shuffle_grouping("source")
    declared.shuffle_grouping("round", stream="again")
    builder.set_bolt("sink", CountingSink).global_grouping("round")
    limits = {"max_tuples": 5_000, "duration_s": 10}
    report = run_built(builder, limits, viper__drain__timeout__secs=0)
    assert report.emitted == 5_000
    assert report.reason is StopReason.MAX_TUPLES
    assert not report.drained


def test_a_branch_that_gets_nothing_of_the_last_tick_ends_before_the_other_has_room() -> None:
    """More than channels hold comes with the last tick, on one of two branches that meet again."""
    count = 20_000

    class Fork(Bolt):
        outputs = [Stream(["value"], name="left"), Stream(["value"], name="right")]
        config = {"topology.tick.tuple.freq.secs": 3600}

        def process(self, tup: Any) -> None:
            self.emit(list(tup.values), stream="right")

        def process_tick(self, tick_tup: Any) -> None:
            for number in range(count):
                self.emit([number], stream="left")

    forward = bolt(lambda self, tup: self.emit(list(tup.values)))
    builder = TopologyBuilder()
    builder.set_spout("source", spout(lambda self: iter([[1], [2], [3]])))
    builder.set_bolt("fork", Fork).shuffle_grouping("source")
    builder.set_bolt("left", forward).shuffle_grouping("fork", stream="left")
    builder.set_bolt("right", forward).shuffle_grouping("fork", stream="right")
    builder.set_bolt("sink", CountingSink).global_grouping("left").global_grouping("right")
    report = run_built(builder, {"duration_s": 20}, viper__channel__jumbos=1, viper__jumbo__size=8)
    assert (report.result("sink"), report.reason) == (count + 3, StopReason.EXHAUSTED)
