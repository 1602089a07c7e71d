"""BriskStream's applications tell the same where workers are killed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from framework import run
from tests.portions import at_every_change
from tests.topologies.brisk.cases import NAMES, SINKS, Case, built_of, part
from tests.topologies.brisk.reference import Rows
from tests.topologies.linear_road.test_disturbances import EXACT

KILLS = 5
GAP = 400
"""Points that a process passes before it dies, on average: so many that kills come throughout a run."""
ROOM = {
    "viper.jumbo.size": 16,
    "viper.slice.tuples": 64,
    "viper.channel.tuples": 128,
    "viper.columns.rows": 128,
}
"""So that a run has many slices."""


def told(folder: Path, sinks: tuple[str, ...]) -> Rows:
    """Read the output of sinks; JSON has whole and other numbers as they are."""
    found = {}
    for sink in sinks:
        lines = Path(folder, sink).read_text(encoding="utf-8").splitlines()
        found[sink] = [tuple(json.loads(line).values()) for line in lines]
    return found


ALL = [(*way, seed) for seed, way in enumerate(product(NAMES, ("tuples", "batches")))]
ALL += [(name, form, seed + len(ALL)) for name, form, seed in ALL]


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "form", "seed"), at_every_change(ALL, 2), ids=str)
def test_killed_workers(cases: Mapping[str, Case], tmp_path: Path, name: str, form: str, seed: int) -> None:
    print(f"seed {seed}")
    dying: Any = part("tests.topologies.brisk.dying")
    sinks = {sink: dying.Told(str(tmp_path / sink)) for sink in SINKS[name]}
    built = built_of(cases[name], sinks, 1 + seed % 3, 2, form)
    options = {"viper.worker": "process", "topology.workers": 2 + seed % 2, "viper.poll.pause.max.ms": 1}
    plan = dying.deaths.Plan(str(tmp_path / "deaths"), seed, KILLS, GAP)
    with dying.deaths.planned(plan):
        report = run(built, conf={**options, **EXACT, **ROOM})
    assert told(tmp_path, SINKS[name]) == cases[name].expected()
    print(len(report.incidents), "deaths")
    assert report.incidents
    assert all(incident.lost == 0 and not incident.state_lost for incident in report.incidents)
