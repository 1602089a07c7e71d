"""A whole topology step by step, and whole runs by a virtual clock."""

from __future__ import annotations

import time
from typing import Any

import pytest

from framework import Bolt, Grouping, Spout, Stream, Topology, TopologyBuilder, ValueState
from framework.model.errors import ComponentError, TopologyError
from framework.runtime import StopReason
from framework.testing import (
    MockedSources,
    TopologyHarness,
    TrackedTopology,
    VirtualClock,
    complete_topology,
    multiset_eq,
    read_tuples,
    run_topology,
)
from tests.framework.counted_words import COUNTED, LINES, Count, Lines, Split


class Endless(Spout):
    """Emits how many seconds it has run for, once a second."""

    outputs = ["seconds"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.began, self.due = time.monotonic(), 0

    def next_tuple(self) -> None:
        if time.monotonic() - self.began >= self.due:
            self.emit([self.due])
            self.due += 1


class PerMinute(Bolt):
    """Counts tuples per tick."""

    outputs = ["count"]
    config = {"topology.tick.tuple.freq.secs": 60}

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.count = 0

    def process(self, tup: Any) -> None:
        self.count += 1

    def process_tick(self, tup: Any) -> None:
        self.emit([self.count])
        self.count = 0


class Tally(Bolt):
    outputs = ["word", "count"]
    seen: Any = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.emit([tup.values.word, self.seen.add(1)])


class Forbidden(Bolt):
    """Writes where a test must not."""

    def initialize(self, storm_conf: Any, context: Any) -> None:
        raise AssertionError("the database is touched")


class Words(Topology):
    lines = Lines.spec()
    others = Lines.spec()
    split = Split.spec(inputs=[lines, others], par=2)
    tally = Tally.spec(inputs={split: Grouping.fields("word")}, par=3)
    database = Forbidden.spec(inputs=[tally])


def test_rows_go_through_step_by_step() -> None:
    with TopologyHarness(Words, sinks=["database"]) as words:
        words.send("lines", ["a b"], ["a"])
        assert words.take("split") == [("a",), ("b",), ("a",)]
        assert words.take("tally") == [("a", 1), ("b", 1), ("a", 2)]
        words.send("others", ["b"])
        assert (words.take("split"), words.take("tally")) == ([("b",)], [("b", 2)])
        assert words.received("database") == words.emitted("tally")
        assert (words.acked("lines"), words.acked("others")) == ([("a b",), ("a",)], [("b",)])
        assert words.failed("lines") == []
        assert [words.state("tally", "seen", word) for word in "abc"] == [2, 2, 0]
        assert words.fed == ("lines", "others")
        words.finish()
        assert words.has_ended


@pytest.mark.parametrize("seed", range(5))
def test_no_schedule_shows(seed: int) -> None:
    with TopologyHarness(Words, sinks=["database"], seed=seed) as words:
        for line in LINES:
            words.send("lines", [line])
        assert words.received("database") == COUNTED


def test_names_that_there_are_not_are_told() -> None:
    with pytest.raises(KeyError, match=r"unknown spout 'line'.*did you mean 'lines'"):
        TopologyHarness(Words, keep=["line"])
    with pytest.raises(TopologyError, match="unknown bolt 'databse'"):
        TopologyHarness(Words, sinks=["databse"])
    with pytest.raises(TypeError, match=r"sinks is 'database': expected a list of ids"):
        TopologyHarness(Words, sinks="database")
    with TopologyHarness(Words, sinks=["database"]) as words:
        for wrong, message in {
            ("send", "split"): "unknown spout 'split'",
            ("take", "tal"): "unknown component 'tal'.*did you mean 'tally'",
            ("received", "tally"): r"name it in sinks=\[",
            ("pull", "lines"): r"name it in keep=\[",
            ("pull", "split"): "is a bolt",
            ("tick", "splt"): "unknown component 'splt'",
            ("acked", "tally"): "unknown spout that rows are sent from",
            ("logs", "tall"): "unknown component 'tall'",
        }.items():
            with pytest.raises(KeyError, match=message):
                getattr(words, wrong[0])(wrong[1])
        with pytest.raises(KeyError, match="unknown stream 'odd'"):
            words.send("lines", ["a"], stream="odd")
        with pytest.raises(ValueError, match="only bolts have ticks"):
            words.tick("lines")
        with pytest.raises(IndexError):
            words.component("tally", 3)
        words.send("lines", ["a"])
        assert words.take("tally") == [("a", 1)]


def test_a_spout_that_never_ends_is_pulled() -> None:
    class Minutes(Topology):
        seconds = Endless.spec()
        minutes = PerMinute.spec(inputs=[seconds])

    with TopologyHarness(Minutes, keep=["seconds"]) as minutes:
        assert minutes.pull("seconds", 3) == [(0,)]
        minutes.advance(2)
        assert minutes.pull("seconds", 3) == [(1,), (2,)]
        minutes.advance(60)
        assert minutes.take("minutes") == [(3,)]


class Loop(Bolt):
    outputs = ["left"]

    def process(self, tup: Any) -> None:
        (left,) = tup.values
        if left:
            self.emit([left - 1])


def test_a_cycle_comes_to_rest_between_steps() -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Lines)
    builder.set_bolt("loop", Loop).shuffle_grouping("numbers").shuffle_grouping("loop")
    with TopologyHarness(builder) as loop:
        loop.send("numbers", [3])
        assert loop.take("loop") == [(2,), (1,), (0,)]
        loop.send("numbers", [0], [1])
        assert loop.take("loop") == [(0,)]


