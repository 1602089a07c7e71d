"""Recordings as they are written: by several processes, and whatever becomes of the run."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from framework.recording import Recording, RecordingError, RecordingWriter, TaskRecorder
from framework.recording.writing import CHUNK_BYTES
from tests.framework.recording.pieces import (
    HandRun,
    emission,
    plan_of,
    position,
    positioned,
    positions_of,
    recorded_run,
)

REPOSITORY = Path(__file__).parents[3]


def test_a_recording_is_a_zip_file_with_a_header_in_json(tmp_path: Path) -> None:
    path = recorded_run(tmp_path / "run.viper", plan_of(2, 1, 3))
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["header.json", *(f"task-{id}.pickles" for id in range(1, 7))]
        header = json.loads(archive.read("header.json"))
    assert list(header)[:2] == ["format", "version"]
    assert (header["topology"], header["time"], header["complete"]) == ("wordcount", "logical", True)
    assert [task["part"]["tuples"] for task in header["tasks"]] == [3, 4, 3, 3, 3, 16]


def test_nothing_is_left_beside_the_file(tmp_path: Path) -> None:
    recorded_run(tmp_path / "run.viper", plan_of())
    assert [path.name for path in tmp_path.iterdir()] == ["run.viper"]


def test_an_older_recording_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = recorded_run(tmp_path / "run.viper", plan_of())
    old = path.read_bytes()
    run = HandRun(path, plan_of(2)).run()
    assert path.read_bytes() == old
    run.finish("max-tuples")
    with Recording(path) as recording:
        assert recording.header.reason == "max-tuples"


def test_two_runs_may_record_to_the_same_file_at_a_time(tmp_path: Path) -> None:
    first, second = (HandRun(tmp_path / "run.viper", plan_of()).run() for _ in range(2))
    first.finish("first")
    second.finish("second")
    with Recording(tmp_path / "run.viper") as recording:
        assert recording.header.reason == "second"


def test_parts_are_written_by_other_processes(tmp_path: Path) -> None:
    plan = plan_of()
    writer = RecordingWriter(tmp_path / "run.viper", plan)
    script = (
        "import sys; from pathlib import Path; from framework.planning import TaskSpec\n"
        "from framework.recording import TaskRecorder; from framework.model.topology import Role\n"
        "from tests.framework.recording.pieces import emission, position, positions_of\n"
        "folder, id, component = sys.argv[1:]\n"
        "task = TaskSpec(int(id), component, 0, Role.BOLT, 0)\n"
        "recorder = TaskRecorder(Path(folder), task)\n"
        "recorder.record(emission([(component,)], None, positions_of(position(int(id)))))\n"
        "recorder.close()\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(writer.folder), str(task.id), task.component], cwd=REPOSITORY
        )
        for task in plan.tasks
    ]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    writer.finish("exhausted")
    with Recording(tmp_path / "run.viper") as recording:
        assert recording.header.complete
        for task in plan.tasks:
            assert positioned(recording.tuples(task.component)) == [(position(task.id), (task.component,))]


def test_memory_is_bounded_by_writing_chunks(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of())
    recorder, part = run.recorders[1], run.writer.folder / "task-1.pickles"
    row = ("x" * (CHUNK_BYTES // 4),)
    for ts in range(3):
        recorder.record(emission([row], None, positions_of(position(ts))))
    assert part.stat().st_size == 0
    recorder.record(emission([row], None, positions_of(position(3))))
    assert part.stat().st_size > CHUNK_BYTES
    with Recording(run.finish()) as recording:
        assert positioned(recording.tuples("count")) == [(position(ts), row) for ts in range(4)]


def test_values_are_those_at_the_time_of_recording(tmp_path: Path) -> None:
    run, value = HandRun(tmp_path / "run.viper", plan_of()), [1]
    run.recorders[1].record(emission([(value,)], None, positions_of(position(1))))
    value.append(2)
    with Recording(run.finish()) as recording:
        assert positioned(recording.tuples("count")) == [(position(1), ([1],))]


def test_a_value_that_cannot_be_recorded_is_named(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of())
    recorder = run.recorders[1]
    with pytest.raises(RecordingError, match=r"component 'count', task 1: cannot record \(<function"):
        recorder.record(emission([(1,), (lambda: None,)], None, positions_of(position(1), position(2))))
    with pytest.raises(RecordingError, match="component 'count', task 1: 1 positions for 2 rows"):
        recorder.record(emission([(1,), (2,)], None, positions_of(position(1))))
    run.finish()


def test_a_task_that_is_made_again_does_not_write_over_its_part(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of())
    with pytest.raises(RecordingError, match=r"component 'count', task 1: cannot record to .*File exists"):
        TaskRecorder(run.writer.folder, run.plan.tasks[0])
    run.finish()


def test_where_nothing_can_be_written_the_run_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="it is a folder, expected the name of a file"):
        RecordingWriter(tmp_path, plan_of())
    with pytest.raises(RecordingError, match=r"cannot record to .*nowhere/run\.viper: No such file or dir"):
        RecordingWriter(tmp_path / "nowhere" / "run.viper", plan_of())


def test_nothing_is_left_of_what_is_discarded(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of()).run()
    for recorder in run.recorders.values():
        recorder.close()
    run.writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_failed_run_leaves_what_there_was(tmp_path: Path) -> None:
    path = HandRun(tmp_path / "run.viper", plan_of()).run(["a b"]).finish("count raised", complete=False)
    with Recording(path) as recording:
        assert (recording.header.complete, recording.header.reason) == (False, "count raised")
        assert [values for _, values in positioned(recording.tuples("count"))] == [("a", 1), ("b", 1)]


def test_a_task_that_was_killed_makes_the_recording_incomplete(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of()).run(["a b"])
    killed = run.recorders.pop(1)
    killed.flush()
    path = run.finish("exhausted")
    with Recording(path) as recording:
        assert not recording.header.complete
        assert [task.id for task in recording.header.tasks if task.part is None] == [1]
        assert [values for _, values in positioned(recording.tuples("count"))] == [("a", 1), ("b", 1)]
    killed._file.close()


def test_a_part_may_end_anywhere(tmp_path: Path) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of())
    for ts in range(3):
        run.recorders[1].record(emission([("word", ts)], None, positions_of(position(ts))))
        run.recorders[1].flush()
    run.recorders[1].close()
    (run.writer.folder / "task-1.json").unlink()
    part = run.writer.folder / "task-1.pickles"
    whole, found = part.read_bytes(), []
    for size in range(len(whole) + 1):
        part.write_bytes(whole[:size])
        with Recording(run.writer.folder) as recording:
            found.append(len(list(recording.tuples("count"))))
    assert found == sorted(found)
    assert (found[0], found[-2], found[-1]) == (0, 2, 3)
    for recorder in run.recorders.values():
        recorder.close()


def test_a_full_disk_keeps_the_parts_and_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of()).run()

    def full(self: zipfile.ZipFile, *args: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(zipfile.ZipFile, "write", full)
        with pytest.raises(RecordingError, match="No space left on device; what was recorded so far is in"):
            run.finish()
    assert not run.path.exists()
    with Recording(run.writer.folder) as recording:
        assert len(list(recording.tuples("lines"))) == 6
