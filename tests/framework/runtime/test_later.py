"""A spout says when it has something again: it is asked then, and not before."""

from __future__ import annotations

import itertools
import math
import re
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from framework import Block, Bolt, PartitionedSpout, TopologyBuilder, WindowedBolt, after, at
from framework.model.errors import ComponentError
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.execution.assembly import task_factory
from framework.runtime.execution.executor import Executor
from tests.framework.runtime.pieces import FakeClock, bolt, built, polled, run_built, spout

FAR_S = 100_000.0
"""Seconds that no test waits for."""


def asked_at(clock: FakeClock) -> Callable[[Any, Any], None]:
    """The bolt's process that notes when a tuple comes."""

    def process(self: Any, tup: Any) -> None:
        clock.seen.append((clock.now - 1000.0, *tup.values))  # type: ignore[attr-defined]

    return process


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    made = FakeClock(monkeypatch)
    made.seen = []  # type: ignore[attr-defined]
    made.wall_s = 1_800_000_000.0  # type: ignore[attr-defined]
    monkeypatch.setattr("time.time", lambda: made.wall_s + made.now - 1000.0)  # type: ignore[attr-defined]
    monkeypatch.setattr(task_factory, "LONGEST_WAIT_S", FAR_S)
    return made


def run_seen(clock: FakeClock, source: Any, **options: Any) -> list[Any]:
    run_built(built(source, bolt(asked_at(clock))), {"stop": clock}, **options)
    return clock.seen  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("is_decorated", [False, True])
def test_a_generator_is_resumed_at_the_time_and_not_before(clock: FakeClock, is_decorated: bool) -> None:
    resumed: list[float] = []

    def tuples(self: Any) -> Iterator[Any]:
        for number in range(3):
            yield after(0.5)
            resumed.append(clock.now - 1000.0)
            yield [number]
            yield after(timedelta(seconds=30))
            resumed.append(clock.now - 1000.0)

    def emit(self: Any, values: Any, **named: Any) -> Any:
        return super(type(self), self).emit(values, **named)

    attributes: dict[str, Any] = {"emit": emit} if is_decorated else {}
    seen = run_seen(clock, spout(tuples, **attributes))
    assert resumed == [0.5, 30.5, 31.0, 61.0, 61.5, 91.5]
    assert seen == [(0.5, 0), (31.0, 1), (61.5, 2)]
    assert clock.rests == [0.5, 30.0] * 3


def test_no_look_comes_in_between(clock: FakeClock) -> None:
    """One rest for each time, where a poll would have taken dozens."""

    def tuples(self: Any) -> Iterator[Any]:
        for number in range(20):
            yield after(1000)
            yield [number]

    assert [at_s for at_s, _ in run_seen(clock, spout(tuples))] == [1000.0 * n for n in range(1, 21)]
    assert clock.rests == [1000.0] * 20


@pytest.mark.parametrize(
    "name", [lambda: after(0), lambda: after(-math.inf), lambda: at(datetime(1999, 1, 1, tzinfo=UTC))]
)
def test_a_time_in_the_past_means_now(clock: FakeClock, name: Callable[[], Any]) -> None:
    def tuples(self: Any) -> Iterator[Any]:
        for number in range(5):
            yield name()
            yield name()
            yield [number]

    assert run_seen(clock, spout(tuples)) == [(0.0, number) for number in range(5)]
    assert not clock.rests


def test_one_that_always_says_now_is_asked_again_at_once(clock: FakeClock) -> None:
    """Slices end in between, as the clock says."""
    asked = itertools.count()

    def tuples(self: Any) -> Iterator[Any]:
        for number in asked:
            clock.now += 0.01
            if number == 100:
                return
            yield after(0)

    run_seen(clock, spout(tuples))
    assert next(asked) == 101
    assert not clock.rests


