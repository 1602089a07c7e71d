"""The benchmark of BriskStream's applications runs: all forms tell as much, beside the paper's figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FORMS = ("tuples", "tuples-apart", "batches", "batches-apart")


@pytest.mark.slow
def test_all_applications_in_all_forms() -> None:
    command = [sys.executable, "-m", "benchmarks.brisk", "--rounds=1", "--share=0.02"]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    lines = list(map(json.loads, ran.stdout.splitlines()))
    names = ("word_count", "fraud_detection", "spike_detection", "log_processing", "linear_road")
    assert [(line["application"], line["form"]) for line in lines] == [
        (name, form) for name in names for form in FORMS
    ]
    for line in lines:
        assert line["lines"] > 0 < line["lines_per_cpu_s"]
        assert (line["paper_events_per_core_s"] is None) == (line["application"] == "log_processing")
    words = [line for line in lines if line["application"] == "word_count"]
    assert all(line["events"] == 10 * line["lines"] for line in words)
    assert all(line["events_share_of_paper"] == line["lines_share_of_paper"] for line in words)
