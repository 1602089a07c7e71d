"""The benchmark measures the cost of tracking: tuples that are tracked beside others that are not."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Run, number

Load = Callable[[str], ModuleType]
KINDS = ["plain", "tracked", "at emit", "reliable"]


@pytest.mark.slow
def test_every_kind_has_a_line_with_its_ratios(run_script: Run) -> None:
    rows = run_script("tracking.py", "--rounds=1", "--words=1000")
    assert [row[0] for row in rows] == KINDS
    assert rows[0][2] == rows[0][4] == "1.00"
    assert all(number(cell) > 0 for row in rows for cell in row[1:])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_counts_all_words(load_module: Load, kind: str) -> None:
    bench = load_module("tracking")
    seen, seconds, cpu = bench.run_kind(kind, 1000, 1)
    assert seen == sum(len(line.split()) for line in bench.read_lines(1000))
    assert seconds > 0 and cpu > 0


def test_a_run_whose_ids_were_not_acked_is_not_measured(
    load_module: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = load_module("tracking")
    monkeypatch.setitem(bench.SPOUTS, "tracked", bench.Lines)
    with pytest.raises(AssertionError):
        bench.run_kind("tracked", 1000, 1)
