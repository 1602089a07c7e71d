"""A sink that is killed at any step, and then again, has applied each row once in the end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.framework.operators.sinks.driven import SINKS
from tests.portions import at_every_change

REPOSITORY = Path(__file__).parents[4]
FIRST = ["json", "sqlite"]
CASES = [(kind, 15) for kind in FIRST] + [(kind, 4) for kind in SINKS]


def killed(kind: str, folder: Path, every: int, planted: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "tests.framework.operators.sinks.killing"]
    return subprocess.run(
        [*command, kind, str(folder), str(every), planted],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "every"), at_every_change(CASES, len(FIRST)))
def test_killed_at_every_step(kind: str, every: int, tmp_path: Path) -> None:
    ran = killed(kind, tmp_path, every)
    assert ran.returncode == 0, ran.stderr
    (kills,) = re.findall(r"^(\d+) kills$", ran.stdout, flags=re.MULTILINE)
    assert int(kills) >= 4


PLANTED = [
    ("sqlite", "keeps what no checkpoint covers"),
    ("json", "applies twice"),
    ("json", "keeps what no checkpoint covers"),
    ("json", "forgets the journal"),
    ("own", "keeps what no checkpoint covers"),
    ("own", "drops what is staged"),
    ("sqlite", "applies twice"),
    ("sqlite", "drops what is staged"),
]


@pytest.mark.parametrize(("kind", "planted"), at_every_change(PLANTED))
def test_planted_mistakes_are_found(kind: str, planted: str, tmp_path: Path) -> None:
    assert killed(kind, tmp_path, 3, planted).returncode == 1
