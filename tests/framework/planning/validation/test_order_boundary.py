"""Topologies outside the order guarantee are warned of, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import streamparse

from framework.model.config import resolve
from framework.model.topology import Grouping, Input, JavaImplementation, ObjectDef, Problem, Stream, Topology
from framework.operators.components import BatchingBolt, Bolt, Spout, TicklessBatchingBolt, Tuple
from framework.planning.validation import validate
from tests.framework.planning.validation.examples import COUNT, SPLIT, bolt, python, spout, topology


class Polled(Spout):
    def next_tuple(self) -> None: ...


class Batches(BatchingBolt):
    def process_batch(self, key: object, tups: list[Tuple]) -> None: ...


class Ticked(Bolt):
    def process_tick(self, tup: Tuple) -> None: ...


class Timed(TicklessBatchingBolt):
    def process_batch(self, key: object, tups: list[Tuple]) -> None: ...


class Grouper:
    def prepare(self) -> None: ...

    def choose_tasks(self) -> None: ...


class PortedTimed(streamparse.TicklessBatchingBolt):  # type: ignore[misc]
    def process_batch(self, key: object, tups: list[object]) -> None: ...


PREFIX = "wc.yaml:20: warning: bolt 'split' is outside the order guarantee: "
TICKS: dict[str, Any] = {"topology.tick.tuple.freq.secs": 1}


def warnings(found: Topology) -> list[str]:
    problems = validate(found)
    assert all(problem.warning for problem in problems)
    return [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("grouping", "name"),
    [
        (Grouping.SHUFFLE, "SHUFFLE"),
        (Grouping.NONE, "NONE"),
        (Grouping.LOCAL_OR_SHUFFLE, "LOCAL_OR_SHUFFLE"),
        (Grouping.partial_key("line"), "PARTIAL_KEY"),
        (Grouping.custom(Grouper), "CUSTOM"),
    ],
)
def test_a_keyless_grouping_over_several_tasks(grouping: Grouping, name: str) -> None:
    parallel = replace(SPLIT, inputs=(Input("lines", grouping),), parallelism=2)
    assert warnings(topology(spout(), parallel)) == [
        f"{PREFIX}{name} grouping over 2 tasks, and viper.stateless is not true"
    ]
    assert warnings(topology(spout(), replace(parallel, config={"viper.stateless": True}))) == []
    assert warnings(topology(spout(), parallel, config={"viper.stateless": True})) == []
    assert warnings(topology(spout(), parallel, config={"topology.max.task.parallelism": 1})) == []


@pytest.mark.parametrize("grouping", [Grouping.fields("line"), Grouping.GLOBAL, Grouping.ALL])
def test_groupings_that_no_plan_changes(grouping: Grouping) -> None:
    parallel = replace(SPLIT, inputs=(Input("lines", grouping),), parallelism=2)
    assert warnings(topology(spout(), parallel)) == []


def test_a_feedback_edge() -> None:
    loop = replace(SPLIT, inputs=(Input("lines", Grouping.ALL), Input("count", Grouping.ALL)))
    count = replace(COUNT, outputs=(Stream(["word"]),))
    assert warnings(topology(spout(), loop, count)) == [
        f"{PREFIX}tuples from 'count' come back through a cycle"
    ]


@pytest.mark.parametrize("cls", [Batches, Ticked])
def test_ticks_by_the_wall_clock(cls: type) -> None:
    ticked = replace(SPLIT, implementation=python(cls))
    expected = [f"{PREFIX}its ticks follow the wall clock, as viper.time is logical"]
    assert warnings(topology(spout(), replace(ticked, config=TICKS))) == expected
    assert warnings(topology(spout(), ticked, config=TICKS)) == expected
    assert not any("order" in text for text in warnings(topology(spout(), ticked)))


def test_ticks_that_nobody_notices() -> None:
    assert warnings(topology(spout(), SPLIT, COUNT, config=TICKS)) == []


@pytest.mark.parametrize("cls", [Timed, PortedTimed])
def test_batches_by_a_timer(cls: type) -> None:
    timed = replace(SPLIT, implementation=python(cls))
    assert warnings(topology(spout(), timed)) == [f"{PREFIX}its batches follow the wall clock"]


def test_event_time_has_ticks_of_its_own() -> None:
    event = spout(config={"viper.timestamp.field": "line"})
    assert warnings(topology(event, replace(SPLIT, implementation=python(Batches), config=TICKS))) == []


def test_ingest_time_chosen_or_because_spouts_may_never_end() -> None:
    message = "outside the order guarantee: timestamps are the wall clock's, as viper.time is ingest"
    assert warnings(topology(spout(), config={"viper.time": "ingest"})) == [f"wc.yaml:1: warning: {message}"]
    endless = replace(spout(parallelism=2), implementation=python(Polled))
    assert warnings(topology(endless)) == [f"wc.yaml:1: warning: {message}"]
    assert warnings(topology(replace(endless, config={"viper.spout.bounded": True}))) == []


def test_a_component_has_one_warning_with_all_its_reasons() -> None:
    parallel = replace(SPLIT, parallelism=3, implementation=python(Batches))
    [found] = warnings(topology(spout(), parallel, config=TICKS))
    assert found.count(";") == 1


def test_strict_order_makes_errors_of_them() -> None:
    parallel = topology(spout(), replace(SPLIT, parallelism=2), config={"viper.time": "ingest"})
    settings, _ = resolve(parallel, options={"viper.order": "strict"})
    assert [problem.warning for problem in validate(parallel, settings)] == [False, False]


def test_a_topology_with_errors_is_not_judged() -> None:
    broken = topology(spout(), replace(SPLIT, parallelism=2), bolt("idle"))
    assert [problem.warning for problem in validate(broken)] == [False]


def test_a_java_spout_says_nothing_about_time() -> None:
    java = replace(spout(), implementation=JavaImplementation(ObjectDef("org.acme.storm.Spout")))
    found: list[Problem] = validate(topology(java, SPLIT))
    assert found == []
