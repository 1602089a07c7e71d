"""The sources of timestamps, and ticks."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from framework import BatchingBolt, Bolt, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from tests.framework.runtime.pieces import Row, bolt, built, drawn, listed, run_built, spout
from tests.portions import seeds_at_every_change

EVERY_SECOND = {"topology__tick__tuple__freq__secs": 1}


def merged(first: type, second: type, **options: Any) -> list[Row]:
    """Run two spouts, and list their tuples in the order of time."""
    builder = TopologyBuilder()
    builder.set_spout("first", first)
    builder.set_spout("second", second)
    builder.set_bolt("sink", CollectingSink).global_grouping("first").global_grouping("second")
    rows: list[Row] = run_built(builder, **options).result("sink")
    return rows


def timed(*times: Any, **config: Any) -> type:
    named = {"viper.timestamp.field": "time"}
    named.update({"viper." + key.replace("__", "."): value for key, value in config.items()})
    return listed(*([time] for time in times), outputs=["time"], config=named)


def stamped(*times: Any) -> type:
    def tuples(self: Any) -> Any:
        for time in times:
            self.emit([time], timestamp=time)
        yield None

    return spout(tuples, ["time"], config={"viper.spout.bounded": True})


# -- event time


def test_event_time_merges_spouts_by_their_fields() -> None:
    assert merged(timed(1, 5, 6), timed(2, 5, 5, 9)) == [(t,) for t in (1, 2, 5, 5, 5, 6, 9)]


def test_units() -> None:
    rows = merged(timed(1, 3, timestamp__unit="s"), timed(2e9, 4e9, timestamp__unit="ns"))
    assert rows == [(1,), (2e9,), (3,), (4e9,)]


def test_datetimes_with_and_without_a_zone() -> None:
    noon = datetime.datetime(2020, 1, 1, 12)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    half_past = datetime.datetime(2020, 1, 1, 14, 30, tzinfo=zone)
    one = noon + datetime.timedelta(hours=1)
    assert merged(timed(noon, one), timed(half_past)) == [(noon,), (half_past,), (one,)]


def ended(source: type, **options: Any) -> str:
    with pytest.raises(ComponentError) as caught:
        run_built(built(source), **options)
    return str(caught.value)


def test_time_that_goes_back_names_spout_tuple_and_both_times() -> None:
    said = ended(timed(5, 7, 6))
    assert "component 'source', task 2, in emit" in said
    assert "source:2" in said
    assert "(6,) at 6000 us" in said
    assert "after a tuple at 7000 us" in said


def test_time_that_goes_back_from_one_buffer_to_the_next() -> None:
    assert "(0,) at 0 us, after a tuple at 9999000 us" in ended(timed(*range(10_000), 0))


@pytest.mark.parametrize("time", ["noon", None, "5", float("nan"), [1], True])
def test_what_is_no_time(time: Any) -> None:
    said = ended(timed(time))
    expected = "expected a number of ms, a datetime, a date or an ISO 8601 text"
    assert f"timestamp {time!r} is no time: {expected}" in said


def test_a_time_in_the_wrong_unit() -> None:
    said = ended(timed(1_700_000_000_000_000_000))
    assert "is out of range when it counts ms: set viper.timestamp.unit" in said


def test_a_timestamp_at_the_emit() -> None:
    assert merged(stamped(1, 4), stamped(2, 3), viper__time="event") == [(1,), (2,), (3,), (4,)]


def test_a_timestamp_at_the_emit_needs_event_time() -> None:
    assert "the topology runs by logical time: set viper.time to event" in ended(stamped(1))


def test_event_time_without_a_timestamp() -> None:
    assert "without event time: give timestamp= at the emit" in ended(listed([1]), viper__time="event")


def test_a_timestamp_stays_with_its_tuple_whatever_else_is_emitted() -> None:
    from framework import Stream

    def tuples(self: Any) -> Any:
        self.emit([1], stream="unheard", timestamp=100)
        self.emit([2], timestamp=200)
        self.emit([3], timestamp=300, need_task_ids=True)
        with pytest.raises(ValueError, match="expected 1"):
            self.emit([4, 4], timestamp=100)
        self.emit([5], timestamp=500)
        yield None

    source = spout(tuples, [Stream(["n"]), Stream(["n"], name="unheard")])
    other = stamped(250, 450)
    assert merged(source, other, viper__time="event") == [(2,), (250,), (3,), (450,), (5,)]


# -- logical and ingest time


def test_logical_time_advances_spouts_in_step() -> None:
    rows = merged(listed(["a1"], ["a2"], ["a3"], outputs=["time"]), listed(["b1"], ["b2"], outputs=["time"]))
    assert rows == [("a1",), ("b1",), ("a2",), ("b2",), ("a3",)]


def test_ingest_time_does_not_wait_for_an_idle_spout() -> None:
    def waits(self: Any) -> Any:
        while len(received) < 3:
            yield None

    received: list[Any] = []
    builder = TopologyBuilder()
    builder.set_spout("talks", listed([1], [2], [3]))
    builder.set_spout("waits", spout(waits))
    collect = bolt(lambda self, tup: received.append(tup.values[0]), None)
    builder.set_bolt("collect", collect).global_grouping("talks").global_grouping("waits")
    assert run_built(builder, viper__time="ingest").time == "ingest"
    assert received == [1, 2, 3]


# -- ticks by event time


class Ticked(Bolt):
    """Says what it gets, ticks as well."""

    outputs = ["seen"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])

    def process_tick(self, tup: Any) -> None:
        assert (tup.component, tup.stream, tup.task, tup.values) == ("__system", "__tick", -1, (1,))
        self.emit(["tick"])


def ticked(cls: type[Bolt], *times: int, par: int = 1, **options: Any) -> list[Any]:
    builder = built(timed(*times), cls, par=par)
    return [row[0] for row in run_built(builder, **EVERY_SECOND, **options).result("sink")]


def test_ticks_come_between_tuples_where_their_time_is() -> None:
    assert ticked(Ticked, 100, 900, 1000, 1001, 3500) == [
        100,
        900,
        "tick",
        1000,
        1001,
        "tick",
        "tick",
        3500,
        "tick",
    ]


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(12), 2), ids=str)
def test_ticks_are_where_they_are_whatever_the_schedule(seeds: range) -> None:
    times = sorted([*range(0, 30_000, 70), *range(50_000, 51_000, 10), 90_000])
    for par in (1, 3):
        expected = ticked(Ticked, *times, par=par)
        for seed in seeds:
            _, options = drawn(seed)
            assert ticked(Ticked, *times, par=par, **options) == expected, (par, options)


def test_ticks_that_follow_one_another_are_bounded() -> None:
    seen = ticked(Ticked, 0, 10**9)
    assert seen == [0, *["tick"] * 1000, 10**9, "tick"]


def test_a_filter_before_a_ticked_bolt_does_not_change_what_ticks_say() -> None:
    keep = bolt(lambda self, tup: self.emit([tup.values[0]]) if tup.values[0] % 5000 == 0 else None, ["time"])
    builder = built(timed(*range(0, 20_001, 100)), keep, Ticked)
    for seed in range(12):
        _, options = drawn(seed)
        rows = run_built(builder, **EVERY_SECOND, **options).result("sink")
        expected = [
            0,
            *["tick"] * 5,
            5000,
            *["tick"] * 5,
            10_000,
            *["tick"] * 5,
            15_000,
            *["tick"] * 5,
            20_000,
        ]
        assert [row[0] for row in rows] == [*expected, "tick"], options


def test_a_tick_comes_before_the_end_without_any_input() -> None:
    assert ticked(Ticked) == ["tick"]


# -- batches


class Batches(BatchingBolt):
    """Emits every batch."""

    outputs = ["key", "values"]

    def group_key(self, tup: Any) -> Any:
        return tup.values[0] % 2

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        self.emit([key, tuple(tup.values[0] for tup in tups)])


def batched(*times: int, cls: type[Bolt] = Batches, **options: Any) -> RunReport:
    return run_built(built(timed(*times), cls), **EVERY_SECOND, **options)


def test_batches_fire_on_the_second_tick_and_the_rest_at_the_end() -> None:
    rows = batched(100, 501, 1100, 1201, 2050, 2150, 3051).result("sink")
    assert rows == [(0, (100, 1100)), (1, (501, 1201)), (0, (2050, 2150)), (1, (3051,))]


def test_after_an_idle_while_a_batch_fires_on_the_next_tick() -> None:
    assert batched(100, 60_000, 61_000).result("sink") == [(0, (100,)), (0, (60_000,)), (0, (61_000,))]


def test_ticks_between_batches_may_be_set_in_initialize() -> None:
    class Slower(Batches):
        def initialize(self, storm_conf: Any, context: Any) -> None:
            self.ticks_between_batches = 3

    rows = batched(0, 1000, 2000, 3000, 4000, 60_000, cls=Slower).result("sink")
    assert rows == [(0, (0, 1000, 2000, 3000)), (0, (4000,)), (0, (60_000,))]
