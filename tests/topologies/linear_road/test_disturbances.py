"""Linear Road: its answers stay where bolts get other numbers of tasks, and where workers are killed.

All here takes seconds, as there are no less rows in which so many tolls are owed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework import run
from framework.operators.sinks import TextSink
from framework.runtime import RunReport
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import at_every_change
from tests.topologies.linear_road.conftest import SECONDS, SEED, TRAFFIC

BOLTS = ("dispatch", "crossings", "stops", "accidents", "tolls", "accounts", "expenditures")
"""All that there are; each can be scaled."""
CHANGES = 4
KILLS = 6
GAP = 20_000
"""Points that a process passes before it dies, on average: so many that kills come throughout a run."""
EXACT = {
    "viper.recovery": "exact",
    "viper.worker.restart.tries": 1000,
    "viper.worker.restart.window.secs": 0.2,  # so that pauses stay short
}


@pytest.fixture(scope="module")
def disturbed(application: Any) -> Any:
    """The module of the spout, which imports the application's."""
    __import__("tests.topologies.linear_road.disturbed")
    return sys.modules["tests.topologies.linear_road.disturbed"]


@pytest.fixture
def disturb(application: Any, disturbed: Any, history: str, tmp_path: Path) -> Any:
    """Runs the application; returns the report."""

    def disturb(
        injectors: int, tasks: int, workers: Workers, changes: Sequence[Any] = (), **options: Any
    ) -> RunReport:
        control = tmp_path / "control"
        (control / "asked").mkdir(parents=True)
        cars = disturbed.Disturbed(changes, str(control), SECONDS, 1, SEED, injectors, TRAFFIC)
        sink = TextSink(str(tmp_path / "answers"))
        built = application.linear_road(cars, sink, tasks, history).build("linear-road")
        most = {"viper.parallelism.max": max(tasks, disturbed.MOST)}
        components = tuple(
            replace(each, config={**each.config, **most}) if each.id in BOLTS else each
            for each in built.components
        )
        chosen = {key.replace("__", "."): value for key, value in workers.options.items()}
        conf = {**chosen, "viper.poll.pause.max.ms": 1, **options}
        return run(replace(built, components=components), conf=conf, control=control)

    return disturb


def answers(folder: Path) -> list[str]:
    return (folder / "answers").read_text().splitlines()


def check_changes(report: RunReport, tasks: int, changes: Sequence[Any]) -> None:
    """All were carried out, and in the order in which they were asked for."""
    for bolt in BOLTS:
        found = [change for change in report.statistics.scaled if change.component == bolt]
        wanted = [change.tasks[bolt] for change in changes if bolt in change.tasks]
        assert [change.tasks for change in found] == wanted
        assert [change.before for change in found] == [tasks, *wanted][: len(wanted)]


def check_deaths(report: RunReport) -> None:
    assert len(report.incidents) > 2
    assert all(incident.lost == 0 and not incident.state_lost for incident in report.incidents)


SCALED = [
    (2, 2, INLINE, 1),
    (3, 3, THREADS, 2),
    (4, 2, PROCESSES, 3),
    (1, 1, INLINE, 4),
    (6, 1, Workers("thread", 2), 5),
    (2, 3, Workers("process", 2), 6),
    (5, 3, Workers("process", 1), 7),
]
"""Injectors, tasks at first, workers and a seed."""


@pytest.mark.slow
@pytest.mark.parametrize(("injectors", "tasks", "workers", "seed"), at_every_change(SCALED), ids=str)
def test_bolts_that_get_other_numbers_of_tasks(
    disturb: Any,
    disturbed: Any,
    tmp_path: Path,
    expected: list[str],
    injectors: int,
    tasks: int,
    workers: Workers,
    seed: int,
) -> None:
    print(f"seed {seed}")
    changes = disturbed.drawn(seed, BOLTS, tasks, CHANGES, SECONDS)
    report = disturb(injectors, tasks, workers, changes)
    assert answers(tmp_path) == expected
    check_changes(report, tasks, changes)


KILLED = [
    *((6, 3, 3, 1, 0), (1, 1, 2, 2, 0), (2, 2, 1, 3, 0), (3, 6, 2, 4, 0), (4, 2, 3, 5, 0)),
    *((3, 3, 3, 1, 4), (2, 1, 2, 2, 4), (5, 2, 1, 3, 4), (2, 3, 3, 4, 4), (6, 2, 2, 5, 4)),
]
"""Injectors, tasks at first, worker processes, a seed, and how often tasks change their numbers."""


@pytest.mark.slow
@pytest.mark.parametrize(("injectors", "tasks", "workers", "seed", "times"), KILLED)
def test_killed_workers(
    disturb: Any,
    disturbed: Any,
    tmp_path: Path,
    expected: list[str],
    injectors: int,
    tasks: int,
    workers: int,
    seed: int,
    times: int,
) -> None:
    print(f"seed {seed}")
    changes = disturbed.drawn(seed, BOLTS, tasks, times, SECONDS)
    with disturbed.deaths.planned(disturbed.deaths.Plan(str(tmp_path / "deaths"), seed, KILLS, GAP)):
        report = disturb(injectors, tasks, Workers("process", workers), changes, **EXACT)
    assert answers(tmp_path) == expected
    check_deaths(report)
    check_changes(report, tasks, changes)