def test_a_time_of_the_wall_clock_follows_it(clock: FakeClock) -> None:
    """It is set back by an hour while the spout waits, and forward by ten, as when the machine sleeps."""
    moment = datetime.fromtimestamp(clock.wall_s, UTC) + timedelta(hours=2)  # type: ignore[attr-defined]

    def tuples(self: Any) -> Iterator[Any]:
        yield at(moment)
        yield ["first"]
        yield at(moment + timedelta(hours=9))
        yield ["second"]

    wait = clock.wait

    def turned(timeout_s: float) -> None:
        wait(timeout_s)
        if len(clock.rests) == 10:
            clock.wall_s -= 3600  # type: ignore[attr-defined]
        if len(clock.rests) == 20_000:
            clock.wall_s += 36_000  # type: ignore[attr-defined]

    clock.wait = turned  # type: ignore[method-assign]
    (first_s, first), (second_s, second) = run_seen(clock, spout(tuples))
    assert (first, second) == ("first", "second")
    assert first_s == pytest.approx(3 * 3600)
    assert second_s == pytest.approx(20_000)
    assert max(clock.rests) <= 1.0


def test_next_tuple_may_return_a_time(clock: FakeClock) -> None:
    def next_tuple(self: Any) -> Any:
        if clock.now > 1100:
            raise StopIteration
        self.emit([clock.now - 1000.0])
        return after(40)

    assert run_seen(clock, polled(next_tuple)) == [(0.0, 0.0), (40.0, 40.0), (80.0, 80.0)]
    assert clock.rests == [40.0] * 3


def test_a_polled_spout_is_asked_early_when_it_hears_of_a_tuple(clock: FakeClock) -> None:
    """A tuple fails when it has timed out after 30 s; a generator would not be resumed for it."""
    emitted: list[float] = []

    def next_tuple(self: Any) -> Any:
        if self.failed:
            raise StopIteration
        emitted.append(clock.now - 1000.0)
        self.emit([0], tup_id=1)
        return after(FAR_S)

    def fail(self: Any, tup_id: Any) -> None:
        self.failed = True

    def process(self: Any, tup: Any) -> None:
        self.fail(tup)

    source = polled(next_tuple, fail=fail, failed=False)
    failing = bolt(process, None, auto_ack=False)
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    builder.set_bolt("failing", failing).shuffle_grouping("source")
    run_built(builder, {"stop": clock})
    assert emitted == [0.0]
    assert sum(clock.rests) < FAR_S


def test_a_generator_is_not_resumed_when_it_hears_of_a_tuple(clock: FakeClock) -> None:
    acked: list[float] = []

    def tuples(self: Any) -> Iterator[Any]:
        self.emit([0], tup_id=1)
        yield after(50)
        yield [clock.now - 1000.0]

    source = spout(tuples, ack=lambda self, tup_id: acked.append(clock.now - 1000.0))
    seen = run_seen(clock, source)
    assert acked == [0.0]
    assert seen == [(0.0, 0), (50.0, 50.0)]


def test_it_does_not_hold_back_a_live_source_beside_it(clock: FakeClock) -> None:
    """Time passes for a source that sleeps, so a merge gives at once what the other one has."""

    def sleeps(self: Any) -> Iterator[Any]:
        yield after(10)
        yield ["late"]

    def brings(self: Any) -> Iterator[Any]:
        for number in range(5):
            yield after(1)
            yield [number]

    builder = TopologyBuilder()
    builder.set_spout("sleeps", spout(sleeps))
    builder.set_spout("brings", spout(brings))
    merged = bolt(asked_at(clock), None)
    builder.set_bolt("merged", merged).global_grouping("sleeps").global_grouping("brings")
    run_built(builder, {"stop": clock}, viper__time="ingest")
    seen = clock.seen  # type: ignore[attr-defined]
    assert [value for _, value in seen] == [0, 1, 2, 3, 4, "late"]
    assert [at_s for at_s, _ in seen] == pytest.approx([1, 2, 3, 4, 5, 10], abs=0.001)


def test_windows_of_a_live_source_close_while_it_sleeps(clock: FakeClock) -> None:
    def tuples(self: Any) -> Iterator[Any]:
        yield [1]
        yield after(60)
        yield [2]

    closed: list[float] = []

    class Closes(WindowedBolt):
        outputs = ["count"]
        config = {"topology.bolts.window.length.duration.ms": 1000}

        def process_window(self, window: Any) -> None:
            closed.append(clock.now - 1000.0)
            self.emit([len(window.tuples)])

    run_built(built(spout(tuples), Closes), {"stop": clock}, viper__time="ingest")
    assert len(closed) == 2
    assert closed[0] < 2


