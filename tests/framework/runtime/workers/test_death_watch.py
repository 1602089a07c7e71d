"""A death is told once no thread of the process runs, unless a successor has to wait for what it had open."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from framework.runtime.workers import death_watch
from framework.runtime.workers.death_watch import DeathWatch, exit_code_of, has_stopped, open_files
from viper.arena import Arena, ArenaHandle
from viper.life import Life

PID = 4711
RUNNING, EXITING = 0x400000, 0x400004
TIMEOUT_S = 60.0


@pytest.fixture
def life() -> Life:
    """One that nobody has begun."""
    found = Life.create(Arena.private(10_000))
    if found is None:
        pytest.skip("the system knows none")
    return found


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a process in a /proc of the test's own, which has two threads and was killed."""
    monkeypatch.setattr(death_watch, "PROC", tmp_path)
    folder = tmp_path / str(PID)
    for thread in (PID, PID + 1):
        (folder / "task" / str(thread) / "fd").mkdir(parents=True)
        write_stat(folder / "task" / str(thread), EXITING)
        (folder / "task" / str(thread) / "fd" / "3").symlink_to("/channels")
    write_stat(folder, EXITING)
    return folder


def write_stat(folder: Path, flags: int) -> None:
    """With a name that would mislead who counts from the beginning."""
    fields = ["R", *["0"] * 5, str(flags), *["0"] * 42, str(int(signal.SIGKILL)), "0"]
    new = folder / "new"
    new.write_text(f"{PID} (a name) R) {' '.join(fields)}\n")
    new.rename(folder / "stat")


def watched(life: Life, files: frozenset[str]) -> int | None:
    """Watch a process that has stopped, and return the watch's report."""
    told: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    watch = DeathWatch(life, PID, files, told.put)
    try:
        return told.get(timeout=TIMEOUT_S)
    finally:
        watch.end()


class TestWhatItReads:
    def test_it_tells_when_all_threads_have_stopped(self, life: Life, proc: Path) -> None:
        assert watched(life, frozenset({"3 /channels"})) == -signal.SIGKILL

    def test_not_while_one_of_them_runs(self, life: Life, proc: Path) -> None:
        write_stat(proc / "task" / str(PID + 1), RUNNING)
        told: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        watch = DeathWatch(life, PID, open_files(PID), told.put)
        assert not has_stopped(PID)
        assert told.empty()
        write_stat(proc / "task" / str(PID + 1), EXITING)
        assert told.get(timeout=TIMEOUT_S) == -signal.SIGKILL
        watch.end()

    def test_only_its_end_where_a_component_had_opened_something(
        self, life: Life, proc: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (proc / "task" / str(PID + 1) / "fd" / "4").symlink_to("socket:[1]")
        ends_when_looked_at(proc, monkeypatch)
        assert watched(life, frozenset({"3 /channels"})) is None

    def test_only_its_end_where_a_descriptor_means_something_else_by_now(
        self, life: Life, proc: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ends_when_looked_at(proc, monkeypatch)
        assert watched(life, frozenset({"3 /other"})) is None

    def test_only_its_end_where_the_process_is_gone_already(self, life: Life, proc: Path) -> None:
        proc.rename(proc.with_name("other"))
        assert watched(life, frozenset()) is None

    def test_nothing_if_it_is_not_to_wait_any_more(self, life: Life, proc: Path) -> None:
        told: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        DeathWatch(life, PID, frozenset({"3 /other"}), told.put).end()
        assert told.empty()


def ends_when_looked_at(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process end as soon as a watch has seen what it has open."""
    ask = death_watch.open_files

    def asked(pid: int | None = None) -> frozenset[str]:
        found = ask(pid)
        proc.rename(proc.with_name("other"))
        return found

    monkeypatch.setattr(death_watch, "open_files", asked)


def live(handle: ArenaHandle, offset: int, connection: Connection) -> None:
    """Begin a life, and wait to be killed."""
    Life.attach(Arena.attach(handle), offset).begin()
    connection.send(open_files())
    connection.recv()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads /proc")
def test_a_process_that_is_killed() -> None:
    arena = Arena.shared(10_000)
    life = Life.create(arena)
    assert life is not None
    spawn = multiprocessing.get_context("spawn")
    told: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for _ in range(2):  # a successor can be watched, too
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=live, args=(arena.handle(), life.offset, theirs))
        process.start()
        assert process.pid is not None
        watch = DeathWatch(life, process.pid, ours.recv(), told.put)
        assert not has_stopped(process.pid)
        assert (exit_code_of(process.pid), told.empty()) == (0, True)
        os.kill(process.pid, signal.SIGKILL)
        assert told.get(timeout=TIMEOUT_S) == -signal.SIGKILL  # nobody has waited for it as yet
        process.join()
        watch.end()
        ours.close()
        theirs.close()
