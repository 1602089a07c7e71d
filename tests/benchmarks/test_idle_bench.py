"""The cost of a topology in which nothing happens is measured wherever it runs."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Run, number


@pytest.mark.slow
@pytest.mark.parametrize("place", ["inline", "2 threads", "2 processes"])
def test_every_spout_and_time_has_its_line(run_script: Run, place: str) -> None:
    rows = run_script("idle.py", "--seconds=0.3", "--settle=0.7", "--place", place, "--time", "logical")

    assert [row[:3] for row in rows] == [
        [place, spout, "logical"] for spout in ("generator", "polled", "blocking")
    ]
    assert all(0 < number(row[4]) < 200 for row in rows)