def test_ticks_come_while_it_sleeps(clock: FakeClock) -> None:
    ticks: list[float] = []

    class Ticked(Bolt):
        outputs = ["nothing"]
        config = {"topology.tick.tuple.freq.secs": 7}

        def process_tick(self, tup: Any) -> None:
            ticks.append(clock.now - 1000.0)

    def tuples(self: Any) -> Iterator[Any]:
        yield after(30)

    run_built(built(spout(tuples), Ticked), {"stop": clock})
    assert ticks[:4] == [7.0, 14.0, 21.0, 28.0]


def test_the_earliest_of_several_is_asked(clock: FakeClock) -> None:
    def every(seconds: float) -> Any:
        def tuples(self: Any) -> Iterator[Any]:
            for _ in range(4):
                yield after(seconds)
                yield [seconds]

        return spout(tuples)

    builder = TopologyBuilder()
    builder.set_spout("often", every(2))
    builder.set_spout("seldom", every(5))
    merged = bolt(asked_at(clock), None)
    builder.set_bolt("seen", merged).global_grouping("often").global_grouping("seldom")
    run_built(builder, {"stop": clock}, viper__time="ingest")
    times = sorted((at_s, value) for at_s, value in clock.seen)  # type: ignore[attr-defined]
    expected = [*((2.0 * n, 2) for n in range(1, 5)), *((5.0 * n, 5) for n in range(1, 5))]
    assert [round(at_s) for at_s, _ in times] == [round(at_s) for at_s, _ in sorted(expected)]


class Growing(PartitionedSpout):
    """Two partitions, of which each says when it has its next rows, once the one before was emitted."""

    outputs = ["partition", "number"]
    partitions = 2
    asked: list[tuple[int, float]] = []

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Any]:
        for number in range(3):
            yield after(10 * (partition + 1))
            self.asked.append((partition, time.monotonic() - 1000.0))
            yield Block(array("q", [number]), [(partition, number)])


def test_partitions_say_it_too(clock: FakeClock) -> None:
    Growing.asked = []
    seen = run_seen(clock, Growing, viper__time="event")
    assert Growing.asked == [(0, 10.0), (1, 20.0), (0, 30.0), (1, 50.0), (0, 60.0), (1, 80.0)]
    assert [tuple(values) for _, *values in seen] == [(p, n) for n in range(3) for p in range(2)]
    assert len(clock.rests) < 12


# -- with real threads and processes, where nothing may hang on the clock

PLACES: dict[str, dict[str, Any]] = {
    "inline": {"viper__worker": "inline"},
    "threads that share": {"viper__worker": "thread", "viper__worker__threads": 2},
    "2 threads": {"viper__worker": "thread", "topology__workers": 2},
}


@pytest.mark.parametrize("place", PLACES)
def test_none_is_resumed_early_wherever_it_runs(place: str) -> None:
    early: list[float] = []

    def tuples(self: Any) -> Iterator[Any]:
        for number in range(40):
            until_s = time.monotonic() + 0.002
            yield after(0.002)
            early.extend([time.monotonic() - until_s] * (time.monotonic() < until_s))
            yield [number]

    builder = TopologyBuilder()
    for name in ("a", "b"):
        builder.set_spout(name, spout(tuples))
    seen: list[Any] = []
    counted = bolt(lambda self, tup: seen.append(tup.values[0]), None)
    builder.set_bolt("seen", counted).global_grouping("a").global_grouping("b")
    run_built(builder, viper__time="ingest", **PLACES[place])
    assert sorted(seen) == sorted([*range(40)] * 2)
    assert not early


