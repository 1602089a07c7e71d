"""Tasks, channels and the choice of time."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Spout, TopologyBuilder
from framework.model.config import resolve
from framework.model.errors import TopologyError
from framework.operators.sinks import CollectingSink
from framework.planning import make_plan
from tests.framework.runtime.pieces import Forward, Numbers, Timed, plan_of, polled


def two(first: type[Spout], second: type[Spout], par: int = 1) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("b", first, par)
    builder.set_spout("a", second)
    builder.set_bolt("c", CollectingSink).global_grouping("a").global_grouping("b")
    return builder


def test_task_ids_go_up_over_components_sorted_by_id() -> None:
    plan, _ = plan_of(two(Numbers, Numbers, par=3))
    assert [(task.id, task.component, task.index) for task in plan.tasks] == [
        (1, "a", 0),
        (2, "b", 0),
        (3, "b", 1),
        (4, "b", 2),
        (5, "c", 0),
    ]
    assert [task.id for task in plan.tasks_of("b")] == [2, 3, 4]
    assert plan.channels[0].sources == (1, 2, 3, 4)


def test_feedback_has_channels_of_its_own() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("first", Forward, 2).shuffle_grouping("source").shuffle_grouping("second")
    builder.set_bolt("second", Forward).shuffle_grouping("first")
    plan, _ = plan_of(builder)
    by_reader = {reader: channel for channel in plan.channels for reader in channel.readers}
    assert (by_reader[1].sources, by_reader[1].feedback) == ((4,), (3,))
    assert (by_reader[3].sources, by_reader[3].feedback) == ((1, 2), ())
    assert [s.feedback for s in plan.subscriptions] == [False, True, False]


unbounded = polled(lambda self: None, ["source", "number"])
bounded = polled(lambda self: None, ["source", "number"], config={"viper.spout.bounded": True})


@pytest.mark.parametrize(
    ("first", "second", "par", "time"),
    [
        (Numbers, Numbers, 1, "logical"),
        (Timed, Timed, 1, "event"),
        (unbounded, Numbers, 1, "ingest"),
        (bounded, Numbers, 1, "logical"),
        (unbounded, unbounded, 1, "ingest"),
    ],
)
def test_time_is_chosen_from_what_spouts_say(first: Any, second: Any, par: int, time: str) -> None:
    assert plan_of(two(first, second, par))[0].time == time


@pytest.mark.parametrize(("par", "time"), [(1, "logical"), (2, "ingest")])
def test_one_unbounded_partition_counts_and_several_go_by_the_clock(par: int, time: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("a", unbounded, par)
    builder.set_bolt("c", CollectingSink).global_grouping("a")
    assert plan_of(builder)[0].time == time


def test_a_timestamp_field_for_some_spouts_only_is_refused_unless_time_is_chosen() -> None:
    topology = two(Timed, Numbers).build("t")
    with pytest.raises(TopologyError, match=r"spout 'a' declares no viper.timestamp.field, but others do"):
        make_plan(topology, resolve(topology)[0])
    for time in ("event", "logical", "ingest"):
        assert plan_of(two(Timed, Numbers), viper__time=time)[0].time == time


def test_a_bolt_of_ticks_alone_follows_the_spouts() -> None:
    builder = two(Numbers, Numbers)
    builder.set_bolt("ticked", Forward).shuffle_grouping("__system", stream="__tick")
    plan, _ = plan_of(builder)
    assert plan.channel_of(4).sources == (1, 2)
