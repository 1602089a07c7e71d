"""The protocols of the communication layer, checked by spin; the litmus clients over its sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[1] / "model"
LIMIT_S = 600
"""Far above what is needed; a search or a client that hangs ends here."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (shutil.which("make") and shutil.which("gcc")), reason="needs make and gcc"),
]
needs_spin = pytest.mark.skipif(
    not shutil.which("spin"), reason="needs spin; on Debian: apt-get install spin"
)


def made(goal: str, build: Path) -> list[str]:
    """What `make` says it has done; fails with all it said if it did not."""
    done = subprocess.run(
        ["make", f"-j{os.cpu_count() or 1}", "-C", MODEL, f"BUILD={build}", goal],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def planted_in_models() -> set[str]:
    """Every bug that a model offers, as the Makefile names it."""
    texts = (path.read_text(encoding="utf-8") for path in (MODEL / "promela").iterdir())
    return {name for text in texts for name in re.findall(r"PLANTED_(\w+)", text)}


@needs_spin
def test_the_models_have_no_wrong_state(tmp_path: Path) -> None:
    said = made("models", tmp_path)
    passed = {line.removeprefix("passed: ") for line in said if line.startswith("passed: ")}
    assert {path.stem for path in (MODEL / "promela").glob("*.pml")} <= passed


@needs_spin
def test_spin_finds_every_planted_bug(tmp_path: Path) -> None:
    said = made("planted", tmp_path)
    caught = {line.split()[1] for line in said if line.startswith("caught: ")}
    assert planted_in_models() and planted_in_models() <= caught


@pytest.mark.slow(daily=True)
def test_the_litmus_clients_hold_and_their_weakenings_do_not(tmp_path: Path) -> None:
    said = made("litmus", tmp_path)
    clients = {path.stem for path in (MODEL / "litmus").glob("*.c")}
    passed = {line for line in said if line.startswith("passed: ")}
    ways = ("once", "steps", "free", "tsan")
    assert {f"passed: {client} ({way})" for client in clients for way in ways} <= passed
    caught = {line.split()[3] for line in said if line.startswith("caught: the weaker ")}
    assert caught == clients
