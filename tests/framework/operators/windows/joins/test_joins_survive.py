"""The stored rows of joins survive killed processes, suspensions, and rows for which a condition raises."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.topology import Grouping
from framework.operators.components import JoinBolt
from framework.operators.sinks import CollectingSink
from framework.operators.windows.joins import Band, Equal, OpenJoin, SameWindow, Within
from framework.runtime.coordination.stop import StopReason
from tests.framework.operators.windows.joins.joined import FIELDS, drawn, joining
from tests.framework.runtime.durability.checkpoints.suspended import (
    Suspending,
    check_cut_at,
    check_suspended_at,
    run_suspended,
)
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.killed import MortalPartitions, Written, plan_death
from tests.framework.runtime.workers.test_exact import run, undisturbed, written
from tests.portions import at_every_change, times_at_every_change

NAMES = [f"{side}_{name}" for side in ("left", "right") for name in ("partition", "number", "key")]
BY_KEY = Equal("key") & Within("8us")
NEAR = Band(number=3) & Within(before="20us", after="9us")


class MortalJoin(JoinBolt):
    """Its process may be killed."""

    def initialize(self, storm_conf: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        plan_death(self)
        super().initialize(storm_conf, context)


def apart(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """Of two spouts with the same rows, so that some have no partner."""
    return bool(left[0] < right[0])


JOINS: dict[str, dict[str, Any]] = {
    "by key": {"on": BY_KEY, "index": "key"},
    "dealt": {"on": NEAR},
    "full": {"on": Equal("key") & apart & Within("9us"), "index": "key", "how": "full"},
    "left": {"on": Equal("key") & apart & SameWindow("20us"), "how": "left"},
}


def killed(name: str) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("left", MortalPartitions, kwargs={"count": 200})
    builder.set_spout("right", MortalPartitions, kwargs={"count": 200})
    declarer = builder.set_bolt("join", MortalJoin("left", "right", fields=NAMES, **JOINS[name]), 2)
    for source in ("left", "right"):
        declarer.grouping(source, Grouping.ALL if name == "dealt" else Grouping.fields("key"))
    builder.set_bolt("sink", Written).global_grouping("join")
    return builder


SPREAD = {"left": 1, "right": 2, "join": [3, 1], "sink": 2}


@pytest.mark.few(1)
@pytest.mark.parametrize("name, seed", at_every_change([(n, s) for s in range(1, 5) for n in JOINS], 4))
def test_killed_workers_change_nothing(name: str, seed: int, tmp_path: Path) -> None:
    expected = undisturbed(killed(name), tmp_path)
    assert ("None" in expected) == (name in ("full", "left"))
    report = run(killed(name), tmp_path, seed, viper__placement=SPREAD, viper__slice__tuples=16)
    assert len(report.incidents) > 1
    assert written(tmp_path) == expected


def suspended(left: Partitions, tasks: int = 2) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("left", left)
    builder.set_spout("right", Partitions(3, 200, 7))
    bolt = JoinBolt("left", "right", NEAR, NAMES, index="number")
    builder.set_bolt("join", bolt, tasks).all_grouping("left").all_grouping("right")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    return builder


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(10), 2))
def test_a_run_that_is_suspended_is_gone_on_with(seed: int, tmp_path: Path) -> None:
    whole = run_built(suspended(Partitions(4, 200, seed))).result("sink")
    first = run_suspended(suspended(Suspending(4, 200, seed, os.getpid(), seed * 31 % 150 + 20)), tmp_path)
    assert first.reason is StopReason.SUSPENDED
    rows = first.result("sink")
    assert len(rows) < len(whole) and rows == whole[: len(rows)]
    second = run_built(suspended(Partitions(4, 200, seed)), {"start": tmp_path})
    assert rows + second.result("sink") == whole


@pytest.mark.parametrize("times_us", times_at_every_change(range(279, 281), range(200, 279), range(281, 380)))
def test_a_run_can_be_suspended_at_every_time(times_us: range, tmp_path: Path) -> None:
    check_suspended_at(times_us, suspended, tmp_path)


@pytest.mark.parametrize("times_us", times_at_every_change(range(279, 281), range(200, 279), range(281, 380)))
def test_a_checkpoint_can_be_made_at_every_time(times_us: range, tmp_path: Path) -> None:
    """While the run continues."""
    check_cut_at(times_us, suspended, tmp_path)


def test_a_join_that_forgets_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenJoin, "flush", lambda self: None)
    whole = run_built(suspended(Partitions(4, 200, 1))).result("sink")
    first = run_suspended(suspended(Suspending(4, 200, 1, os.getpid(), 90)), tmp_path)
    second = run_built(suspended(Partitions(4, 200, 1)), {"start": tmp_path})
    assert first.result("sink") + second.result("sink") != whole


def picky(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """Raises for some values of the left stream."""
    if left[2] == 5:
        raise ValueError("5")
    return bool(left[1] == right[1])


def test_a_row_for_which_a_condition_raises_is_not_stored() -> None:
    events = drawn(Random(4), 150)
    bolt = JoinBolt("left", "right", [Within("20ms"), picky], FIELDS)
    builder = joining(events, bolt, 1, None)
    found = run_built(builder, viper__on__error="skip").result("sink")
    kept: list[tuple[int, int, tuple[Any, ...]]] = []
    expected = []
    for side, time, values in events:
        near = [stored for other, at, stored in kept if other != side and time - at <= 20]
        pairs = [(values, stored) if side == 0 else (stored, values) for stored in near]
        if any(left[2] == 5 for left, _ in pairs):
            continue
        expected += [left + right for left, right in pairs if left[1] == right[1]]
        kept.append((side, time, values))
    assert [row for row, _ in found] == expected
