"""The benchmark of the transactional applications runs, and all forms of each answer alike."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_all_forms_of_all_applications() -> None:
    brief = ["--rounds=1", "--events=3000"]
    command = [sys.executable, "-m", "benchmarks.transactions.applications", *brief]
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [(line["application"], line["form"]) for line in lines] == [
        (name, form)
        for name in ("grep_sum", "streaming_ledger", "online_bidding", "toll_processing")
        for form in ("tuples", "batches", "batches-apart")
    ]
    assert all(line["answers"] == 3000 and line["events_per_s"] > 0 for line in lines)
    refused = {line["application"]: line["refused"] for line in lines}
    assert refused["online_bidding"] > 0 == refused["toll_processing"]
