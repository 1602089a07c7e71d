"""The bench of a bolt that asks a service: each way brings all rows in order, and has a line."""

from __future__ import annotations

from tests.benchmarks.conftest import Run


def test_every_way_has_a_line_and_its_rows_in_order(run_script: Run) -> None:
    brief = ("--questions", "40", "--single", "10", "--answer", "1", "--in-flight", "4", "--rounds", "1")
    rows = run_script("asking.py", *brief, "--spread", "3", "--place", "inline", "2 threads")
    assert [row[:2] for row in rows] == [
        [place, way]
        for place in ("inline", "2 threads")
        for way in ("one by one", "claims", "coroutines", "both")
    ]
    assert all(float(row[-1]) > 0 for row in rows)
