"""Bolts get more tasks and fewer while worker processes are killed: not a byte of the output changes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import ComponentError, WorkerError
from framework.runtime import RunReport
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.scaled import MOST, Asking, Change, drawn
from tests.framework.runtime.workers.killed import (
    PLANT,
    SCALING_PLANTS,
    Batches,
    Count,
    Fan,
    Forward,
    Typed,
    Written,
)
from tests.portions import at_every_change

COUNT = 300
SPREAD = {"source": 1, "pieces": [1, 2, 3], "tripled": [3, 2, 1], "count": 3, "sink": 2}
SCALED = {"viper.stateless": True, "viper.parallelism.max": MOST}


def built(middle: type[Bolt] = Forward) -> TopologyBuilder:
    """Bolts that are scaled after a shuffle and a fields grouping; state by key and a file after them."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": COUNT})
    builder.set_bolt("pieces", Fan, 2, kwargs={"many": 60}, config=SCALED).shuffle_grouping("source")
    builder.set_bolt("tripled", middle, 2, config=SCALED).fields_grouping("pieces", "nth")
    builder.set_bolt("count", Count).fields_grouping("tripled", "number")
    builder.set_bolt("sink", Written).global_grouping("count")
    return builder


def run(builder: TopologyBuilder, folder: Path, seed: int, *changes: Change, **options: Any) -> RunReport:
    marks, control = folder / "marks", folder / "control"
    marks.mkdir(exist_ok=True)
    for mark in marks.iterdir():
        mark.unlink()
    (folder / "written").unlink(missing_ok=True)
    chosen = {
        "viper__worker": "process",
        "topology__workers": 3,
        "viper__placement": SPREAD,
        "viper__worker__restart__tries": 20,
        "viper__recovery": "exact",
        "viper__jumbo__size": 8,
        "viper__channel__tuples": 64,
        "topology__acker__executors": 0,
        "marks": str(marks),
        "written": str(folder / "written"),
        "kills": 5,
        "kill__seed": seed,
        "control": str(control),
        "changes": changes,
    }
    return run_built(builder, {"control": control}, **{**chosen, **options})


def written(folder: Path) -> str:
    return (folder / "written").read_text()


def undisturbed(builder: TopologyBuilder, folder: Path) -> str:
    """Read the file of a run without a death and without a change."""
    alone = {"viper__worker": "inline", "topology__workers": 1, "viper__placement": "component"}
    run(builder, folder, 0, kills=0, **alone)
    return written(folder)


@pytest.mark.parametrize("middle, seed", at_every_change(product((Forward, Batches, Typed), range(8)), 1))
def test_nothing_changes(middle: type[Bolt], seed: int, tmp_path: Path) -> None:
    expected = undisturbed(built(middle), tmp_path)
    report = run(built(middle), tmp_path, seed, *drawn(seed, 20, COUNT))
    assert len(report.incidents) > 1
    assert all(incident.lost == 0 and not incident.state_lost for incident in report.incidents)
    assert written(tmp_path) == expected


@pytest.mark.parametrize("middle, seed", at_every_change(product((Forward, Batches, Typed), range(8)), 1))
def test_nothing_changes_where_tasks_claim_their_input(
    middle: type[Bolt], seed: int, tmp_path: Path
) -> None:
    """Successors do claims again, also those that rest by then."""
    builder = TopologyBuilder()
    config = {**SCALED, "viper.sharing": "claims"}
    builder.set_spout("source", Asking, kwargs={"count": COUNT})
    builder.set_bolt("pieces", Fan, 2, kwargs={"many": 60}, config=config).shuffle_grouping("source")
    builder.set_bolt("tripled", middle, 2, config=config).shuffle_grouping("pieces")
    builder.set_bolt("count", Count).fields_grouping("tripled", "number")
    builder.set_bolt("sink", Written).global_grouping("count")
    expected = undisturbed(builder, tmp_path)
    report = run(builder, tmp_path, seed, *drawn(seed, 20, COUNT))
    assert len(report.incidents) > 1
    assert all(incident.lost == 0 and not incident.state_lost for incident in report.incidents)
    assert written(tmp_path) == expected


FIRST = 3
"""A seed that finds both planted bugs most often."""


@pytest.mark.parametrize("plant", SCALING_PLANTS)
def test_a_planted_bug_is_found(plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = undisturbed(built(), tmp_path)
    monkeypatch.setenv(PLANT, plant)
    for seed in (FIRST, FIRST, FIRST, *range(20)):
        try:
            run(built(), tmp_path, seed, *drawn(seed, 20, COUNT))
        except (ComponentError, WorkerError):
            return
        if written(tmp_path) != expected:
            return
    pytest.fail("it changes nothing")
