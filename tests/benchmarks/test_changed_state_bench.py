"""The benchmark measures updates with and without noting changes, and snapshots of many and few keys."""

from __future__ import annotations

import pytest

from tests.benchmarks.conftest import Run


@pytest.mark.slow(daily=True)
def test_every_kind_of_update_and_of_snapshot_has_its_line(run_script: Run) -> None:
    rows = [" ".join(row) for row in run_script("changed_state.py", "--keys=5000", "--rounds=1")]

    assert [row.partition(":")[0] for row in rows[:4]] == [
        f"{keys}, {way}" for keys in ("hot", "uniform") for way in ("many keys a call", "key by key")
    ]
    changed = [row.partition(" changed")[0] for row in rows[4:]]
    assert changed == ["100%", "10%", "1%", "0%"]
    sizes = [int(row.split(", ", 1)[1].split(" bytes")[0].replace(",", "")) for row in rows[4:]]
    assert sizes[0] > 5 * sizes[1] > 5 * sizes[2] > sizes[3] == 0
