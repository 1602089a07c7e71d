"""Worker processes that die inside evaluations, at named points of these: nothing of it shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.kills.pointed import REPOSITORY, built
from tests.portions import at_every_change

KILLS = 15
"""Deaths in a run, so that seven runs have 100."""
INSIDE = 5
"""Of them inside evaluations, at the least, so that these have 30."""


def killed(
    folder: Path, seed: int, plant: str = "ordinary", *more: str
) -> tuple[int, Mapping[str, Any], str]:
    """The exit code of a run, what it tells, and its errors."""
    first = built(folder / "first", plant)
    environ = {**os.environ, "PYTHONPATH": f"{first}{os.pathsep}{REPOSITORY}"}
    command = [sys.executable, "-m", "tests.kills.evaluating", str(folder), str(seed), str(KILLS), *more]
    ran = subprocess.run(command, env=environ, cwd=first, capture_output=True, text=True, timeout=240)
    lines = ran.stdout.splitlines()
    return ran.returncode, json.loads(lines[-1]) if lines else {}, ran.stderr[-3000:]


@pytest.mark.parametrize("seed", at_every_change(range(7), 0))
def test_deaths_inside_evaluations_do_not_show(seed: int, tmp_path: Path) -> None:
    code, told, errors = killed(tmp_path, seed)
    print(seed, told)
    assert code == 0, errors or told
    assert told["deaths"] >= KILLS and told["inside"] >= INSIDE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "then"), at_every_change([(4, "CONT"), (8, "KILL"), (6, "CONT"), (4, "KILL")])
)
def test_others_wait_for_who_stops_inside_an_evaluation(seed: int, then: str, tmp_path: Path) -> None:
    code, told, errors = killed(tmp_path, seed, "ordinary", then)
    print(seed, told)
    assert code == 0, errors or told
    assert told["woken"] == ["T"]
    assert (told["deaths"], told["inside"]) == ((1, 1) if then == "KILL" else (0, 0))


@pytest.mark.parametrize("plant", at_every_change(["holder_not_undone", "evaluated_once_more"], daily=True))
def test_a_planted_bug_is_found(plant: str, tmp_path: Path) -> None:
    for seed in range(4):
        code, told, errors = killed(tmp_path / str(seed), seed, plant)
        print(seed, told, errors)
        if code:
            return
    pytest.fail("it changes nothing")
