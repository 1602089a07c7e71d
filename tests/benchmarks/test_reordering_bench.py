"""The reorder buffer and the hybrid queue that claims are measured against do what they promise, in every interleaving."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "reordering"
LIMIT_S = 600
"""Far above what is needed; a test or a benchmark that hangs ends here."""

pytestmark = pytest.mark.skipif(not (shutil.which("make") and shutil.which("gcc")), reason="needs make and gcc")


def made(build: Path, *goals: str) -> list[str]:
    """Run `make`, and list the lines that it prints; fails with all its output if it fails."""
    command = ["make", "--no-print-directory", f"-j{os.cpu_count() or 1}", "-C", str(FOLDER), f"BUILD={build}", *goals]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("bug", ["release_clear", "counted_after_work"])
def test_a_planted_bug_is_found_in_some_interleaving(bug: str, tmp_path: Path) -> None:
    assert f"caught: {bug}" in made(tmp_path, f"{tmp_path}/planted/{bug}.caught")


@pytest.mark.slow
def test_no_interleaving_is_wrong_and_every_planted_bug_is_found(tmp_path: Path) -> None:
    said = made(tmp_path, "test")
    tests = {"test_buffer", "test_hybrid", *(f"{flavour}/test_threads" for flavour in ("plain", "asan", "tsan"))}
    assert {f"passed: {test}" for test in tests} <= set(said)
    planted = {path.stem for path in (FOLDER / "tests" / "planted").glob("*.sed")}
    assert planted and {f"caught: {bug}" for bug in planted} <= set(said)
    # An exploration in which nothing happens passes, too.
    ends = re.findall(r"(\d+) states, (\d+) ends", (tmp_path / "test_buffer.passed").read_text(encoding="utf-8"))
    assert len(ends) == 5 and all(int(states) > int(count) > 50 for states, count in ends)
