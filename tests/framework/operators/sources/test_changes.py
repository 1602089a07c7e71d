"""Changes of files and folders that grow: the kernel tells of each of them, or a source is polled."""

from __future__ import annotations

import errno
import logging
import os
import select
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import Later, TopologyBuilder
from framework.operators.components import later
from framework.operators.sources import TextSource, changes
from framework.operators.sources.changes import FILE, FOLDER, NEW_NAMES, Changes
from framework.runtime.execution.assembly import task_factory
from framework.runtime.tasks import readable
from tests.framework.runtime.pieces import bolt, run_built

FAR_S = 100_000.0
"""Seconds that no test waits for."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "grows"
    made.write_text("a\n")
    return made


def has_changed(found: Changes) -> bool:
    return bool(select.select([found], [], [], 0)[0])


def appended(path: Path) -> None:
    with path.open("a") as file:
        file.write("b")  # no line yet


def rotated(path: Path) -> None:
    path.rename(path.with_name("grows.1"))
    path.touch()


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.touch()
    other.rename(path)


def made_anew(path: Path) -> None:
    path.unlink()
    path.touch()


@pytest.mark.parametrize(
    "change", [appended, rotated, replaced, made_anew, Path.unlink, lambda path: os.truncate(path, 0)]
)
def test_each_change_of_a_file_is_told(path: Path, change: Callable[[Path], None]) -> None:
    found = Changes({str(path): FILE})
    with path.open():  # as whoever reads it has it open, so a removal leaves the file
        assert found.begins() and not found.begins()
        assert not has_changed(found)
        change(path)
        assert has_changed(found)
        found.forget()
        assert not has_changed(found)
        found.close()
    assert found.fileno() == -1 and found.next is None


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "new").touch(),
        lambda folder: (folder / "old").rename(folder / "renamed"),
        lambda folder: (folder / "old").unlink(),
        lambda folder: (folder.parent / "outside").rename(folder / "new"),
        lambda folder: os.link(folder / "old", folder / "new"),
        lambda folder: folder.rename(folder.parent / "moved"),
        shutil.rmtree,
    ],
)
def test_each_change_of_a_folder_is_told(tmp_path: Path, change: Callable[[Path], Any]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "old").touch()
    (tmp_path / "outside").touch()
    found = Changes({str(folder): FOLDER})
    assert found.begins() and not has_changed(found)
    change(folder)
    assert has_changed(found)
    found.close()


def test_lines_in_files_of_a_folder_are_no_news_of_it(tmp_path: Path, path: Path) -> None:
    found = Changes({str(tmp_path): NEW_NAMES})
    assert found.begins()
    appended(path)
    assert not has_changed(found)
    (tmp_path / "marker").touch()
    assert has_changed(found)
    found.close()


# -- a run

MARKER = "whole"


@pytest.fixture
def only_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by the clock, so what is not told never comes."""
    monkeypatch.setattr(task_factory, "LONGEST_WAIT_S", FAR_S)
    monkeypatch.setattr(later, "CLOSED_LOOK_S", FAR_S)
    monkeypatch.setattr(changes, "LOOK_S", FAR_S)


@pytest.fixture(params=["inline", "threads that share", "2 threads"])
def place(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {
        "inline": {"viper__worker": "inline"},
        "threads that share": {"viper__worker": "thread", "viper__worker__threads": 2},
        "2 threads": {"viper__worker": "thread", "topology__workers": 2},
    }[str(request.param)]


def run_followed(path: Path, process: Callable[[Any, Any], None], place: dict[str, Any]) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", TextSource(str(path), follow=True, end_marker=MARKER))
    builder.set_bolt("seen", bolt(process)).global_grouping("source")
    run_built(builder, **place)
    assert readable._present._watcher is None


@pytest.mark.usefixtures("only_the_kernel")
def test_a_line_comes_when_it_is_appended(path: Path, place: dict[str, Any]) -> None:
    """In two halves, of which the first one is no line."""
    seen: list[str] = []

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        if len(seen) == 100:
            (path.parent / MARKER).touch()
            return
        for half in (f"{len(seen)}", "\n"):
            with path.open("a") as file:
                file.write(half)

    run_followed(path, process, place)
    assert seen == ["a", *map(str, range(1, 100))]


@pytest.mark.usefixtures("only_the_kernel")
def test_a_file_comes_when_it_appears(tmp_path: Path, place: dict[str, Any]) -> None:
    folder, seen = tmp_path / "folder", list[str]()
    folder.mkdir()
    (folder / "000").write_text("0")

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        number = len(seen)
        (tmp_path / "draft").write_text(f"{number}")
        (tmp_path / "draft").rename(folder / (f"{number:03}" if number < 50 else MARKER))

    run_followed(folder, process, place)
    assert seen == [*map(str, range(50))]


@pytest.mark.usefixtures("only_the_kernel")
@pytest.mark.parametrize(
    "change", [rotated, replaced, made_anew, Path.unlink, lambda path: os.truncate(path, 0)]
)
def test_a_run_ends_where_its_file_is_lost(path: Path, change: Callable[[Path], None]) -> None:
    with pytest.raises(Exception, match=r"grows was (cut off|removed or rotated) while it is followed"):
        run_followed(path, lambda self, tup: change(path), {"viper__worker": "inline"})


def test_a_link_that_leads_elsewhere_is_seen_by_the_clock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "LOOK_S", 0.01)
    link, other = path.with_name("link"), path.with_name("other")
    other.write_text("b\n")
    link.symlink_to(path)

    def process(self: Any, tup: Any) -> None:
        link.unlink()
        link.symlink_to(other)

    with pytest.raises(Exception, match="link was removed or rotated while it is followed"):
        run_followed(link, process, {"viper__worker": "inline"})


