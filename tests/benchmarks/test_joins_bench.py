"""The benchmark of joins runs, and its ways find the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_all_ways_are_measured() -> None:
    command = [sys.executable, "benchmarks/joins.py", "--stored", "5000", "--tuples", "50", "--rounds", "1"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    ran = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    told = json.loads(ran.stdout)
    assert len(told) == 4
    assert told["scan in C"]["comparisons_per_s"] > 0
    assert 0 < told["index by x"]["candidates"] < 5000 * 50
