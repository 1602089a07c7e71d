"""The processes that there are, and which of them has started which."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def descendants(pid: int) -> set[int]:
    """The processes that a process has started, and those that they have started, and so on."""
    parents = {int(stat.parent.name): _parent(stat) for stat in Path("/proc").glob("[0-9]*/stat")}
    found: set[int] = set()
    grown = {pid}
    while grown:
        grown = {child for child, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def named(*words: str, among: Iterable[int]) -> list[int]:
    """The processes in whose command line one of these words stands, as they have started, the newest last.

    Their numbers do not tell: a system that has used up its numbers begins again with small ones.
    """
    found = [pid for pid in among if any(word in _command(pid) for word in words)]
    return sorted(found, key=lambda pid: (_started(pid), pid))


def _parent(stat: Path) -> int:
    try:
        return int(_fields(stat)[1])
    except OSError:
        return 0


def _started(pid: int) -> int:
    """Read when a process has started, in clock ticks since the machine has."""
    try:
        return int(_fields(Path(f"/proc/{pid}/stat"))[19])
    except OSError:
        return 0


def _fields(stat: Path) -> list[str]:
    """Read the fields of proc(5) of a process, from its state (the third field) on."""
    return stat.read_text().rpartition(")")[2].split()


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