def test_a_topology_without_bolts_and_one_without_anything() -> None:
    class Alone(Topology):
        lines = Lines.spec()

    with TopologyHarness(Alone) as alone:
        alone.send("lines", ["a"])
        assert (alone.emitted("lines"), alone.acked("lines")) == ([("a",)], [("a",)])
    with pytest.raises(TopologyError, match="spout"):
        TopologyHarness(TopologyBuilder())


def test_what_a_component_raises_names_it_and_closes_the_others() -> None:
    closed: list[str] = CLOSED
    closed.clear()
    builder = TopologyBuilder()
    builder.set_spout("numbers", Lines)
    builder.set_bolt("first", Closes).shuffle_grouping("numbers")
    builder.set_bolt("second", Closes).shuffle_grouping("first")
    with pytest.raises(ComponentError, match="component 'second'") as found, TopologyHarness(builder) as run:
        run.send("numbers", [1])
    assert isinstance(found.value.__cause__, ZeroDivisionError)
    assert closed == ["first", "second"]


CLOSED: list[str] = []


class Closes(Bolt):
    outputs = ["n"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.name = context["componentid"]

    def process(self, tup: Any) -> None:
        self.emit([1 / tup.values[0] - 1])

    def close(self) -> None:
        CLOSED.append(self.name)


# -- whole runs by a clock


class Minutes(Topology):
    seconds = Endless.spec()
    minutes = PerMinute.spec(inputs=[seconds])


def test_minutes_run_at_once_and_the_same_each_time() -> None:
    runs = [run_topology(Minutes, clock=VirtualClock(), duration_s=590) for _ in range(2)]
    for run in runs:
        assert run.report.reason is StopReason.DURATION
        assert run.report.elapsed_s == pytest.approx(590, abs=1.5)
        assert sum(count for (count,) in run.emitted("minutes")) == len(run.emitted("seconds"))
        assert {count for (count,) in run.emitted("minutes")[1:-1]} == {60}
    assert runs[0].streams == runs[1].streams


def test_a_duration_without_a_clock_really_passes() -> None:
    run = run_topology(Minutes, duration_s=0.05)
    assert (run.report.reason, run.emitted("seconds")) == (StopReason.DURATION, [(0,)])


class Spinning(Bolt):
    def process(self, tup: Any) -> None:
        while True:
            pass


def test_a_run_that_hangs_is_given_up_although_its_clock_stands_still() -> None:
    class Hanging(Topology):
        lines = Lines.spec()
        spinning = Spinning.spec(inputs=[lines])

    with pytest.raises(TimeoutError, match=r"has not ended within 0\.1 s"):
        run_topology(Hanging, clock=VirtualClock(), timeout_s=0.1)


def test_a_spout_that_never_ends_nor_rests_is_given_up() -> None:
    class Busy(Spout):
        outputs = ["n"]

        def next_tuple(self) -> None:
            self.emit([1])

    class Flood(Topology):
        busy = Busy.spec()

    with pytest.raises(TimeoutError, match="for spouts that never end give max_tuples"):
        run_topology(Flood, clock=VirtualClock(), timeout_s=0.1)


def test_a_clock_is_for_one_thread() -> None:
    with pytest.raises(ValueError, match="a run by a virtual clock has one thread: found 2"):
        run_topology(Minutes, clock=VirtualClock(), conf={"viper.worker": "thread", "topology.workers": 2})


# -- Storm's names


class Counted(Topology):
    lines = Lines.spec()
    split = Split.spec(inputs=[lines], par=2)
    count = Count.spec(inputs={split: Grouping.fields("word")}, par=3)


def test_storms_testing_has_its_names_here() -> None:
    mocked = MockedSources().add_mock_data("lines", ["a b"], ["a"])
    result = complete_topology(Counted, mocked, storm_conf={"topology.debug": False})
    assert multiset_eq(read_tuples(result, "count"), [("a", 2), ("b", 1), ("a", 1)])
    assert not multiset_eq(read_tuples(result, "count"), [("a", 2), ("b", 1)])
    assert read_tuples(complete_topology(Counted, MockedSources({"lines": [["b"]]})), "split") == [("b",)]


def test_mocked_sources_keep_streams_apart() -> None:
    class Two(Spout):
        outputs = ["n", Stream(["n"], name="odd")]

    class Odd(Topology):
        two = Two.spec()

    mocked = MockedSources({"two": {"default": [[2]], "odd": [[1], [3]]}})
    assert read_tuples(complete_topology(Odd, mocked), "two", "odd") == [(1,), (3,)]


def test_a_tracked_topology_waits_for_acks_on_its_clock() -> None:
    with TrackedTopology(Counted) as tracked:
        tracked.send("lines", ["a b"], ["a"])
        tracked.tracked_wait(2)
        tracked.send("lines", ["c"])
        tracked.tracked_wait()
        assert len(tracked.emitted("count")) == 4
        with pytest.raises(TimeoutError, match="0 of 1 tuples were acked within 5 s on the clock"):
            tracked.tracked_wait(1, timeout_s=5)
