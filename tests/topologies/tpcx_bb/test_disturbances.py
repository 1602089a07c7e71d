"""TPCx-BB's queries answer the same where workers are killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from framework import run
from tests.framework.runtime.workers.running import INLINE
from tests.portions import at_every_change
from tests.topologies.brisk.test_disturbances import GAP, KILLS, ROOM, told
from tests.topologies.linear_road.test_disturbances import EXACT
from tests.topologies.tpcx_bb.cases import QUERIES, Files, answered, part, small_bolts, source_of


@pytest.mark.parametrize(("query", "seed"), at_every_change(zip(QUERIES, range(5), strict=True)), ids=str)
def test_killed_workers(few: Files, tmp_path: Path, query: str, seed: int) -> None:
    print(f"seed {seed}")
    dying: Any = part("tests.topologies.brisk.dying")
    build = getattr(part("tpcx_bb_builder"), query)
    sink = dying.Told(str(tmp_path / "answers"))
    built = build(source_of(query, few[query]), sink, 1 + seed % 3, small_bolts(query)).build(query)
    options = {"viper.worker": "process", "topology.workers": 2 + seed % 2, "viper.poll.pause.max.ms": 1}
    plan = dying.deaths.Plan(str(tmp_path / "deaths"), seed, KILLS, GAP)
    with dying.deaths.planned(plan):
        report = run(built, conf={**options, **EXACT, **ROOM})
    found = told(tmp_path, ("answers",))["answers"]
    assert found == answered(query, source_of(query, few[query]), INLINE, 1)
    print(len(report.incidents), "deaths")
    assert report.incidents
    assert all(incident.lost == 0 and not incident.state_lost for incident in report.incidents)
