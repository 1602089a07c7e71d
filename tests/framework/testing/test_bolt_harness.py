"""One bolt step by step, through the module for users' own tests."""

from __future__ import annotations

import datetime
import time
from typing import Any

import pytest

import framework
from framework import (
    BatchBolt,
    Equal,
    JoinBolt,
    ListState,
    MapState,
    Rows,
    TableState,
    ValueState,
    WindowedBolt,
    Within,
)
from framework.testing import BoltHarness, VirtualClock


@pytest.fixture(params=["framework", "streamparse"])
def base(request: pytest.FixtureRequest) -> Any:
    """The module of base classes: ours, and streamparse's."""
    return framework if request.param == "framework" else request.getfixturevalue("streamparse")


def test_each_step_shows_what_it_has_done(base: Any) -> None:
    class Running(base.Bolt):  # type: ignore[misc]
        outputs = ["total", base.Stream(["number"], name="odd")]

        def initialize(self, storm_conf: Any, context: Any) -> None:
            self.total = 0

        def process(self, tup: Any) -> None:
            self.total += tup.values.number
            self.emit([self.total])
            if self.total % 2:
                self.emit([tup.values.number], stream="odd")

    with BoltHarness(Running, fields=["number"]) as bolt:
        bolt.send([1])
        assert (bolt.take(), bolt.take("odd"), bolt.acked) == ([(1,)], [(1,)], [(1,)])
        bolt.send([1], [3])
        assert (bolt.take(), bolt.take("odd"), bolt.component.total) == ([(2,), (5,)], [(3,)], 5)
        assert (bolt.take(), bolt.emitted()) == ([], [(1,), (2,), (5,)])
        with pytest.raises(KeyError, match=r"unknown stream 'od': .*; did you mean 'odd'"):
            bolt.take("od")
        bolt.send()
        assert bolt.take() == []


def test_ticks_come_when_the_clock_says_so(base: Any) -> None:
    class Ticked(base.Bolt):  # type: ignore[misc]
        outputs = ["what"]
        config = {"topology.tick.tuple.freq.secs": 10}

        def process(self, tup: Any) -> None:
            self.emit(["tuple"])

        def process_tick(self, tup: Any) -> None:
            self.emit(["tick"])

    with BoltHarness(Ticked) as bolt:
        bolt.advance(9.9)
        bolt.send([0])
        assert bolt.take() == [("tuple",)]
        bolt.advance(0.1)
        assert bolt.take() == [("tick",)]
        bolt.advance(datetime.timedelta(minutes=1))
        assert bolt.take() == [("tick",)] * 6
        bolt.tick()
        assert bolt.take() == [("tick",)]
        bolt.finish()
        assert bolt.take() == [("tick",)]


def test_a_tick_can_be_given_to_a_bolt_without_ticks() -> None:
    class Asked(framework.Bolt):
        outputs = ["at"]

        def process_tick(self, tup: Any) -> None:
            self.emit([round(time.monotonic())])

    with BoltHarness(Asked) as bolt:
        bolt.advance(100)
        for _ in range(3):
            bolt.tick()
        assert bolt.take() == [(100,)] * 3
        bolt.finish()
        assert bolt.take() == []


def test_batches_are_processed_with_their_ticks(base: Any) -> None:
    class Totals(base.BatchingBolt):  # type: ignore[misc]
        outputs = ["key", "count"]
        config = {"topology.tick.tuple.freq.secs": 1}

        def group_key(self, tup: Any) -> Any:
            return tup.values[0]

        def process_batch(self, key: Any, tups: list[Any]) -> None:
            self.emit([key, len(tups)])

    with BoltHarness(Totals) as bolt:
        bolt.send(["a"], ["b"], ["a"])
        bolt.advance(1)
        assert (bolt.take(), bolt.acked) == ([], [])  # it waits for more than one tick, as pystorm's does
        bolt.advance(1)
        assert bolt.take() == [("a", 2), ("b", 1)]
        assert sorted(bolt.acked) == [("a",), ("a",), ("b",)]
        bolt.send(["c"])
        bolt.finish()
        assert bolt.take() == [("c", 1)]


def test_what_is_not_answered_times_out_on_the_clock(base: Any) -> None:
    class Silent(base.Bolt):  # type: ignore[misc]
        auto_ack = False

        def process(self, tup: Any) -> None:
            if tup.values[0] == "fail":
                self.fail(tup)

    with BoltHarness(Silent, conf={"topology.message.timeout.secs": 30}) as bolt:
        bolt.send(["fail"], ["forget"])
        assert (bolt.acked, bolt.failed) == ([], [("fail",)])
        bolt.advance(61)
        assert bolt.failed == [("fail",), ("forget",)]


class Minutes(WindowedBolt):
    outputs = ["numbers"]
    config = {
        "topology.bolts.window.length.duration.ms": 60_000,
        "topology.bolts.window.sliding.interval.duration.ms": 60_000,
    }

    def process_window(self, window: Any) -> None:
        self.emit([[tup.values.number for tup in window.tuples]])


def test_windows_end_on_the_clock() -> None:
    with BoltHarness(Minutes, fields=["number"]) as bolt:
        bolt.send([1])
        bolt.advance(30)
        bolt.send([2])
        assert bolt.take() == []
        bolt.advance(30)
        assert bolt.take() == [([1, 2],)]
        bolt.send([3])
        bolt.finish()
        assert bolt.take() == [([3],)]


def test_windows_of_event_time_end_with_later_tuples_whatever_the_clock_shows() -> None:
    conf = {"topology.bolts.tuple.timestamp.field.name": "at"}
    with BoltHarness(Minutes, fields=["at", "number"], conf=conf) as bolt:
        bolt.send([1_000, 1], [59_000, 2])
        bolt.advance(1000)
        assert bolt.take() == []
        bolt.send([61_000, 3])
        assert bolt.take() == [([1, 2],)]


