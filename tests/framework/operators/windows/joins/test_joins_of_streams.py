"""`join` of the Streams API, joins in YAML, and what is refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework import StreamBuilder, TopologyBuilder
from framework.frontends.loading import load
from framework.model.config import resolve
from framework.model.errors import TopologyError
from framework.model.topology import Topology
from framework.operators.components import JoinBolt
from framework.operators.sinks import CollectingSink
from framework.operators.windows.joins import Band, Condition, Equal, SameWindow, Within, as_condition
from framework.planning import make_plan
from framework.runtime import run
from tests.framework.operators.windows.joins.joined import (
    FIELDS,
    Event,
    Left,
    Right,
    UntypedLeft,
    UntypedRight,
    drawn,
    near,
    nested_loop,
)
from tests.framework.runtime.pieces import Numbers, plan_of


def result(topology: Topology) -> list[Any]:
    settings, problems = resolve(topology, options={"viper.worker": "inline"})
    assert not problems
    found: list[Any] = run(make_plan(topology, settings), settings).result("sink")
    return found


def test_streams_by_key_are_joined_by_key() -> None:
    events = drawn(Random(1), 200)
    builder = StreamBuilder()
    left = builder.new_stream(Left(events), name="left").key_by("k")
    right = builder.new_stream(Right(events), name="right").key_by("l")
    joined = left.join(right, Within("30ms"), par=3)
    assert joined.fields == ("k", "at", "x", "y", "l", "right_at", "a", "b", "c")
    joined.to(CollectingSink, name="sink")
    # The key of either side has come to its front.
    found = [(row[1], row[0], *row[2:4], row[5], row[4], *row[6:]) for row in result(builder.build("j"))]
    assert found == nested_loop(events, lambda a, b: a[1] == b[1], 30, 30)


def test_other_streams_are_dealt() -> None:
    events = drawn(Random(2), 200)
    builder = StreamBuilder()
    left = builder.new_stream(Left(events), name="left")
    right = builder.new_stream(Right(events), name="right")
    on = Band(1, left="x", right="a") & Band(2, left="y", right="b") & Within("30ms")
    left.join(right, on, index="x", par=3).to(CollectingSink, name="sink")
    assert result(builder.build("j")) == nested_loop(events, lambda a, b: near(a, b, 1, 2), 30, 30)


def test_three_streams_are_joined_two_by_two() -> None:
    events = drawn(Random(3), 120)
    builder = StreamBuilder()
    left = builder.new_stream(Left(events), name="left")
    right = builder.new_stream(Right(events), name="right")
    third = builder.new_stream(UntypedLeft(events), name="third")
    pairs = left.join(right, Equal(left="k", right="l") & Within("9ms"))
    pairs.join(third, Equal(left="l", right="k") & Within("9ms"), index="l").to(CollectingSink, name="sink")
    found = result(builder.build("j"))
    assert found and all(row[1] == row[5] == row[10] for row in found)
    times = [(row[0], row[4], row[9]) for row in found]
    assert all(abs(left - right) <= 9 and abs(max(left, right) - third) <= 9 for left, right, third in times)


WRITTEN: tuple[tuple[Any, Condition], ...] = (
    ({"equal": "k"}, Equal("k")),
    ({"equal": {"left": "k", "right": "l"}}, Equal(left="k", right="l")),
    ({"band": {"x": 10}, "within": "5m"}, Band(x=10) & Within(timedelta(minutes=5))),
    ([{"within": {"before": "1s"}}, {"same_window": "10s"}], Within(before="1s") & SameWindow("10s")),
)


@pytest.mark.parametrize("written, meant", WRITTEN, ids=str)
def test_conditions_can_be_written(written: Any, meant: Condition) -> None:
    assert as_condition(written) == meant


REFUSED: tuple[tuple[Any, dict[str, Any], str], ...] = (
    (Equal("k"), {}, "nothing of time"),
    (Equal("k") & Within("1s"), {"index": "x"}, "index='x'"),
    (Equal("k") & Within("1s"), {"scan": "java"}, "scan='java'"),
    (Equal("k") & Within("1s"), {"keys": 0}, "keys=0"),
    ([{"like": "k"}], {}, "like"),
)


@pytest.mark.parametrize("on, options, message", REFUSED, ids=str)
def test_what_has_no_meaning_is_refused(on: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JoinBolt("left", "right", on, FIELDS, **options)


@pytest.mark.parametrize(
    "written",
    [{"within": "5"}, {"within": "-5s"}, {"within": []}, {"band": {"x": -1}}, {"equal": []}],
    ids=str,
)
def test_conditions_that_are_none_are_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"expected|takes"):
        as_condition(written)


def topology(grouping: str, par: int, **options: Any) -> TopologyBuilder:
    events: list[Event] = []
    builder = TopologyBuilder()
    builder.set_spout("left", UntypedLeft(events))
    builder.set_spout("right", UntypedRight(events))
    on = Equal(left="k", right="l") & Within("1s")
    declarer = builder.set_bolt("join", JoinBolt("left", "right", on, FIELDS, **options), par)
    for source in ("left", "right"):
        getattr(declarer, f"{grouping}_grouping")(source)
    return builder


def test_a_join_in_several_tasks_needs_a_grouping_that_brings_pairs_together() -> None:
    plan_of(topology("shuffle", 1))
    plan_of(topology("all", 2))
    with pytest.raises(TopologyError, match="at random"):
        plan_of(topology("shuffle", 2))


def test_a_join_by_logical_time_is_refused() -> None:
    builder = TopologyBuilder()
    builder.set_spout("left", Numbers())
    builder.set_spout("right", Numbers())
    bolt = JoinBolt("left", "right", Equal("number") & Within("1s"), ["s", "n", "t", "m"])
    builder.set_bolt("join", bolt).global_grouping("left").global_grouping("right")
    with pytest.raises(TopologyError, match="time is logical"):
        plan_of(builder, viper__time="logical")


def test_a_join_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "joined.yaml").write_text(YAML, encoding="utf-8")
    loaded = load(str(tmp_path / "joined.yaml"))
    assert not [problem for problem in loaded.problems if not problem.warning]
    assert loaded.topology is not None
    plain = [(10, "b", 1, 2.0, 10, "b", 3, 4.0, 5.0), (10, "b", 1, 2.0, 11, "b", 6, 7.0, 8.0)]
    assert result(loaded.topology) == plain


YAML = f"""
name: joined
spouts:
  - id: left
    className: tests.framework.operators.windows.joins.joined.UntypedLeft
    constructorArgs: [[[0, 10, [10, b, 1, 2.0]]]]
  - id: right
    className: tests.framework.operators.windows.joins.joined.UntypedRight
    constructorArgs: [[[1, 10, [10, b, 3, 4.0, 5.0]], [1, 11, [11, b, 6, 7.0, 8.0]]]]
bolts:
  - id: join
    className: viperstorm.JoinBolt
    parallelism: 2
    constructorArgs:
      - left
      - right
      - [{{equal: {{left: k, right: l}}}}, {{within: 1s}}]
      - {FIELDS}
  - {{id: sink, className: viperstorm.sinks.CollectingSink, parallelism: 1}}
streams:
  - {{from: left, to: join, grouping: {{type: FIELDS, args: [k]}}}}
  - {{from: right, to: join, grouping: {{type: FIELDS, args: [l]}}}}
  - {{from: join, to: sink, grouping: {{type: GLOBAL}}}}
"""
