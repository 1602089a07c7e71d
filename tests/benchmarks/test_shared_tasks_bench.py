"""The benchmark of threads that share tasks runs, and prints a row for each way and kind of work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_every_way_is_measured() -> None:
    command = [sys.executable, "shared_tasks.py", "--tuples", "5", "--rounds", "1"]
    ran = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    rows = [line.split() for line in ran.stdout.splitlines()[1:]]
    assert [row[0] for row in rows[::4]] == ["sleep", "zlib", "python", "cheap"]
    assert len(rows) == 16 and all(float(row[-2]) > 0 and float(row[-1]) > 0 for row in rows)
