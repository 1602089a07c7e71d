"""Aggregates of windows survive kills, and runs that are resumed, to the last bit of a float."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.frontends.streams import AggregateWindow, Map
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates import PaneWindow
from framework.runtime.coordination.stop import StopReason
from tests.framework.frontends.streams.windows import MortalWindow, shared
from tests.framework.runtime.durability.checkpoints.suspended import (
    Suspending,
    check_suspended_at,
    run_suspended,
)
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.killed import MortalPartitions, Written
from tests.framework.runtime.workers.test_exact import run, undisturbed, written
from tests.portions import at_every_change, times_at_every_change

FORMS: tuple[dict[str, Any], ...] = (
    {"size": 60, "advance": 4},
    {"size": 25, "advance": 10},
    {"size": 25, "advance": 10, "offset": -7},
    {"gap": 6},
    {"count": 12, "slide": 5},
)
"""In microseconds, as there are between the rows of `Partitions`."""
AGGREGATES = {
    "total": ["sum", "share"],
    "n": ["count"],
    "spread": ["variance", "share"],
    "partitions": ["distinct", "partition"],
    "last": ["last", "share"],
}


def windows(spout: Any, sources: int, cls: type[AggregateWindow], form: Any, par: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("shared", Map(shared, ["key", "partition", "share"])).shuffle_grouping("source")
    operator = cls(AGGREGATES, ["key", "partition", "share"], bounds=True, **form)
    builder.set_bolt("windows", operator, par).fields_grouping("shared", "key")
    return builder


def killed(form: dict[str, Any]) -> TopologyBuilder:
    builder = windows(MortalPartitions(count=900), 2, MortalWindow, form, 2)
    builder.set_bolt("sink", Written).global_grouping("windows")
    return builder


SPREAD = {"source": [1, 2], "shared": 1, "windows": [3, 2], "sink": 2}


@pytest.mark.few(1)
@pytest.mark.parametrize("form, seed", at_every_change([(f, s) for s in range(1, 5) for f in FORMS], 2))
def test_killed_workers_change_nothing(form: dict[str, Any], seed: int, tmp_path: Path) -> None:
    expected = undisturbed(killed(form), tmp_path)
    report = run(killed(form), tmp_path, seed, viper__placement=SPREAD, viper__slice__tuples=16)
    assert len(report.incidents) > 1
    assert written(tmp_path) == expected


def suspended(spout: Partitions, form: dict[str, Any], sources: int = 2, par: int = 1) -> TopologyBuilder:
    builder = windows(spout, sources, AggregateWindow, form, par)
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    return builder


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("seed", at_every_change(range(10), 1))
def test_a_run_that_is_suspended_is_gone_on_with(seed: int, form: dict[str, Any], tmp_path: Path) -> None:
    whole = run_built(suspended(Partitions(4, 300, seed), form)).result("sink")
    spout = Suspending(4, 300, seed, os.getpid(), (seed * 7919 + 31) % 250)
    first = run_suspended(suspended(spout, form, par=2), tmp_path)
    assert first.reason is StopReason.SUSPENDED
    rows = first.result("sink")
    assert len(rows) < len(whole) and rows == whole[: len(rows)]
    again = suspended(Partitions(4, 300, seed), form, sources=3, par=5)
    assert rows + run_built(again, {"start": tmp_path}).result("sink") == whole


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("times_us", times_at_every_change(range(279, 282), range(200, 279), range(282, 380)))
def test_a_run_can_be_suspended_at_every_time(times_us: range, form: dict[str, Any], tmp_path: Path) -> None:
    """Also at those where windows end."""
    check_suspended_at(times_us, lambda spout: suspended(spout, form), tmp_path)


def test_panes_that_are_forgotten_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaneWindow, "kept", {})
    with pytest.raises(AssertionError):
        test_a_run_that_is_suspended_is_gone_on_with(0, FORMS[0], tmp_path)
