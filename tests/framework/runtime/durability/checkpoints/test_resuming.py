"""``run(..., checkpoints=FOLDER, resume=True)``: one call that begins, continues, and is done once."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framework import TopologyBuilder
from framework.cli import main
from framework.cli.exit_codes import ExitCode
from framework.model.errors import CheckpointError, ComponentError, SuspendError
from framework.operators.components import Block
from framework.operators.sinks import CountingSink, SqliteSink, TransactionalSink
from framework.runtime import Run, RunOptions, RunReport, StopReason, StopSignal, run
from framework.runtime.coordination.commands import ask
from framework.runtime.coordination.cut_record import CutRecord
from framework.runtime.durability.checkpoints import CheckpointFolder, locked
from framework.runtime.durability.checkpoints.last_run import FILE
from tests.framework.runtime.durability.checkpoints.test_states import Remember
from tests.framework.runtime.durability.checkpoints.test_with_sinks import COUNT, built, written
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of, run_built

Ask = Callable[[], object]


class Asking(Partitions):
    """Asks for something when a row comes that is late enough, and brings no others then."""

    def __init__(self, at: int = -1) -> None:
        super().__init__(4, COUNT, 1)
        self._at = at

    asked: Ask = staticmethod(lambda: None)

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            yield block
            if partition == 1 and block is not None and block.rows and block.rows[-1][1] >= self._at >= 0:
                type(self).asked()
                while True:
                    yield None


def resumed(
    tmp_path: Path,
    at: int = -1,
    asked: Ask | None = None,
    builder: TopologyBuilder | None = None,
    *,
    options: dict[str, Any] | None = None,
    **arguments: Any,
) -> RunReport:
    """Run what `built` makes with the same command as before, until a row has something asked for."""
    stop = arguments.setdefault("stop", StopSignal())
    Asking.asked = staticmethod(asked or (lambda: stop.request(StopReason.INTERRUPTED)))
    plan, settings = plan_of(builder or built(Asking(at), tmp_path / "out"), **(options or {}))
    arguments = {"resume": True, "checkpoints": tmp_path / "kept", **arguments}
    return run(plan, settings, **arguments)


@pytest.fixture
def whole(tmp_path: Path) -> tuple[list[Any], bytes]:
    run_built(built(Partitions(4, COUNT, 1), tmp_path / "whole"), {"checkpoints": tmp_path / "whole-kept"})
    return written(tmp_path / "whole")


def failing(monkeypatch: pytest.MonkeyPatch, cls: type, method: str) -> pytest.MonkeyPatch:
    def die(self: Any, *arguments: Any) -> None:
        raise OSError("the process is gone")

    monkeypatch.setattr(cls, method, die)
    return monkeypatch


def test_the_same_call_begins_goes_on_and_ends(tmp_path: Path, whole: tuple[list[Any], bytes]) -> None:
    for at in (50, 200):
        assert resumed(tmp_path, at).reason is StopReason.SUSPENDED
        rows, _ = written(tmp_path / "out")
        assert 0 < len(rows) < len(whole[0]) and rows == whole[0][: len(rows)]
    last = resumed(tmp_path)
    assert last.reason is StopReason.EXHAUSTED
    assert written(tmp_path / "out") == whole
    again = resumed(tmp_path)
    assert (again.reason, again.emitted, again.drained) == (StopReason.ENDED_BEFORE, 0, True)
    assert written(tmp_path / "out") == whole


def test_sigterm_suspends(tmp_path: Path, whole: tuple[list[Any], bytes]) -> None:
    report = resumed(tmp_path, 50, lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert report.reason is StopReason.SUSPENDED
    resumed(tmp_path)
    assert written(tmp_path / "out") == whole


def test_a_second_signal_stops_at_once_and_the_next_run_goes_on(
    tmp_path: Path, whole: tuple[list[Any], bytes]
) -> None:
    resumed(tmp_path, 50)

    def asked() -> None:
        stop.suspends = stop.wants_suspension = True  # as if the first had come, and nobody had heard of it
        stop._signalled = True
        os.kill(os.getpid(), signal.SIGTERM)

    stop = StopSignal()
    with pytest.raises(KeyboardInterrupt):
        resumed(tmp_path, 200, asked, stop=stop)
    resumed(tmp_path)
    assert written(tmp_path / "out") == whole


def test_a_duration_suspends(tmp_path: Path, whole: tuple[list[Any], bytes]) -> None:
    report = resumed(tmp_path, 50, lambda: None, duration_s=0.01)
    assert report.reason is StopReason.SUSPENDED
    resumed(tmp_path)
    assert written(tmp_path / "out") == whole


def test_viper_stop_suspends(tmp_path: Path, whole: tuple[list[Any], bytes]) -> None:
    told: list[Any] = []
    report = resumed(tmp_path, 50, lambda: told.append(ask(tmp_path / "kept", "end")))
    assert told == [{"suspends": True}] and report.reason is StopReason.SUSPENDED
    resumed(tmp_path)
    assert written(tmp_path / "out") == whole


def test_one_that_was_drained_is_not_gone_on_with(tmp_path: Path) -> None:
    report = resumed(tmp_path, 50, lambda: ask(tmp_path / "kept", "drain"))
    assert report.reason is StopReason.INTERRUPTED
    before = written(tmp_path / "out")
    with pytest.raises(CheckpointError, match=r"was told at .* that its input is over \(interrupted\)"):
        resumed(tmp_path)
    assert written(tmp_path / "out") == before


@pytest.mark.parametrize("start", [".", "checkpoint-000001"])
def test_nor_with_from(tmp_path: Path, start: str) -> None:
    """A run that went on from a checkpoint was drained: nothing starts, and the folder says the same."""
    resumed(tmp_path, 50)
    resumed(tmp_path, 200, lambda: ask(tmp_path / "kept", "drain"))
    before, kept = written(tmp_path / "out"), tmp_path / "kept"
    told = (kept / FILE).read_bytes()
    with pytest.raises(CheckpointError, match=r"was told at .* that its input is over \(interrupted\)"):
        resumed(tmp_path, resume=False, start=kept / start, checkpoints=None)
    assert written(tmp_path / "out") == before and (kept / FILE).read_bytes() == told


def test_a_checkpoint_of_an_earlier_run_can_be_gone_on_from(tmp_path: Path) -> None:
    """The run that was drained began from the start: what it told its sinks is not about that checkpoint."""
    resumed(tmp_path, 50, builder=plain(Asking(50)))
    arguments: dict[str, Any] = {"resume": False, "checkpoints": tmp_path / "kept"}
    drained = resumed(tmp_path, 50, builder=plain(Asking(50)), **arguments)
    assert drained.reason is StopReason.INTERRUPTED
    arguments = {"resume": False, "checkpoints": None, "start": tmp_path / "kept" / "checkpoint-000001"}
    assert resumed(tmp_path, builder=plain(Asking()), **arguments).reason is StopReason.EXHAUSTED


def test_a_run_that_dies_before_its_first_checkpoint_begins_once_more(
    tmp_path: Path, whole: tuple[list[Any], bytes]
) -> None:
    """Even where one sink had applied all that came, and another one had not."""
    with pytest.MonkeyPatch.context() as patched, pytest.raises(ComponentError, match="the process is gone"):
        failing(patched, Remember, "process")
        resumed(tmp_path)
    with pytest.MonkeyPatch.context() as patched, pytest.raises(ComponentError, match="the process is gone"):
        failing(patched, SqliteSink, "apply_and_finish")
        resumed(tmp_path)
    with pytest.MonkeyPatch.context() as patched, pytest.raises(ComponentError, match="the process is gone"):
        failing(patched, TransactionalSink, "finish")
        resumed(tmp_path)
    assert CheckpointFolder(tmp_path / "kept").ids == []
    assert resumed(tmp_path).reason is StopReason.EXHAUSTED
    assert written(tmp_path / "out") == whole


def test_half_a_checkpoint_is_none(tmp_path: Path, whole: tuple[list[Any], bytes]) -> None:
    """As a machine leaves it that has lost its power amid the first one."""
    with pytest.MonkeyPatch.context() as patched, pytest.raises(ComponentError, match="the process is gone"):
        failing(patched, Remember, "process")
        resumed(tmp_path)
    (tmp_path / "kept" / ".checkpoint-000001.partial").mkdir()
    (tmp_path / "kept" / ".run.json").write_text("{", encoding="utf-8")
    resumed(tmp_path)
    assert written(tmp_path / "out") == whole


def test_a_run_that_has_begun_anew_is_not_taken_for_the_one_before(
    tmp_path: Path, whole: tuple[list[Any], bytes]
) -> None:
    resumed(tmp_path, 50)
    shutil.rmtree(tmp_path / "out")
    with pytest.MonkeyPatch.context() as patched, pytest.raises(ComponentError, match="the process is gone"):
        failing(patched, Remember, "process")
        resumed(tmp_path, resume=False)
    assert CheckpointFolder(tmp_path / "kept").ids == [1]
    resumed(tmp_path)
    assert written(tmp_path / "out") == whole


def test_a_run_that_has_gone_on_from_an_older_checkpoint_does_so_again(tmp_path: Path) -> None:
    for at in (50, 200):
        resumed(tmp_path, at)
    shutil.rmtree(tmp_path / "out")
    with pytest.MonkeyPatch.context() as patched, pytest.raises(ComponentError, match="the process is gone"):
        failing(patched, Remember, "process")
        start = tmp_path / "kept" / "checkpoint-000001"
        resumed(tmp_path, resume=False, start=start, checkpoints=None, builder=plain(Asking()))
    assert json.loads((tmp_path / "kept" / FILE).read_text(encoding="utf-8"))["start"] == start.name
    moved = tmp_path / "moved"
    (tmp_path / "kept").rename(moved)
    shutil.rmtree(moved / "checkpoint-000002")
    assert resumed(tmp_path, checkpoints=moved, builder=plain(Asking())).reason is StopReason.EXHAUSTED


def plain(spout: Partitions) -> TopologyBuilder:
    """Build the same as `built`, with a sink that takes any rows."""
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("remember", Remember, 2).fields_grouping("source", "key")
    builder.set_bolt("table", CountingSink).global_grouping("remember")
    builder.set_bolt("file", CountingSink).global_grouping("remember")
    return builder


def test_the_folder_of_another_topology_is_refused(tmp_path: Path) -> None:
    other = TopologyBuilder()
    other.set_spout("lines", Partitions(4, COUNT, 1))
    other.set_bolt("counting", CountingSink).global_grouping("lines")
    plan, settings = plan_of(other)
    resumed(tmp_path, 50)
    with pytest.raises(CheckpointError, match=r"component '.*' is missing"):
        Run(plan, settings, RunOptions(checkpoints=tmp_path / "kept", resume=True)).execute()
    resumed(tmp_path)
    path = tmp_path / "kept" / FILE
    told = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**told, "topology": "sales"}), encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"of topology 'sales', which has .* a folder of its own"):
        resumed(tmp_path)


def test_what_cannot_be_suspended_ends_and_goes_on(tmp_path: Path, whole: tuple[list[Any], bytes]) -> None:
    """A source that does not come to the time of the others must not keep a machine from going down."""
    resumed(tmp_path, 50)
    told = r"no checkpoint: .*; it was stopped without one: --resume goes on from .*checkpoint-000001$"
    with pytest.MonkeyPatch.context() as patched, pytest.raises(SuspendError, match=told):
        patched.setattr(CutRecord, "has_passed", lambda self, task: False)
        resumed(tmp_path, 200, options={"viper__checkpoint__timeout__secs": 0.01})
    resumed(tmp_path)
    assert written(tmp_path / "out") == whole


def test_a_record_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    resumed(tmp_path, 50)
    (tmp_path / "kept" / FILE).write_text("[]", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"run\.json does not say how the last run went"):
        resumed(tmp_path)


def test_a_folder_of_a_version_without_records_is_gone_on_with(
    tmp_path: Path, whole: tuple[list[Any], bytes]
) -> None:
    resumed(tmp_path, 50)
    (tmp_path / "kept" / FILE).unlink()
    resumed(tmp_path)
    assert written(tmp_path / "out") == whole


def test_a_folder_that_another_run_holds_is_refused_with_its_process(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with (
        locked(tmp_path / "kept"),
        pytest.raises(CheckpointError, match=rf"a run that is going on \(process {os.getpid()} on"),
    ):
        resumed(tmp_path)


def test_who_finds_no_run_hears_what_is_left_there(tmp_path: Path) -> None:
    kept = tmp_path / "kept"

    def told() -> str:
        with pytest.raises(SuspendError) as found:
            ask(kept, "end")
        message = str(found.value)
        assert message.startswith(f"no run is going on that is found by {kept}: ")
        assert message.endswith("; viper ps lists those that go on")
        return message

    kept.mkdir()
    assert "no run has left anything there" in told()
    with pytest.MonkeyPatch.context() as patched, pytest.raises(ComponentError, match="the process is gone"):
        failing(patched, Remember, "process")
        resumed(tmp_path)
    assert "failed or was killed before its first checkpoint: viper run TARGET --checkpoints" in told()
    resumed(tmp_path, 50)
    assert f"--checkpoints {kept} --resume goes on from checkpoint 1" in told()
    resumed(tmp_path)
    assert re.search(r"came to its end at \S+ \(exhausted\)", told())


@pytest.mark.parametrize("argument", ["checkpoints", "control"])
def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, argument: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=r"cannot make .*file.kept, or write there: Not a directory"):
        resumed(tmp_path, **{argument: tmp_path / "file" / "kept"})


def test_a_folder_whose_lock_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept" / "lock").mkdir(parents=True)
    with pytest.raises(CheckpointError, match=r"cannot make .*kept, or write there: Is a directory; name"):
        resumed(tmp_path)


def test_a_checkpoint_is_no_folder_of_checkpoints(tmp_path: Path) -> None:
    resumed(tmp_path, 50)
    with pytest.raises(CheckpointError, match=r"checkpoint-000001 is a checkpoint: expected .*kept"):
        resumed(tmp_path, checkpoints=tmp_path / "kept" / "checkpoint-000001")


REFUSED: list[tuple[dict[str, Any], list[str], str]] = [
    ({"checkpoints": None}, [], "has no folder to go on from: say which one"),
    ({"start": "there"}, ["--checkpoints", "kept", "--from", "there"], "leave out one of the two"),
    (
        {"rename": {"a": "b"}},
        ["--checkpoints", "kept", "--rename", "a=b"],
        "a cannot be renamed at every start: go on once with --from",
    ),
    ({"max_tuples": 5}, ["--checkpoints", "kept", "--max-tuples", "5"], "or use --duration"),
]


@pytest.mark.parametrize(("arguments", "options", "told"), REFUSED)
def test_what_says_something_else_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: dict[str, Any],
    options: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    with pytest.raises(CheckpointError, match=told):
        resumed(tmp_path, **{key: Path(v) if key == "start" else v for key, v in arguments.items()})
    found = CliRunner().invoke(main, ["run", "any.py", "--resume", *options], prog_name="viper")
    assert found.exit_code == ExitCode.USAGE
    assert told in " ".join(found.stderr.split())
    assert not Path("kept").exists()


def test_a_run_that_has_gone_back_is_suspended_all_the_same() -> None:
    """The request to end may have come while the run had failed, and was about to begin again."""
    stop = StopSignal()
    stop.suspends = True
    stop.abort()
    stop.request(StopReason.INTERRUPTED)
    stop.revive()
    assert stop.wants_suspension and stop.reason is None


def test_only_one_that_is_resumed_suspends() -> None:
    stop = StopSignal()
    stop.request(StopReason.INTERRUPTED)
    assert (stop.reason, stop.wants_suspension) == (StopReason.INTERRUPTED, False)
    stop = StopSignal()
    stop.suspends = True
    stop.request(StopReason.INTERRUPTED)
    assert (stop.reason, stop.wants_suspension) == (None, True)
    stop.drain()
    assert (stop.reason, stop.wants_suspension) == (StopReason.INTERRUPTED, False)
