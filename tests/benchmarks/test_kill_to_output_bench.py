"""The time from the death of a worker to the first output of its successor is measured part by part."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Run, number


@pytest.mark.slow
@pytest.mark.parametrize("standbys", [0, 1])
def test_each_part_of_the_time_has_its_column(run_script: Run, standbys: int) -> None:
    options = "--gigabytes=0.01", "--runs=1", "-o", f"viper.standby.workers={standbys}"
    (*_, median, worst) = run_script("kill_to_output.py", *options)
    assert [row[1] for row in (median, worst)] == ["median", "worst"]
    noticed, started, *others = map(number, median[2:])
    assert noticed > 0 and sorted(others) == others
    assert (started < 0) is bool(standbys)
