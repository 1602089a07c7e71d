"""The benchmark of TPCx-BB's queries measures each in each place, and compares their answers."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Run, number


@pytest.mark.slow
def test_each_query_has_a_line_for_each_place_and_configuration(run_script: Run) -> None:
    places, configurations = ["inline", "2 processes"], ["", "viper.jumbo.size=7"]
    brief = ["--rows=1500", "--rounds=1", "--place", *places, "--conf", *configurations]
    rows = run_script("tpcx_bb.py", *brief)
    assert [(row[0], row[1], row[6]) for row in rows] == [
        (query, place, conf)
        for query in ("q1", "q2", "q3", "q4", "q15")
        for place in places
        for conf in ("-", "viper.jumbo.size=7")
    ]
    assert all(number(cell) > 0 for row in rows for cell in row[3:5])
