"""Transactional sinks apply each row once, however often a run is suspended and resumed."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.errors import ComponentError, SuspendError
from framework.operators.sinks import JsonLinesSink, SqliteSink, TransactionalSink
from framework.runtime import RunReport
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints.folder import SystemFiles
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.durability.checkpoints.test_states import Remember
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind

COUNT = 400


def built(spout: Partitions, folder: Path, sources: int = 1, bolts: int = 2) -> TopologyBuilder:
    folder.mkdir(exist_ok=True)
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("remember", Remember, bolts).fields_grouping("source", "key")
    table = SqliteSink(str(folder / "told.db"), "told", ["key", "told"])
    builder.set_bolt("table", table).global_grouping("remember")
    builder.set_bolt("file", JsonLinesSink(str(folder / "told.jsonl"))).global_grouping("remember")
    return builder


def written(folder: Path) -> tuple[list[Any], bytes]:
    """The rows of the table, and what the file holds."""
    with sqlite3.connect(folder / "told.db") as database:
        rows = list(database.execute("select * from told order by rowid"))
    database.close()
    return rows, (folder / "told.jsonl").read_bytes() if (folder / "told.jsonl").exists() else b""


@pytest.fixture
def whole(tmp_path: Path) -> tuple[list[Any], bytes]:
    options = {"checkpoints": tmp_path / "whole-checkpoints"}
    run_built(built(Suspending(4, COUNT, 1), tmp_path / "whole"), options)
    return written(tmp_path / "whole")


def suspended(tmp_path: Path, at: int, start: Path | None = None, workers: Workers = INLINE) -> RunReport:
    spout = Suspending(4, COUNT, 1, os.getpid(), at)
    builder = built(spout, tmp_path / "out")
    return run_suspended(builder, tmp_path / "checkpoints", start, **workers.options)


@pytest.mark.few(1)
@every_kind
def test_each_row_is_applied_once(tmp_path: Path, whole: tuple[list[Any], bytes], workers: Workers) -> None:
    first = suspended(tmp_path, 50, workers=workers)
    assert first.reason is StopReason.SUSPENDED
    rows, _ = written(tmp_path / "out")
    assert 0 < len(rows) < len(whole[0]) and rows == whole[0][: len(rows)]
    suspended(tmp_path, 200, tmp_path / "checkpoints", workers)
    workers.run(built(Partitions(4, COUNT, 1), tmp_path / "out", 2, 3), {"start": tmp_path / "checkpoints"})
    assert written(tmp_path / "out") == whole and whole[1].count(b"\n") == 4 * COUNT


@pytest.mark.few(1)
@pytest.mark.parametrize("killed", [SqliteSink, JsonLinesSink])
def test_killed_at_the_end_when_one_sink_has_applied_everything(
    tmp_path: Path, whole: tuple[list[Any], bytes], monkeypatch: pytest.MonkeyPatch, killed: type
) -> None:
    """And twice; each sink leaves out what it has, and applies what it has not."""

    def die(self: TransactionalSink) -> None:
        raise OSError("the process is gone")

    suspended(tmp_path, 50)
    for _ in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(killed, "apply_and_finish", die)
            with pytest.raises(ComponentError, match="the process is gone"):
                run_built(
                    built(Partitions(4, COUNT, 1), tmp_path / "out"), {"start": tmp_path / "checkpoints"}
                )
    run_built(built(Partitions(4, COUNT, 1), tmp_path / "out"), {"start": tmp_path / "checkpoints"})
    assert written(tmp_path / "out") == whole


def test_killed_between_the_manifest_and_the_apply(
    tmp_path: Path, whole: tuple[list[Any], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And twice: the resumed run applies what was staged, and dies before it has done anything else."""

    def die(self: TransactionalSink, number: int) -> None:
        raise OSError("the process is gone")

    with monkeypatch.context() as patched:
        patched.setattr(TransactionalSink, "complete", die)
        with pytest.raises(ComponentError, match="in complete: OSError: the process is gone"):
            suspended(tmp_path, 50)
    assert written(tmp_path / "out")[0] == []
    for _ in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(Remember, "process", die)
            with pytest.raises(ComponentError, match="the process is gone"):
                run_built(
                    built(Partitions(4, COUNT, 1), tmp_path / "out"), {"start": tmp_path / "checkpoints"}
                )
        rows, _ = written(tmp_path / "out")
        assert 0 < len(rows) < len(whole[0]) and rows == whole[0][: len(rows)]
    run_built(built(Partitions(4, COUNT, 1), tmp_path / "out"), {"start": tmp_path / "checkpoints"})
    assert written(tmp_path / "out")[0] == whole[0]


def test_a_checkpoint_that_was_not_written_is_none_of_the_sinks(
    tmp_path: Path, whole: tuple[list[Any], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    suspended(tmp_path, 50)
    before = written(tmp_path / "out")[0]
    with monkeypatch.context() as patched:
        patched.setattr(SystemFiles, "sync_folder", _no_room)
        with pytest.raises(SuspendError, match="cannot be written: No space left on device"):
            suspended(tmp_path, 200, tmp_path / "checkpoints")
    assert written(tmp_path / "out")[0] == before
    run_built(built(Partitions(4, COUNT, 1), tmp_path / "out"), {"start": tmp_path / "checkpoints"})
    assert written(tmp_path / "out")[0] == whole[0]


def _no_room(self: SystemFiles, path: Path) -> None:
    raise OSError(28, "No space left on device")


def test_an_older_checkpoint_than_the_table_has_is_refused(tmp_path: Path) -> None:
    first = suspended(tmp_path, 50)
    suspended(tmp_path, 200, tmp_path / "checkpoints")
    assert first.checkpoint is not None
    with pytest.raises(ComponentError, match="rows up to checkpoint 2 have been applied"):
        run_built(built(Partitions(4, COUNT, 1), tmp_path / "out"), {"start": Path(first.checkpoint.path)})
