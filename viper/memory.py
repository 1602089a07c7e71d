"""Reads how much memory the system can still provide, as far as the system reports it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

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
