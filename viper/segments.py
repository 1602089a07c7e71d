"""Segments: the memory of a shared arena, as an open file that processes hand to each other.

If the system has memory files without a name, nothing can be left behind. Otherwise a segment has a name for
the moment in which it is made. A process that is killed in that moment leaves the name. So the name says
whose it is, and is written down beforehand; the maker of the next segment removes the names that dead
processes have left. `available_bytes` tells how much memory the system can still provide for one.
"""

from __future__ import annotations

import errno
import itertools
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from viper._backend import ffi, lib

ANONYMOUS: Final = hasattr(os, "memfd_create")
"""True if this system has memory files without a name."""

_REFUSED: Final = {errno.ENOSYS, errno.EPERM, errno.EACCES}
"""The errors by which a system, or a sandbox on it, reports that it has none for us."""

_numbers = itertools.count()


def make(size_bytes: int, named: bool) -> int:
    """The descriptor of a new segment.

    Args:
        size_bytes: its size.
        named: make it with a name, as is done in any case where the system refuses those without.

    Raises:
        OSError: the system has none.
    """
    if not named:
        segment = lib.vp_segment_anonymous(size_bytes)
        if segment >= 0 or ffi.errno not in _REFUSED:
            return _checked(segment)
    remove_abandoned()
    name = f"vp-{os.getpid()}-{_start_of(os.getpid())}-{next(_numbers)}"
    record = _records() / name
    record.touch()
    try:
        return _checked(lib.vp_segment_named(f"/{name}".encode(), size_bytes))
    finally:
        record.unlink(missing_ok=True)  # who tidies up folders may have been here


def abandoned() -> list[str]:
    """The names of the segments whose makers died before they could remove them."""
    return [record.name for record in _abandoned()]


def remove_abandoned() -> list[str]:
    """Remove the segments whose makers died before they could; returns their names."""
    return [record.name for record in _abandoned() if _remove(record)]


def _abandoned() -> Iterator[Path]:
    """Yield the records of processes that are no more; another may have their number by now."""
    for record in sorted(_records().glob("vp-*-*-*")):
        _, pid, *others = record.name.split("-")
        if pid.isdigit() and len(others) == 2 and str(_start_of(int(pid))) != others[0]:
            yield record


def _remove(record: Path) -> bool:
    """Remove a segment; True if there was one."""
    removed: bool = lib.vp_segment_remove(f"/{record.name}".encode()) == 0
    if not removed and ffi.errno != errno.ENOENT:
        return False  # not ours to remove
    record.unlink(missing_ok=True)
    return removed


def _records() -> Path:
    """Find the folder that records the names of this user's segments."""
    folder = Path(tempfile.gettempdir()) / f"viperstorm-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _start_of(pid: int) -> int | None:
    """Read when a process started, in whatever unit the system has; None if there is none of that number."""
    try:
        # The name of the program stands in brackets, and may have any characters in it.
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19])
    except OSError:
        return None if Path("/proc/self/stat").exists() else _start_by_ps(pid)


def _start_by_ps(pid: int) -> int | None:
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    found = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    )
    try:
        return int(time.mktime(time.strptime(found.stdout.strip())))
    except ValueError:
        return None


def _checked(segment: int) -> int:
    if segment < 0:
        raise OSError(ffi.errno, os.strerror(ffi.errno))
    return segment


PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")


class _Kind(NamedTuple):
    """The names that the control groups of one kind use for what they report."""

    limit: str
    usage: str
    reclaimable: str
    """Of the usage, pages of files that the system takes back before it refuses any; in memory.stat."""


_FIRST: Final = _Kind("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_SECOND: Final = _Kind("memory.max", "memory.current", "inactive_file")


def available_bytes() -> int | None:
    """Bytes that this process could still touch, with those it shares; None if the system does not say.

    It is the least of what is free or can be freed on the machine, and of what the limits of the
    process's control groups leave.
    """
    found = [*_of_the_machine(), *_of_control_groups()]
    return max(0, min(found)) if found else None


def _of_the_machine() -> Iterator[int]:
    for line in _lines(PROC / "meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _of_control_groups() -> Iterator[int]:
    """Yield the memory that each limit leaves, of the group itself and all above it."""
    for line in _lines(PROC / "self" / "cgroup"):
        _, controllers, name = line.rstrip("\n").split(":", 2)
        if not controllers:
            yield from _left(CGROUPS, name, _SECOND)
        elif "memory" in controllers.split(","):
            yield from _left(CGROUPS / "memory", name, _FIRST)


def _left(root: Path, name: str, kind: _Kind) -> Iterator[int]:
    group = PurePosixPath(name.lstrip("/"))
    for folder in (root / group, *(root / parent for parent in group.parents)):
        bound, used = _number(folder / kind.limit), _number(folder / kind.usage)
        if bound is not None and used is not None:
            yield bound - max(0, used - _counted(folder / "memory.stat", kind.reclaimable))


def _counted(path: Path, key: str) -> int:
    """Read the number of a key from a file of lines of a key and a number; 0 if there is none."""
    for line in _lines(path):
        name, _, number = line.partition(" ")
        if name == key and number.isdigit():
            return int(number)
    return 0


def _number(path: Path) -> int | None:
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
