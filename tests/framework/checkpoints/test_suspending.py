"""A run that is suspended and one that goes on from there bring what an undisturbed run does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framework.runtime.control.stop import StopReason
from tests.framework.checkpoints.suspended import Suspending, built, run_suspended
from tests.framework.runtime.pieces import Row, run_built
from tests.portions import at_every_change

COUNT = 600
PAR = {1: (1, 1), 2: (2, 2), 5: (3, 5)}
"""By parallelism the tasks of the source and of the bolts."""


def expected(count: int, seed: int) -> list[Row]:
    return run_built(built(Suspending(4, count, seed), 1, 1)).result("sink")


@pytest.mark.parametrize("seed", at_every_change(range(50), 10))
def test_suspended_and_gone_on_with_any_parallelism(tmp_path: Path, seed: int) -> None:
    whole = expected(COUNT, seed)
    place = (seed * 7919) % COUNT
    sources, bolts = PAR[1 + seed % 2]
    spout = Suspending(4, COUNT, seed, os.getpid(), place)
    first = run_suspended(built(spout, sources, bolts), tmp_path)
    assert first.reason is StopReason.SUSPENDED and first.drained and first.checkpoint is not None
    rows = first.result("sink")
    assert len(rows) < len(whole) and rows == whole[: len(rows)]
    for par in PAR.values():
        spout = Suspending(4, COUNT, seed)
        second = run_built(built(spout, *par), {"start": Path(first.checkpoint.path)})
        assert rows + second.result("sink") == whole, par
