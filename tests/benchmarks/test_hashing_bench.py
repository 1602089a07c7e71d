"""Both versions of the hash are measured with the same keys, as rows and as columns."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from framework.planning.routing.router import ByKey
from tests.benchmarks.conftest import Run, number

Load = Callable[[str], ModuleType]


@pytest.mark.slow(daily=True)
def test_every_kind_of_key_and_number_of_tasks_has_its_line(run_script: Run) -> None:
    rows = run_script("hashing.py", "--size=64", "--batches=16", "--rounds=3")

    *keys, head, two, four, sixteen, sixty_four = rows
    assert len(keys) == 7
    assert all(number(cell) > 0 for row in keys for cell in row[1:])
    assert head == ["tasks", "split"]
    assert [row[0] for row in (two, four, sixteen, sixty_four)] == ["2", "4", "16", "64"]


def test_columns_that_go_elsewhere_are_not_measured(
    load_module: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ByKey, "targets_of_columns", lambda router, columns, count: None)
    with pytest.raises(AssertionError):
        load_module("hashing").measure("word", 8, 2, 1)
