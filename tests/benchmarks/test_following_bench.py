"""The delay of what follows a file or a socket is measured wherever it runs."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Run, number

PLACES = ("inline", "2 processes")
KINDS = ("file", "socket", "polled")


@pytest.mark.slow
def test_each_kind_has_its_line(run_script: Run) -> None:
    options = ["--seconds=1", "--settle=0.7", "--lines=50", "--every=5"]
    rows = run_script("following.py", *options, "--place", *PLACES)

    assert [row[:2] for row in rows] == [[place, kind] for place in PLACES for kind in KINDS]
    assert all(0 < number(row[4]) <= number(row[5]) for row in rows)
