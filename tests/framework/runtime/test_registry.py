"""The runs that are found on this machine, also when others have died."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from framework.model.errors import ViperError
from framework.runtime.coordination.registry import control_of, folder_of_runs, known_runs, registered
from framework.runtime.durability.checkpoints.lock import locked


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "viperstorm"


def other(runs: Path, pid: int, topology: str) -> Path:
    """Make the entry of another run in the folder."""
    entry = runs / str(pid)
    entry.mkdir(parents=True)
    told = {"pid": pid, "topology": topology, "started_s": pid, "control": "c", "folder": "f"}
    (entry / "run.json").write_text(json.dumps(told))
    (entry / "lock").touch()
    return entry


def test_none() -> None:
    assert known_runs() == []
    with pytest.raises(ViperError, match="no run 'x' is going on here: found none"):
        control_of("x")


def test_a_run_is_there_while_it_goes_on(here: Path) -> None:
    with registered("words", None) as control:
        (run,) = known_runs()
        assert (run.pid, run.topology, run.folder) == (os.getpid(), "words", os.getcwd())
        assert control == Path(run.control) == control_of("words") == control_of(str(os.getpid()))
        assert here.stat().st_mode & 0o777 == 0o700
    assert list(here.iterdir()) == []


def test_it_is_commanded_by_the_folder_that_was_named(tmp_path: Path) -> None:
    with registered("words", tmp_path / "c") as control:
        assert control == control_of("words") == tmp_path / "c"
    assert control_of(str(tmp_path)) == tmp_path


def test_what_a_dead_run_has_left_goes(here: Path) -> None:
    here.mkdir(mode=0o700)
    dead, living = other(here, 1, "dead"), other(here, 2, "living")
    with locked(living):
        assert [run.topology for run in known_runs()] == ["living"]
    assert not dead.exists() and living.exists()


def test_two_of_one_name(here: Path) -> None:
    here.mkdir(mode=0o700)
    with locked(other(here, 1, "words")), registered("words", None):
        with pytest.raises(ViperError, match=f"2 runs are called 'words'.*1 words, {os.getpid()} words"):
            control_of("words")
        assert control_of("1") == Path("c")


def test_a_dead_process_had_the_same_id(here: Path) -> None:
    here.mkdir(mode=0o700)
    other(here, os.getpid(), "before")
    with registered("words", None):
        assert [run.topology for run in known_runs()] == ["words"]


def test_a_folder_that_others_may_write_to_is_not_used(here: Path) -> None:
    here.mkdir()
    here.chmod(0o777)
    with pytest.raises(ViperError, match="not a folder of this user alone"):
        folder_of_runs()
    with registered("words", None) as control:  # which goes on all the same
        assert control is None
    assert list(here.iterdir()) == []


def test_an_entry_that_cannot_be_read(here: Path) -> None:
    here.mkdir(mode=0o700)
    entry = other(here, 1, "words")
    (entry / "run.json").write_text('{"pid": 1}')
    with locked(entry):
        assert known_runs() == []
