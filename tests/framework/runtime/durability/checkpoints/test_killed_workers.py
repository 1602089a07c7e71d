"""Workers are killed before, during and after checkpoints, and while sinks apply: nothing changes.

And every checkpoint that was made meanwhile can be resumed from, with the same rest of the output.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from framework.model.errors import ComponentError, WorkerError
from framework.runtime import Run, RunOptions, RunReport, run
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.runtime.durability.checkpoints.mortal import (
    COUNT,
    CUT_BEFORE_COMMIT,
    PLANT,
    STAGED_STAYS,
    Source,
    built,
    planned,
    rows,
)
from tests.framework.runtime.durability.checkpoints.suspended import suspending
from tests.portions import at_every_change

NEAR = {"viper__channel__tuples": 32, "viper__channel__jumbos": 8, "viper__jumbo__size": 4}
"""Sources are not far ahead of the others, so that rows are left when a process has taken another's place."""
CALM = {"viper__worker": "inline", "topology__workers": 1, "viper__placement": "round-robin", "kills": 0}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole")
    run(*planned(built(folder, Source(4, COUNT, 1), 1, 1), folder, 0, **CALM))
    return (folder / "written").read_bytes()


@pytest.fixture(scope="module")
def whole_rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], bytes]:
    """The output of the transactional sinks of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole-rows")
    run(*planned(built(folder, Source(4, COUNT, 1), 1, 1, staged=True), folder, 0, **CALM))
    return rows(folder)


def run_killed(
    folder: Path, seed: int, at: int, every: int = 0, *, staged: bool = False, **options: Any
) -> RunReport:
    """A run with killed workers that is suspended at a row, or makes checkpoints every so many.

    It has made a checkpoint, unless it came to its end first.
    """
    builder = built(folder, Source(4, COUNT, 1, os.getpid(), at, every), staged=staged)
    checkpoints = folder / "checkpoints"
    start = checkpoints if any(checkpoints.glob("checkpoint-*")) else None
    made = Run(
        *planned(builder, folder, seed, **{**NEAR, **options}),
        RunOptions(checkpoints=checkpoints, start=start),
    )
    with suspending(made, goes_on=every > 0) as refused:
        report = made.execute()
    assert all(re.search("has come to its end|has begun its end", str(error)) for error in refused), refused
    assert refused or report.reason is StopReason.SUSPENDED or at < 0 or CheckpointFolder(checkpoints).ids
    assert all(incident.lost == 0 and not incident.state_lost for incident in report.incidents)
    return report


AMONG = [(among, seed) for seed in range(1, 13) for among in ("checkpoints", "all")]


AT_CUTS = [("cuts", seed) for seed in range(1, 13)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("among", "seed"), at_every_change([*AT_CUTS[:1], *AMONG, *AT_CUTS[1:]], 3))
def test_checkpoints_of_a_run_whose_workers_die(tmp_path: Path, whole: bytes, among: str, seed: int) -> None:
    bits = 10 if among == "all" else 4
    report = run_killed(tmp_path, seed, 20, 90, kill__among=among, kill__bits=bits)
    assert report.reason is StopReason.EXHAUSTED and report.incidents
    assert (tmp_path / "written").read_bytes() == whole
    for number in CheckpointFolder(tmp_path / "checkpoints").ids:
        builder = built(tmp_path, Source(4, COUNT, 1), 1 + number % 3, 1 + number % 5)
        start = tmp_path / "checkpoints" / f"checkpoint-{number:06}"
        run(*planned(builder, tmp_path, 0, **CALM), start=start)
        assert (tmp_path / "written").read_bytes() == whole, number


@pytest.mark.few(1)
@pytest.mark.parametrize(("among", "seed"), at_every_change(AMONG, 2))
def test_suspended_runs_whose_workers_die(tmp_path: Path, whole: bytes, among: str, seed: int) -> None:
    bits = 3 if among == "checkpoints" else 10
    places = iter((80, 160, 240))
    reason = StopReason.SUSPENDED
    while reason is StopReason.SUSPENDED:
        at = next(places, -1)
        reason = run_killed(tmp_path, seed, at, kill__among=among, kill__bits=bits).reason
    assert (tmp_path / "written").read_bytes() == whole


@pytest.mark.few(1)
@pytest.mark.parametrize(("among", "seed"), at_every_change([("sinks", 0), *AMONG], 3))
def test_transactional_sinks_apply_each_row_once_with_checkpoints(
    tmp_path: Path, whole_rows: tuple[list[Any], bytes], among: str, seed: int
) -> None:
    bits = 4 if among == "checkpoints" else 9
    report = run_killed(tmp_path, seed, 20, 90, staged=True, kill__among=among, kill__bits=bits)
    assert report.incidents
    assert rows(tmp_path) == whole_rows


def run_applying(folder: Path, seed: int, **options: Any) -> RunReport:
    """A run without checkpoints, with killed workers, whose sinks apply every 150 rows."""
    builder = built(folder, Source(4, COUNT, 1), staged=True)
    kills = {"kill__among": "sinks", "kill__bits": 6, "viper__sink__apply__rows": 150}
    return run(*planned(builder, folder, seed, **{**kills, **options}))


@pytest.mark.parametrize("seed", at_every_change(range(20)))
def test_transactional_sinks_apply_each_row_once_without_checkpoints(
    tmp_path: Path, whole_rows: tuple[list[Any], bytes], seed: int
) -> None:
    report = run_applying(tmp_path, seed)
    assert report.incidents
    assert rows(tmp_path) == whole_rows


def test_staged_rows_that_do_not_go_back_show(
    tmp_path: Path, whole_rows: tuple[list[Any], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks above can fail: a process dies once its sink has staged rows, before it commits them."""
    monkeypatch.setenv(PLANT, STAGED_STAYS)
    try:
        report = run_applying(tmp_path, 0, kill__among="stages", kill__bits=2)
    except ComponentError:
        return
    assert report.incidents
    assert rows(tmp_path) != whole_rows


def test_a_cut_before_the_commit_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run above looks whether tasks have committed all below the cut when they are saved there.

    A task that has nothing to commit at that moment is saved rightly, so one run may not show it.
    """
    monkeypatch.setenv(PLANT, CUT_BEFORE_COMMIT)
    for seed in range(8):
        try:
            run_killed(tmp_path / str(seed), seed, 20, 40, kills=0)
        except (ComponentError, WorkerError, AssertionError) as error:
            assert "not committed" in str(error)
            return
    pytest.fail("it changes nothing")
