"""The benchmark measures borrowed columns beside copied ones."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Run, number

pytest.importorskip("pyarrow")


@pytest.mark.slow  # starts a process for each line
def test_every_shape_has_a_line(run_script: Run) -> None:
    rows = run_script("borrowing.py", "--batches=80")

    shapes = [(row[0], row[1]) for row in rows]
    assert shapes == [(bolt, columns) for bolt in ("summed", "filtered") for columns in ("3", "30", "30")]
    assert all(number(cell) > 0 for row in rows for cell in row[3:7])