class Visits(framework.Bolt):
    """Remembers in every way."""

    seen: Any = ValueState("int64", default=0, ttl=60)
    pages: Any = ListState("string")
    per_page: Any = MapState("string", "int64")
    totals: Any = TableState({"count": "int64", "seconds": "float64"})
    all: Any = ValueState(default=(), per="task")

    def process(self, tup: Any) -> None:
        user, page = tup.values
        self.seen.add(1)
        self.pages.add(page)
        self.per_page.put(page, self.per_page.get(page, 0) + 1)
        self.totals.count += 1
        self.totals.seconds += 0.5
        self.all.value = (*self.all.value, user)


class Timed(framework.Bolt):
    """Remembers for a minute."""

    seen: Any = ValueState("int64", default=0, ttl=60)

    def process(self, tup: Any) -> None:
        self.seen.add(1)


def test_declared_state_is_readable_between_steps() -> None:
    with BoltHarness(Visits, fields=["user", "page"], key=["user"]) as bolt:
        bolt.send(["ann", "/"], ["bob", "/"], ["ann", "/a"])
        assert [bolt.state("seen", user) for user in ("ann", "bob", "eve")] == [2, 1, 0]
        assert (bolt.state("pages", "ann"), bolt.state("pages", "eve")) == (["/", "/a"], [])
        assert bolt.state("per_page", "ann") == {"/": 1, "/a": 1}
        assert bolt.state("totals", "ann") == {"count": 2, "seconds": 1.0}
        assert bolt.state("all") == ("ann", "bob", "ann")
        bolt.send(["ann", "/"])
        assert bolt.state("per_page", "ann") == {"/": 2, "/a": 1}
        with pytest.raises(KeyError, match=r"unknown state 'sen'.*did you mean 'seen'"):
            bolt.state("sen", "ann")
        with pytest.raises(TypeError, match="give the values of the key's fields"):
            bolt.state("seen")
        with pytest.raises(TypeError, match="is of a task"):
            bolt.state("all", "ann")


def test_state_is_forgotten_on_the_clock() -> None:
    with BoltHarness(Visits, fields=["user", "page"], key=["user"]) as bolt:
        bolt.send(["ann", "/"])
        bolt.advance(59)
        bolt.send(["ann", "/"])
        assert bolt.state("seen", "ann") == 2
        bolt.advance(59)
        assert bolt.state("seen", "ann") == 2
        bolt.advance(2)
        assert bolt.state("seen", "ann") == 0
        bolt.send(["ann", "/"])
        assert bolt.state("seen", "ann") == 1


def test_state_is_forgotten_by_the_time_of_tuples_where_they_have_one() -> None:
    conf = {"viper.timestamp.field": "at", "viper.timestamp.unit": "s"}
    with BoltHarness(Timed, fields=["user", "at"], key=["user"], conf=conf) as bolt:
        bolt.send(["ann", 0], ["ann", 59])
        bolt.advance(1000)
        assert bolt.state("seen", "ann") == 2
        bolt.send(["bob", 120])
        assert bolt.state("seen", "ann") == 0


def test_a_batch_bolt_gets_what_is_sent_together() -> None:
    class Sizes(BatchBolt):
        outputs = ["sum"]

        def process_rows(self, rows: Rows) -> None:
            self.emit_rows([[sum(number for (number,) in rows)]], of=[0])

    with BoltHarness(Sizes, fields=["number"]) as bolt:
        bolt.send([1])
        bolt.send([2])
        assert (bolt.take(), bolt.acked) == ([(1,), (2,)], [(1,), (2,)])


def test_a_join_reads_from_two_sources() -> None:
    join = JoinBolt("orders", "users", Equal("user") & Within("60s"), ["user", "item", "user2", "name"])
    sources = {"orders": ["user", "item"], "users": ["user", "name"]}
    with BoltHarness(join, sources=sources, key=["user"]) as bolt:
        bolt.send([1, "book"], source="orders")
        bolt.advance(59)
        bolt.send([1, "Ann"], source="users")
        assert bolt.take() == [(1, "book", 1, "Ann")]
        bolt.advance(61)
        bolt.send([1, "pen"], source="orders")
        assert bolt.take() == []
        with pytest.raises(TypeError, match="name the source: the bolt reads from orders, users"):
            bolt.send([1, "Ann"])
        with pytest.raises(KeyError, match="unknown source 'user'"):
            bolt.send([1, "Ann"], source="user")


def test_logs_and_metrics_are_kept(base: Any) -> None:
    class Loud(base.Bolt):  # type: ignore[misc]
        def process(self, tup: Any) -> None:
            self.logger.debug("quietly %s", tup.values[0])
            self.report_metric("seen", tup.values[0])

    with BoltHarness(Loud) as bolt:
        bolt.send([1], [2])
        assert [record.getMessage() for record in bolt.logs] == ["quietly 1", "quietly 2"]
        assert bolt.metrics == {"seen": 2}


def test_code_of_the_component_sees_the_clock(base: Any) -> None:
    class Late(base.Bolt):  # type: ignore[misc]
        outputs = ["at"]

        def process(self, tup: Any) -> None:
            time.sleep(tup.values[0])
            self.emit([round(time.time())])

    with BoltHarness(Late, clock=VirtualClock(1000.0)) as bolt:
        bolt.send([3600])
        assert (bolt.take(), round(bolt.clock.elapsed_s)) == ([(4600,)], 3600)
        bolt.advance(100)
        bolt.send([0])
        assert bolt.take() == [(4700,)]
