"""The cost of a topology in which nothing happens is measured wherever it runs."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Run, number


@pytest.mark.slow
@pytest.mark.parametrize("place", ["inline", "2 threads", "2 processes"])
def test_every_spout_and_time_has_its_line(run_script: Run, place: str) -> None:
    # An idle executor looks around once a second, so in less time it may take nothing at all.
    rows = run_script("idle.py", "--seconds=1.5", "--settle=0.7", "--place", place, "--time", "logical")

    assert [row[:3] for row in rows] == [
        [place, spout, "logical"] for spout in ("due", "generator", "polled", "blocking")
    ]
    assert all(0 < number(row[4]) < 200 for row in rows)
