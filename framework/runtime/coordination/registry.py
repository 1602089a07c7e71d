"""The runs of this user on this machine: each has a folder, by which ``viper ps`` and ``viper top`` find it.

The folder lies in ``$XDG_RUNTIME_DIR/viperstorm``, or in ``viperstorm-UID`` of the folder for temporary
files, which nobody else may enter. While a run is in progress it holds the folder's lock, which the system
takes from processes that die: a folder without that lock is what a dead run has left, and is removed.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from framework.model.errors import CheckpointError, ViperError
from framework.runtime.coordination.commands import forget_killed
from framework.runtime.durability.checkpoints.lock import is_locked, locked

_log = logging.getLogger("viperstorm.run")

_FILE = "run.json"
_CONTROL = "control"


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run in progress."""

    pid: int
    """The process that leads it, which names it too."""
    topology: str
    started_s: float
    """Seconds since 1970."""
    control: str
    """The folder by which it is commanded."""
    folder: str
    """The folder that it was started in."""


@contextmanager
def registered(topology: str, control: Path | None) -> Iterator[Path | None]:
    """For as long as the block runs, other commands of this user find a run.

    A run that cannot be registered continues all the same.

    Args:
        topology: its name.
        control: the folder by which it is commanded anyway; None for one of its own.

    Yields:
        The folder by which it is to be commanded; None if there is none.
    """
    with ExitStack() as stack:
        try:
            control = stack.enter_context(_entry(topology, control))
        except (OSError, ViperError) as error:
            _log.debug("viper ps does not see this run: %s", error)
        yield control


@contextmanager
def _entry(topology: str, control: Path | None) -> Iterator[Path]:
    runs = folder_of_runs()
    entry, new = runs / str(os.getpid()), runs / f".{os.getpid()}"
    if entry.exists() and is_locked(entry):
        raise CheckpointError(f"{entry} belongs to another run")
    for left in (entry, new):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir()
    try:
        with locked(new):  # before it has a name that others look for
            found = control.resolve() if control is not None else entry / _CONTROL
            run = KnownRun(os.getpid(), topology, time.time(), str(found), os.getcwd())
            (new / _FILE).write_text(json.dumps(asdict(run)), encoding="utf-8")
            new.rename(entry)
            yield found
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(entry, ignore_errors=True)


def folder_of_runs() -> Path:
    """The folder of this user's runs; it is made if it is not there.

    Raises:
        OSError: it cannot be made.
        ViperError: it belongs to somebody else, or others may write to it.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if base and os.access(base, os.W_OK):
        runs = Path(base, "viperstorm")
    else:
        runs = Path(tempfile.gettempdir(), f"viperstorm-{os.getuid()}")
    runs.mkdir(mode=0o700, exist_ok=True)
    found = runs.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise ViperError(f"{runs} is not a folder of this user alone: remove it, or set XDG_RUNTIME_DIR")
    return runs


def known_runs() -> Sequence[KnownRun]:
    """Return the runs of this user in progress, the earliest first; remains of dead ones are removed.

    Raises:
        OSError: the folder of runs cannot be read.
        ViperError: it belongs to somebody else.
    """
    runs = []
    for entry in folder_of_runs().iterdir():
        if entry.name.startswith("."):
            continue
        if not is_locked(entry):
            _forget(entry)
            continue
        run = _read(entry)
        if run is not None:
            runs.append(run)
    return sorted(runs, key=lambda run: (run.started_s, run.pid))


def forget(pid: int) -> None:
    """Remove what the run of a process has left that was killed, and the socket by which it was commanded.

    Raises:
        OSError: the folder of runs cannot be read.
        ViperError: it belongs to somebody else.
    """
    entry = folder_of_runs() / str(pid)
    if entry.is_dir() and not is_locked(entry):
        _forget(entry)


def _forget(entry: Path) -> None:
    run = _read(entry)
    if run is not None:
        forget_killed(Path(run.control))
    shutil.rmtree(entry, ignore_errors=True)


def _read(entry: Path) -> KnownRun | None:
    """The record of a run; None if the run has just ended, or is of another version."""
    try:
        return KnownRun(**json.loads((entry / _FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def control_of(name: str) -> Path:
    """The folder by which a run is commanded.

    Args:
        name: the process id of the run, the name of its topology, or a folder by which it is found.

    Raises:
        ViperError: there is no such run, or several.
    """
    runs = known_runs()
    found = [run for run in runs if name in (str(run.pid), run.topology)]
    if len(found) == 1:
        return Path(found[0].control)
    if found:
        raise ViperError(f"{len(found)} runs are called {name!r}: name one by its id ({_ids(found)})")
    if Path(name).is_dir():
        return Path(name)
    raise ViperError(f"no run {name!r} is going on here: found {_ids(runs) or 'none'} (viper ps)")


def _ids(runs: Sequence[KnownRun]) -> str:
    return ", ".join(f"{run.pid} {run.topology}" for run in runs)