# -- where the kernel does not tell


@pytest.fixture(params=["no instance", "no inotify", "remote"])
def silent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The reason that is logged."""

    def no_instance(name: str, *args: Any) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    def no_inotify(name: str, *args: Any) -> int:
        raise AttributeError(f"undefined symbol: {name}")

    if request.param == "no instance":
        monkeypatch.setattr(changes, "_call", no_instance)
        yield "inotify: Too many open files"
    elif request.param == "no inotify":
        monkeypatch.setattr(changes, "_call", no_inotify)
        yield "the system has no inotify"
    else:
        monkeypatch.setattr(changes, "_remote", lambda path: "it is elsewhere")
        yield "it is elsewhere"


def test_it_is_polled_then_and_says_so_once(
    path: Path, silent: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    blocks = TextSource(str(path), follow=True, end_marker=MARKER).blocks(0, None)
    assert [next(blocks), next(blocks), next(blocks)][1:] == [None, None]
    appended(path)
    (path.parent / MARKER).touch()
    assert [block.rows for block in blocks if block is not None] == [[("b",)]]  # type: ignore[union-attr]
    (told,) = [record.getMessage() for record in caplog.records]
    assert told == f"{path} is polled, as no change is told: {silent}"


def test_a_run_by_polls_has_the_same_rows(path: Path, silent: str) -> None:
    seen: list[str] = []

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        with path.open("a") as file:
            file.write("b\n")
        if len(seen) == 5:
            (path.parent / MARKER).touch()

    run_followed(path, process, {"viper__worker": "inline"})
    assert seen == ["a", *"bbbbb"]


def test_a_watch_that_cannot_be_leaves_no_descriptor(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Changes({str(path): FILE, str(path.with_name("missing")): FOLDER})
    before = set(os.listdir("/proc/self/fd"))
    assert not found.begins()
    assert found.silence == "inotify: No such file or directory" and found.next is None
    assert set(os.listdir("/proc/self/fd")) == before


def test_nothing_is_open_before_there_is_nothing_to_read(path: Path) -> None:
    source = TextSource(str(path), follow=True)
    blocks = source.blocks(0, None)
    next(blocks)
    assert source._growing is not None and source._growing.changes.fileno() == -1
    waits = next(blocks)
    assert isinstance(waits, Later) and not waits.has_come(time.monotonic())
    appended(path)
    assert waits.has_come(time.monotonic())
    blocks.close()  # type: ignore[attr-defined]
    assert source._growing.changes.fileno() == -1


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "9p", "ext4", "tmpfs"])
def test_file_systems_that_others_write_to(tmp_path: Path, kind: str) -> None:
    device = os.stat(tmp_path).st_dev
    other = f"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - {'ext4' if kind == 'nfs4' else 'nfs4'} host rw"
    own = f"37 35 {os.major(device)}:{os.minor(device)} / /mnt rw shared:9 shared:2 - {kind} host:/x rw"
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"{other}\n{own}\n")
    found = changes._remote(str(tmp_path), str(mounts))
    is_local = kind in ("ext4", "tmpfs")
    assert found == (None if is_local else f"others may write to a file system of type {kind} from elsewhere")
    assert changes._remote(str(tmp_path / "missing"), str(mounts)) is None
    assert changes._remote(str(tmp_path), str(tmp_path / "missing")) is None
