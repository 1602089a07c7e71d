"""The benchmark of TPCx-BB's queries measures each in each place, and compares their answers."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Run, number


@pytest.mark.slow
def test_each_query_has_a_line_for_each_place_and_configuration(run_script: Run) -> None:
    places, configurations = ["inline", "2 processes"], ["", "viper.jumbo.size=7"]
    brief = ["--rows=1500", "--rounds=1", "--place", *places, "--conf", *configurations]
    rows = run_script("tpcx_bb.py", *brief)
    assert [(row[0], row[1], row[8]) for row in rows] == [
        (query, place, conf)
        for query in ("q1", "q2", "q3", "q4", "q15")
        for place in places
        for conf in ("-", "viper.jumbo.size=7")
    ]
    assert all(number(cell) > 0 for row in rows for cell in row[3:7])
    assert all(row[4:6] == ["1.00", "1.00"] for row in rows if row[8] == "-")


@pytest.mark.slow
def test_policies_run_in_turns_with_each_configuration(run_script: Run) -> None:
    policies, confs = ["downstream", "qst", "lp", "et", "ct"], ["viper.jumbo.size=7", "viper.jumbo.size=64"]
    brief = ["--rows=500", "--rounds=1", "--query=q15", "--place=inline"]
    rows = run_script("tpcx_bb.py", *brief, "--policy", *policies, "--conf", *confs)
    expected = [f"{conf} viper.scheduling={policy}" for conf in confs for policy in policies]
    assert [row[8] for row in rows] == expected
