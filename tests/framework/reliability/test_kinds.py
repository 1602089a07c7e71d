"""The same on workers of every kind, and for every way that tuples can go."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Grouping, TopologyBuilder
from framework.runtime import RunReport
from tests.framework.reliability import components as c
from tests.framework.runtime.workers.running import Workers, every_kind

COUNT = 60
SKIP = {"viper.on.error": "skip"}


def checked(report: RunReport, par: int = 1) -> Any:
    """The counts of the spout, which has heard an ack of each of its tuples in the end."""
    counted = report.components["source"]
    assert counted.acked == COUNT * par
    assert counted.unanswered == 0
    assert counted.tracked == counted.acked + counted.failed
    assert sorted(counted.metrics["acked"]) == list(range(COUNT))
    assert report.drained
    return counted


@pytest.mark.few(2)
@every_kind
@pytest.mark.parametrize("spout", [c.Repeats, c.Polled])
@pytest.mark.parametrize("blocking", [False, True])
def test_what_fails_comes_again_until_it_is_acked(workers: Workers, spout: type, blocking: bool) -> None:
    builder = TopologyBuilder()
    conf = {"viper.blocking": blocking}
    builder.set_spout("source", spout, 2, args=[COUNT], config=conf)
    builder.set_bolt("spread", c.Spreads, 2, config=conf).shuffle_grouping("source")
    declared = builder.set_bolt("fails", c.FailsFirst, 2, config={**SKIP, **conf})
    declared.shuffle_grouping("spread", stream="left")
    pairs = builder.set_bolt("pairs", c.Pairs, 1, config=conf).shuffle_grouping("spread", stream="right")
    pairs.shuffle_grouping("fails")
    builder.set_bolt("end", c.Last, 2).shuffle_grouping("pairs")
    report = workers.run(builder, topology__message__timeout__secs=2)
    counted = checked(report, par=2)
    twice = sum(number % 3 < 2 for number in range(COUNT)) * 2
    assert counted.failed >= twice
    assert report.components["fails"].errors == 2 * sum(number % 3 == 1 for number in range(COUNT))
    assert report.lost == 0


@every_kind
def test_batches_behind_a_bounded_spout(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", c.Repeats, args=[COUNT], config={"topology.max.spout.pending": 20})
    builder.set_bolt("batches", c.Batches, 2).shuffle_grouping("source")
    builder.set_bolt("fails", c.FailsFirst, 2, config=SKIP).shuffle_grouping("batches").shuffle_grouping(
        "source"
    )
    assert checked(workers.run(builder)).failed >= 40


def copied(way: str) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", c.Repeats, args=[COUNT])
    middle = c.Directs if way == "direct" else c.Asks
    builder.set_bolt("middle", middle).shuffle_grouping("source")
    declared = builder.set_bolt("end", c.FailsInOne, 3)
    if way == "direct":
        declared.direct_grouping("middle")
    else:
        declared.all_grouping("middle")
    return builder


@every_kind
@pytest.mark.parametrize("way", ["direct", "all"])
def test_every_copy_of_a_tuple_counts(workers: Workers, way: str) -> None:
    report = workers.run(copied(way))
    assert checked(report).failed == COUNT // 2
    assert report.components["end"].processed == 3 * (COUNT + COUNT // 2)


def test_a_grouping_of_the_users_own_may_choose_no_task() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", c.Repeats, args=[COUNT])
    grouping = Grouping.custom(c.SomeTasks)
    builder.set_bolt("end", c.FailsInOne, 3).grouping("source", grouping)
    report = Workers("inline").run(builder)
    assert checked(report).failed == COUNT // 2
