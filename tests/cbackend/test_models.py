"""The protocols of the communication layer, checked by spin; the litmus clients over its sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[1] / "model"
PROMELA = MODEL / "promela"
LIMIT_S = 600
"""Far above what is needed; a search or a client that hangs ends here."""

pytestmark = pytest.mark.skipif(
    not (shutil.which("make") and shutil.which("gcc")), reason="needs make and gcc"
)
needs_spin = pytest.mark.skipif(
    not shutil.which("spin"), reason="needs spin; on Debian: apt-get install spin"
)


def made(goal: str, build: Path, *options: str) -> list[str]:
    """Run `make`, and list the lines in which it reports its work; fails with all its output if it fails."""
    done = subprocess.run(
        ["make", f"-j{os.cpu_count() or 1}", "-C", MODEL, f"BUILD={build}", *options, goal],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def planted_in(pattern: str) -> set[str]:
    """Every bug that these models, or what they include, offer."""
    texts = (path.read_text(encoding="utf-8") for path in PROMELA.glob(pattern))
    return {name for text in texts for name in re.findall(r"PLANTED_(\w+)", text)}


def caught_in(said: list[str]) -> set[str]:
    return {name for line in said for name in re.findall(r"caught: (\w+) in ", line)}


# All of them together take minutes of processor time, and beside other tests longer than one may stand still.
each_model = pytest.mark.parametrize("model", sorted(path.stem for path in PROMELA.glob("*.pml")))


@needs_spin
def test_claims_by_key_are_right_without_deaths_and_wrong_without_their_number(tmp_path: Path) -> None:
    goals = "models/keyclaims_no_deaths.passed", "planted/keyclaims/COME_TO_TWICE.caught"
    said = [line for goal in goals for line in made(str(tmp_path / goal), tmp_path)]
    assert "passed: keyclaims_no_deaths" in said and "caught: COME_TO_TWICE in keyclaims" in said


@pytest.mark.slow
@needs_spin
@each_model
def test_a_model_has_no_wrong_state(model: str, tmp_path: Path) -> None:
    assert f"passed: {model}" in made(f"models-{model}", tmp_path)


@pytest.mark.slow
@needs_spin
@each_model
def test_spin_finds_every_planted_bug(model: str, tmp_path: Path) -> None:
    caught = caught_in(made(f"planted-{model}", tmp_path))
    assert caught and planted_in(f"{model}.pml") <= caught


@pytest.mark.slow(daily=True)
def test_every_planted_bug_is_looked_for(tmp_path: Path) -> None:
    assert planted_in("*") <= caught_in(made("planted", tmp_path, "--dry-run"))


@pytest.mark.slow(daily=True)
def test_the_litmus_clients_hold_and_their_weakenings_do_not(tmp_path: Path) -> None:
    said = made("litmus", tmp_path)
    clients = {path.stem for path in (MODEL / "litmus").glob("*.c")}
    passed = {line for line in said if line.startswith("passed: ")}
    ways = ("once", "steps", "free", "tsan")
    assert {f"passed: {client} ({way})" for client in clients for way in ways} <= passed
    caught = {line.split()[3] for line in said if line.startswith("caught: the weaker ")}
    assert caught == clients
