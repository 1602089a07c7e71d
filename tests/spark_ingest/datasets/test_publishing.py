"""A folder appears whole or not at all, and has one writer at a time; without Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spark_ingest.datasets import publishing
from spark_ingest.datasets.manifest import FORMAT
from spark_ingest.datasets.publishing import NEW, OLD, claimed, publish, working_folder
from spark_ingest.errors import DatasetError

REPOSITORY = Path(__file__).parents[3]


def dataset(folder: Path, what: str) -> Path:
    """A folder that passes for a dataset."""
    folder.mkdir()
    (folder / "_manifest.json").write_text(f'{{"format": "{FORMAT}", "what": "{what}"}}')
    return folder


def what(folder: Path) -> str:
    return (folder / "_manifest.json").read_text().split('"')[-2]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "flights"


@pytest.fixture(params=[True, False], ids=["exchanged", "moved"])
def exchanges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With a system that exchanges two names in one step, and with one that does not."""
    if not request.param:
        monkeypatch.setattr(publishing, "_exchanged", lambda one, other: False)
    return bool(request.param)


def test_the_first_one_appears(target: Path) -> None:
    with claimed(target) as work:
        new = dataset(work / NEW, "first")
        assert not target.exists()
        publish(new, target)
    assert what(target) == "first"
    assert os.listdir(target.parent) == ["flights"]


def test_the_next_one_takes_its_place(target: Path, exchanges: bool) -> None:
    dataset(target, "first")
    with claimed(target) as work:
        publish(dataset(work / NEW, "second"), target)
    assert what(target) == "second"
    assert os.listdir(target.parent) == ["flights"]


def test_an_empty_folder_is_taken(target: Path, exchanges: bool) -> None:
    target.mkdir()
    with claimed(target) as work:
        publish(dataset(work / NEW, "first"), target)
    assert what(target) == "first"


def test_a_failure_leaves_the_old_one(target: Path) -> None:
    dataset(target, "first")
    with pytest.raises(ZeroDivisionError), claimed(target) as work:
        dataset(work / NEW, "second")
        raise ZeroDivisionError
    assert what(target) == "first"
    assert os.listdir(target.parent) == ["flights"]


def test_what_is_somebody_else_s_is_not_touched(target: Path) -> None:
    target.mkdir()
    (target / "letter.txt").write_text("dear")
    message = "flights holds something else than a dataset, and is not overwritten"
    with pytest.raises(DatasetError, match=message), claimed(target):
        pass
    assert (target / "letter.txt").read_text() == "dear"
    assert os.listdir(target.parent) == ["flights"]


def test_nor_a_file(target: Path) -> None:
    target.write_text("dear")
    with pytest.raises(DatasetError, match="flights is a file: expected a new folder"), claimed(target):
        pass
    assert target.read_text() == "dear"


def test_where_nothing_can_be_written(target: Path) -> None:
    target.write_text("a file")
    with pytest.raises(DatasetError, match=r"cannot write to .*flights: "), claimed(target / "below"):
        pass


def test_two_at_once_do_not_mix(target: Path) -> None:
    message = f"flights is being prepared by process {os.getpid()}: wait for it"
    with claimed(target):
        with pytest.raises(DatasetError, match=message), claimed(target):
            pass
        assert working_folder(target).exists()
    with claimed(target):
        pass
    assert os.listdir(target.parent) == []


def killed(target: Path, code: str) -> None:
    """Have a process claim the folder, run some code, and be killed at it."""
    full = (
        "import os, signal\nfrom pathlib import Path\nfrom spark_ingest.datasets import publishing\n"
        f"target = Path({str(target)!r})\nwith publishing.claimed(target) as work:\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
        + "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ran = subprocess.run([sys.executable, "-c", full], cwd=REPOSITORY, check=False)
    assert ran.returncode == -signal.SIGKILL


def test_what_a_killed_writer_left_is_removed(target: Path) -> None:
    dataset(target, "first")
    killed(target, "(work / 'new' / 'deep').mkdir(parents=True)\n(work / 'new' / 'half').write_text('')")
    assert (working_folder(target) / NEW / "half").exists()
    assert what(target) == "first"
    with claimed(target) as work:
        assert os.listdir(work) == ["lock"]
    assert os.listdir(target.parent) == ["flights"]


def test_a_kill_between_two_moves_loses_nothing(target: Path) -> None:
    dataset(target, "first")
    killed(target, f"os.rename(target, work / {OLD!r})")
    assert not target.exists()
    with claimed(target):
        assert what(target) == "first"
    assert what(target) == "first"


def test_it_is_claimed_until_all_is_removed(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = []

    def remove(folder: Path, **how: bool) -> None:
        rmtree(folder, **how)
        removed.append(folder)
        with pytest.raises(DatasetError, match="is being prepared by process"), claimed(target):
            pass

    rmtree = publishing.shutil.rmtree
    with claimed(target) as work:
        dataset(work / NEW, "first")
        monkeypatch.setattr(publishing.shutil, "rmtree", remove)
    assert removed == [work / NEW]
    assert os.listdir(target.parent) == []
