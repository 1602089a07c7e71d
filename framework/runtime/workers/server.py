"""The server process that worker processes are forked from, as the process that leads a run sees it.

It belongs to `multiprocessing`, which starts another one when the next process is to be started. On Linux the
kernel ends all workers with the server that has forked them, as this is how they end with their run, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import forkserver, util
from pathlib import Path

LAST_BREATH_S = 5.0
"""Seconds in which a server that gives no answer any more has ended."""
_LOOK_S = 0.01


@dataclass(frozen=True, slots=True)
class Server:
    """One server process."""

    pid: int

    @property
    def has_ended(self) -> bool:
        """True if it runs no more; it is left to `multiprocessing` to ask for its exit code."""
        if not hasattr(os, "waitid"):
            return False
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return found is not None

    def ends(self) -> bool:
        """Wait for its end, as it gives no answer; whether that came."""
        until_s = time.monotonic() + LAST_BREATH_S
        while not self.has_ended:
            if time.monotonic() > until_s:
                return False
            time.sleep(_LOOK_S)
        return True


def current_server() -> Server | None:
    """The server that processes are forked from now; None where there is none."""
    pid: int | None = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_pid", None)
    return None if pid is None else Server(pid)


_NOTE = "leader-"
"""Beside the server's socket, the start of the name of a file that ends in the pid of the process that leads
runs. It holds the names of folders, each behind a zero byte."""


def note_for_server(folder: Path | None) -> None:
    """Note for the server whose sockets it is to remove, should this process be killed before it can.

    Args:
        folder: has a socket, too; None where there is none.
    """
    with open(Path(util.get_temp_dir()) / f"{_NOTE}{os.getpid()}", "ab") as note:
        if folder is not None:
            note.write(b"\0" + os.fsencode(folder))


def noted_in(sockets: Path) -> Iterator[tuple[int, Sequence[Path]]]:
    """Yield the pids of processes that have left such notes, each with its folders.

    Args:
        sockets: the folder in which `multiprocessing` has the sockets of that process.
    """
    for note in sockets.glob(f"{_NOTE}*"):
        names = note.read_bytes().split(b"\0")
        folders = [Path(os.fsdecode(name)) for name in dict.fromkeys(names) if name]
        yield int(note.name.removeprefix(_NOTE)), folders
