"""The tasks that are chained, and those that are not."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Grouping, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import Forward, Numbers, plan_of


def chained(builder: TopologyBuilder, **options: Any) -> set[tuple[str, str]]:
    """The names of the components whose tasks are chained."""
    plan, _ = plan_of(builder, **options)
    names = {task.id: task.component for task in plan.tasks}
    return {
        (names[source], names[reader])
        for channel in plan.channels
        if channel.chained
        for source in channel.sources
        for reader in channel.readers
    }


def line(par: int = 1, **conf: Any) -> TopologyBuilder:
    """``source -> first -> second -> sink``, of which `first` has several tasks."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("first", Forward, par, config=conf).shuffle_grouping("source")
    builder.set_bolt("second", Forward).global_grouping("first")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    return builder


FIRST, SECOND, LAST = ("source", "first"), ("first", "second"), ("second", "sink")


def test_each_task_is_that_receives_from_one_other_only() -> None:
    assert chained(line()) == {FIRST, SECOND, LAST}
    assert chained(line(par=3)) == {FIRST, LAST}


def test_one_key_says_that_none_is() -> None:
    assert chained(line(), viper__chains=False) == set()


def test_none_is_in_a_worker_process_which_may_die() -> None:
    assert chained(line(), viper__worker="process") == set()


def test_none_is_with_one_that_another_thread_runs() -> None:
    two = {"viper__worker": "thread", "topology__workers": 2}
    placed = {"source": 1, "first": 1, "second": 2, "sink": 2}
    assert chained(line(), viper__placement=placed, **two) == {FIRST, LAST}
    assert chained(line(**{"viper.blocking": True})) == {LAST}


def test_none_is_where_all_tasks_share_what_they_get() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("copied", Forward, 2).grouping("source", Grouping.ALL)
    assert chained(builder) == set()


@pytest.mark.parametrize("through", ["second", "first"])
def test_none_is_within_a_cycle(through: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("first", Forward).shuffle_grouping("source").shuffle_grouping(through)
    builder.set_bolt("second", Forward).shuffle_grouping("first")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    assert chained(builder) == ({LAST} if through == "second" else {SECOND, LAST})
