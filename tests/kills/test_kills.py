"""A portion of the runs of ``make kills``: nothing that is killed or suspended shows in what sinks have."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.model.config.keys import EVALUATORS
from tests.kills.runs import (
    Case,
    check_killed,
    check_killed_as_a_whole,
    check_leader_killed,
    check_suspended,
)
from tests.kills.shapes import SHAPES
from tests.portions import at_every_change

ROWS = {"saturated": 100, "bursts": 40}
GROUP_ROWS = 1000
"""So many that a checkpoint is made, after which groups are killed."""
SHAPES_KILLED = ["words", "drawn", *(name for name in SHAPES if name not in ("drawn", "words"))]
SHAPES_SCALED = ["words", "windows by key", "steps", "python values", "typed values", "batches", "claims"]


@pytest.mark.parametrize("name", at_every_change(SHAPES_KILLED, 1))
def test_killed_workers(name: str, tmp_path: Path) -> None:
    assert check_killed(Case(name, 1, ROWS.get(name, 200), 8), tmp_path).deaths > 2


@pytest.mark.parametrize("name", at_every_change(SHAPES_KILLED, 1))
def test_killed_workers_with_checkpoints(name: str, tmp_path: Path) -> None:
    assert check_killed(Case(name, 2, ROWS.get(name, 200), 8, checkpoints=True), tmp_path).deaths > 2


@pytest.mark.parametrize("checkpoints", [False, True])
@pytest.mark.parametrize("name", at_every_change([n for n in SHAPES_KILLED if n != "transactions"], 1))
def test_killed_workers_whose_threads_share_tasks(name: str, checkpoints: bool, tmp_path: Path) -> None:
    shared = (("viper__worker__threads", 3),)
    case = Case(name, 1, ROWS.get(name, 200), 6, workers=2, options=shared, checkpoints=checkpoints)
    assert check_killed(case, tmp_path).deaths > 2


@pytest.mark.parametrize("evaluator", at_every_change(EVALUATORS, 0))
def test_workers_killed_faster_than_they_recover(evaluator: str, tmp_path: Path) -> None:
    by = (("viper__transactions__evaluator", evaluator), ("viper__transactions__threads", 2))
    case = Case("transactions", 3, 100, 20, options=by, is_swift=True)
    assert check_killed(case, tmp_path).deaths > 10


@pytest.mark.few(1)
@pytest.mark.parametrize("name", at_every_change(SHAPES_SCALED, 2))
def test_killed_workers_while_numbers_of_tasks_change(name: str, tmp_path: Path) -> None:
    deaths, changes = check_killed(Case(name, 1, 400, 8, scaled=True), tmp_path)
    assert deaths > 2 and changes > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES_SCALED)
def test_the_same_with_checkpoints(name: str, tmp_path: Path) -> None:
    deaths, changes = check_killed(Case(name, 2, 300, 8, checkpoints=True, scaled=True), tmp_path)
    assert deaths > 2 and changes > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", at_every_change(["words", "drawn", "windows"], 1))
def test_killed_groups(name: str, tmp_path: Path) -> None:
    assert check_killed_as_a_whole(Case(name, 1, GROUP_ROWS, 1, checkpoints=True), tmp_path) > 0


@pytest.mark.parametrize("name", at_every_change(["words", "drawn", "windows"], 1, daily=True))
def test_killed_leaders(name: str, tmp_path: Path) -> None:
    assert check_leader_killed(Case(name, 1, GROUP_ROWS, 2, checkpoints=True), tmp_path) > 0


@pytest.mark.parametrize("name", at_every_change(["windows", "drawn", "words"], 1, daily=True))
def test_suspended_runs(name: str, tmp_path: Path) -> None:
    assert check_suspended(Case(name, 1, 300, 1, checkpoints=True), tmp_path) > 0
