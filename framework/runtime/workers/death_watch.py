"""Hears of the death of a worker process before the system has released its memory.

That takes some 40 ms for each gigabyte that was mapped, and only then are the pipes of the process closed.
Its successor need not wait so long: all data that it resumes from lies in shared memory, and does not change
once no thread of the dead process runs. If a component had opened a file or a socket, its successor may need
the same one. Then the end of the process is waited for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from viper.life import Life

PROC = Path("/proc")
_FLAGS, _EXIT_CODE = 6, 49
"""Fields of a stat file, counted from the state of the process on."""
_EXITING: Final = 0x4
"""The flag of a thread that never comes back from the kernel."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.0001, 0.01
_LAST_LOOK_S = 1.0
"""Seconds in which a thread ends; only where the system has lost a life does it sleep on."""


class DeathWatch:
    """Waits for the death of a process, in a thread of its own.

    Args:
        life: that of the process, which has begun.
        pid: the process.
        files: what it had open before it made its components, as of `open_files`.
        tell: called once in that thread, with the exit code as soon as a successor may take over. If the end
            had to be waited for, it is called with None when the process has ended. Its pipes do not show the
            latter if another process has inherited them.
    """

    def __init__(
        self, life: Life, pid: int, files: frozenset[str], tell: Callable[[int | None], None]
    ) -> None:
        self._life = life
        self._pid = pid
        self._files = files
        self._tell = tell
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"viper-watch-{pid}", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End the thread, once the process has ended."""
        self._over.set()
        self._thread.join(_LAST_LOOK_S)

    def _watch(self) -> None:
        if not self._life.await_end() or not self._comes_true(has_stopped):
            return
        exit_code = exit_code_of(self._pid)
        if exit_code and open_files(self._pid) <= self._files:
            self._tell(exit_code)
        elif self._comes_true(has_ended):
            self._tell(None)

    def _comes_true(self, state: Callable[[int], bool]) -> bool:
        """Wait until the process has come to a state; False if the thread is to end before."""
        pause_s = _FIRST_PAUSE_S
        while not state(self._pid):
            if self._over.wait(pause_s):
                return False
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return True


def has_stopped(pid: int) -> bool:
    """True if no thread of a process runs any more, though the process may still be there."""
    return all(int(fields[_FLAGS]) & _EXITING for fields in _threads(pid))


def has_ended(pid: int) -> bool:
    """True if nothing is left of a process, whose parent has asked for its exit code."""
    return not (PROC / str(pid)).exists()


def exit_code_of(pid: int) -> int:
    """The exit code of a process that has stopped; 0 where the system does not say."""
    fields = _stat(PROC / str(pid) / "stat")
    return os.waitstatus_to_exitcode(int(fields[_EXIT_CODE])) if fields else 0


def open_files(pid: int | None = None) -> frozenset[str]:
    """The files that a process has open, with the descriptors; of this process if none is given.

    It is empty where the system does not say.
    """
    threads = [PROC / "self"] if pid is None else _entries(PROC / str(pid) / "task")
    folders = [thread / "fd" for thread in threads]
    return frozenset(told for folder in folders for file in _entries(folder) if (told := _described(file)))


def _described(file: Path) -> str:
    try:
        return f"{file.name} {file.readlink()}"
    except OSError:  # it was closed meanwhile
        return ""


def _threads(pid: int) -> Iterator[list[str]]:
    for thread in _entries(PROC / str(pid) / "task"):
        fields = _stat(thread / "stat")
        if fields:
            yield fields


def _entries(folder: Path) -> list[Path]:
    """The names in a folder; none if that is gone."""
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []


def _stat(path: Path) -> list[str]:
    """The fields of a stat file behind the name of the process; none where there is none any more."""
    try:
        return path.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
