"""The paper's reorder buffer and hybrid queue, which claims are measured against, hold in every interleaving.

Their benchmark gives all outputs in order.
"""

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

HAS_TOOLS = shutil.which("make") and shutil.which("gcc")
pytestmark = pytest.mark.skipif(not HAS_TOOLS, reason="needs make and gcc")


def make(build: Path, *goals: str) -> subprocess.CompletedProcess[str]:
    options = ["--no-print-directory", f"-j{os.cpu_count() or 1}", "-C", str(FOLDER), f"BUILD={build}"]
    command = ["make", *options, *goals]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)


def made(build: Path, *goals: str) -> list[str]:
    """Run `make`, and list the lines that it prints; fails with all its output if it fails."""
    done = make(build, *goals)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("bug", ["release_clear", "counted_after_work"])
def test_a_planted_bug_is_found_in_some_interleaving(bug: str, tmp_path: Path) -> None:
    assert f"caught: {bug}" in made(tmp_path, f"{tmp_path}/planted/{bug}.caught")


@pytest.mark.slow
def test_no_interleaving_is_wrong_and_every_planted_bug_is_found(tmp_path: Path) -> None:
    said = made(tmp_path, "test")
    threads = {f"{flavour}/test_threads" for flavour in ("plain", "asan", "tsan")}
    tests = {"test_explore", "test_buffer", "test_hybrid"} | threads
    assert {f"passed: {test}" for test in tests} <= set(said)
    planted = {path.stem for path in (FOLDER / "tests" / "planted").glob("*.sed")}
    assert planted and {f"caught: {bug}" for bug in planted} <= set(said)
    # An exploration in which nothing happens passes, too.
    log = (tmp_path / "test_buffer.passed").read_text(encoding="utf-8")
    ends = re.findall(r"(\d+) states, (\d+) ends", log)
    assert len(ends) == 5 and all(int(states) > int(count) > 50 for states, count in ends)


@pytest.mark.slow
@pytest.mark.parametrize("flavour", ["plain", "asan", "tsan"])
def test_every_way_puts_out_all_in_order(flavour: str, tmp_path: Path) -> None:
    said = made(tmp_path, f"check-{flavour}", "OPTIONS=--workers 3")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said if line.startswith("|")]
    assert [row[0] for row in rows if not row[0].startswith("--")] == [
        *("us an input", "0", "1", "10", "100", "1 to 100"),
        *("keys", "Zipf 0", "Zipf 0.99", "Zipf 1.5"),
    ]
    assert [len(row) for row in rows] == [11] * 7 + [9] * 5


@pytest.mark.slow
def test_a_way_that_puts_out_another_order_is_found_out(tmp_path: Path) -> None:
    planted = tmp_path / "buffer.c"
    text = (FOLDER / "structures" / "buffer.c").read_text(encoding="utf-8")
    right, wrong = "context, next, count, output", "context, next + 1, count, output"
    assert right in text
    planted.write_text(text.replace(right, wrong), encoding="utf-8")
    structures = f"STRUCTURES={planted} structures/heap.c structures/hybrid.c"
    done = make(tmp_path, "check", structures)
    assert done.returncode != 0
    assert "buffer: found the output of input 1, expected that of 0" in done.stderr
