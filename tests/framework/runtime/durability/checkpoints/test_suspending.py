"""A run that is suspended and one that resumes from there bring what an undisturbed run does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framework.model.errors import SuspendError
from framework.runtime import Run, RunOptions
from framework.runtime.coordination.cut_record import CutState
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from framework.runtime.durability.checkpoints.manifest import Manifest
from framework.runtime.exchange.output import Output
from framework.runtime.tasks.agenda import EventTimeTicks
from tests.framework.runtime.durability.checkpoints.suspended import (
    Suspending,
    built,
    run_suspended,
    suspending,
)
from tests.framework.runtime.pieces import Row, plan_of, run_built
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.portions import at_every_change

COUNT = 600
PAR = {1: (1, 1), 2: (2, 2), 5: (3, 5)}
"""By parallelism the tasks of the source and of the bolts."""


def expected(count: int, seed: int) -> list[Row]:
    return run_built(built(Suspending(4, count, seed), 1, 1)).result("sink")


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(50), 4))
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


@pytest.mark.few(1)
@every_kind
def test_on_every_kind_of_worker(tmp_path: Path, workers: Workers) -> None:
    count, seed = 1000, 3
    whole = expected(count, seed)
    spout = Suspending(4, count, seed, os.getpid(), count // 3)
    first = run_suspended(built(spout, 2, 2), tmp_path, **workers.options)
    assert first.reason is StopReason.SUSPENDED
    rows = first.result("sink")
    assert 0 < len(rows) < len(whole) and rows == whole[: len(rows)]
    second = workers.run(built(Suspending(4, count, seed), 3, 3), {"start": tmp_path})
    assert rows + second.result("sink") == whole


def test_a_checkpoint_that_is_asked_for_behind_it_does_not_let_the_run_go_on(tmp_path: Path) -> None:
    """As one that is due by its interval, when the tasks have not seen as yet that the run is to end."""
    spout = Suspending(4, COUNT, 3, os.getpid(), 200)
    run = Run(*plan_of(built(spout, 2, 2)), RunOptions(checkpoints=tmp_path))
    assert run._network is not None
    record = run._network.cut
    with suspending(run):
        assert run.execute().reason is StopReason.SUSPENDED
    with pytest.raises(SuspendError, match="has come to its end"):
        run.checkpoint()
    assert record is not None and record.state is CutState.CLOSED


def test_tasks_get_what_they_would_have_got(tmp_path: Path) -> None:
    """With the same parallelism, shuffled rows come to the same tasks, too."""
    whole = run_built(built(Suspending(4, COUNT, 8), 2, 3)).results["tasks"]
    spout = Suspending(4, COUNT, 8, os.getpid(), 200)
    first = run_suspended(built(spout, 2, 3), tmp_path).results["tasks"]
    second = run_built(built(Suspending(4, COUNT, 8), 2, 3), {"start": tmp_path}).results["tasks"]
    assert tuple(a + b for a, b in zip(first, second, strict=True)) == whole


def test_suspended_again_and_again(tmp_path: Path) -> None:
    whole, rows, runs = expected(COUNT, 5), [], 0
    while len(rows) < len(whole):
        spout = Suspending(4, COUNT, 5, os.getpid(), runs * 100 + 50 if runs < 5 else COUNT)
        options = {"checkpoints": tmp_path, **({"start": tmp_path} if runs else {})}
        rows += run_suspended(built(spout, 1 + runs % 3, 2), **options).result("sink")
        runs += 1
    assert rows == whole and runs == 6
    assert CheckpointFolder(tmp_path).ids == [3, 4, 5]


@pytest.mark.parametrize("what", ["ticks", "routing", "places"])
def test_what_a_checkpoint_holds_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The checks above can fail: whatever is not restored shows."""
    whole = run_built(built(Suspending(4, COUNT, 8), 2, 3)).results
    first = run_suspended(built(Suspending(4, COUNT, 8, os.getpid(), 333), 2, 3), tmp_path)
    if what == "ticks":
        monkeypatch.setattr(EventTimeTicks, "restore", lambda self, saved: None)
    elif what == "routing":
        monkeypatch.setattr(Output, "restore_routing", lambda self, counts: None)
    else:
        monkeypatch.setattr(Manifest, "places", lambda self, spout: {})
    second = run_built(built(Suspending(4, COUNT, 8), 2, 3), {"start": tmp_path})
    assert any(
        tuple(a + b for a, b in zip(first.results[sink], second.results[sink], strict=True)) != whole[sink]
        for sink in ("sink", "tasks")
    )
