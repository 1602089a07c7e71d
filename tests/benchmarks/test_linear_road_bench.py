"""The benchmark of Linear Road runs: all programs answer as often, and answers at a pace are in time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_shares_and_the_peak_of_both_forms() -> None:
    brief = ["--rounds=1", "--xways=1", "--warm=90", "--seconds=2", "--state-gib=0.25"]
    command = [sys.executable, "-m", "benchmarks.linear_road", *brief]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    rates, *programs, tuples, batches = map(json.loads, ran.stdout.splitlines())
    assert 0 < rates["average_rows_per_minute"] == rates["peak_rows_per_minute"]
    assert [program["program"] for program in programs] == ["plain", "tuples", "batches"]
    assert programs[0]["share"] == 1.0 and all(program["rows_per_cpu_s"] > 0 for program in programs)
    assert [peak["form"] for peak in (tuples, batches)] == ["tuples", "batches"]
    assert tuples["rows"] == batches["rows"] > 0
    assert tuples["answers"] == batches["answers"] > 0
    assert all(peak["latest_s"] > 0 for peak in (tuples, batches))
