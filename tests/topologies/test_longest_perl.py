"""The example with a bolt in Perl, against the lines that were found without it."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from framework.testing import run_topology

TOPOLOGIES = Path(__file__).parents[2] / "topologies"
LINES = 400


def longest() -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    with gzip.open(TOPOLOGIES / "data" / "kjv.txt.gz", "rt") as text:
        for number, line in zip(range(1, LINES + 1), text, strict=False):
            line = line.rstrip("\n")
            if not found or len(line) > found[-1][1]:
                found.append((number, len(line), line))
    return found


@pytest.mark.skipif(
    shutil.which("perl") is None
    or subprocess.run(["perl", "-MJSON::PP", "-e", "1"], check=False, capture_output=True).returncode != 0,
    reason="there is no perl with JSON::PP",
)
def test_a_bolt_in_perl_finds_the_same_lines() -> None:
    run = run_topology(TOPOLOGIES / "longest_perl.yaml", max_tuples=LINES)
    assert run.emitted("longest") == longest()
    assert run.report.components["longest"].acked == LINES