@pytest.mark.parametrize("place", PLACES)
def test_a_stop_ends_the_sleep(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by the clock: only the stop itself can end a run whose spout sleeps for a day."""
    monkeypatch.setattr(task_factory, "LONGEST_WAIT_S", FAR_S)
    stop, closed = StopSignal(), threading.Event()

    def tuples(self: Any) -> Iterator[Any]:
        try:
            yield [0]
            yield after(86_400)
            yield ["never"]
        finally:
            closed.set()

    seen: list[Any] = []

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        stop.request(StopReason.INTERRUPTED)

    builder = TopologyBuilder()
    builder.set_spout("source", spout(tuples))
    builder.set_bolt("seen", bolt(process, None)).global_grouping("source")
    run_built(builder, {"stop": stop}, **PLACES[place])
    assert seen == [0]
    assert closed.is_set()


# -- what is refused

LINE = re.escape(str(Path(__file__))) + r":\d+"


@pytest.mark.parametrize("wrong", [5, 0.5, timedelta(seconds=1), datetime.now(UTC)])
def test_what_is_no_time_is_refused_where_it_was_yielded(wrong: Any) -> None:
    def tuples(self: Any) -> Iterator[Any]:
        yield [1]
        yield wrong

    message = f"(?s)emit takes a list.*yielded at {LINE}.*after.seconds. or at"
    with pytest.raises(ComponentError, match=message):
        run_built(built(spout(tuples)))


@pytest.mark.parametrize("wrong", [5, 0.5, timedelta(seconds=1), datetime.now(UTC)])
def test_what_is_no_time_is_refused_where_it_was_returned(wrong: Any) -> None:
    message = rf"next_tuple \({LINE}\) returned .*: expected None, or a time: after"
    with pytest.raises(ComponentError, match=message):
        run_built(built(polled(lambda self: wrong)))


def test_what_an_emit_has_returned_may_be_returned() -> None:
    numbers = iter(range(3))
    returning = polled(lambda self: self.emit([next(numbers)], need_task_ids=True))
    assert run_built(built(returning)).result("sink") == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: after(cast(Any, "5")), r"after\('5'\): expected a number of seconds, or a timedelta"),
        (lambda: after(True), r"after\(True\)"),
        (lambda: after(math.nan), "nan"),
        (lambda: at(cast(Any, 5)), r"at\(5\): expected a datetime with a time zone; after\(seconds\) takes"),
        (lambda: at(datetime(2030, 1, 1)), "a datetime with a time zone, such as"),
    ],
)
def test_times_that_are_none(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_a_rest_goes_on_without_a_look_at_all_tasks(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tuple that comes in the middle of a rest is all there is to do, but for what a bolt has due."""
    looks: list[float] = []
    look = Executor._look

    def looked(self: Any, candidates: Any) -> Any:
        looks.append(clock.now)
        return look(self, candidates)

    ticks: list[float] = []

    class Ticked(Bolt):
        outputs = ["number"]
        config = {"topology.tick.tuple.freq.secs": 25}

        def process(self, tup: Any) -> None:
            self.emit(tup.values)

        def process_tick(self, tup: Any) -> None:
            ticks.append(clock.now - 1000.0)

    def tuples(self: Any) -> Iterator[Any]:
        for number in range(50):
            yield after(2)
            yield [number]

    monkeypatch.setattr(Executor, "_look", looked)
    report = run_built(built(spout(tuples), Ticked), {"stop": clock})
    assert report.result("sink") == [(number,) for number in range(50)]
    assert ticks[:4] == [25.0, 50.0, 75.0, 100.0]
    assert len(looks) < 30


def test_a_blocked_chain_is_looked_at(clock: FakeClock) -> None:
    """Every tuple that comes in a rest makes more than a channel holds."""

    def tuples(self: Any) -> Iterator[Any]:
        for number in range(5):
            yield after(1)
            yield [number]

    many = bolt(lambda self, tup: [self.emit([n]) for n in range(500)])  # type: ignore[arg-type]
    sizes = {"viper__jumbo__size": 2, "viper__channel__tuples": 4, "viper__channel__jumbos": 2}
    report = run_built(built(spout(tuples), many, par=2), {"stop": clock}, viper__time="ingest", **sizes)
    assert report.result("sink") == [(n,) for n in range(500)] * 5
