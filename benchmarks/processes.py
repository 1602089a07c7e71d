"""The resources that a process and everything that it has started take, as Linux reports them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of several processes together; a page that several share counts once."""

    total_bytes: int
    shared_bytes: int
    """Of that, what lies in memory files and segments: the arena."""


def tree(root: int) -> list[int]:
    """A process and its descendants, worker processes among them."""
    parents = dict(_parents())
    found = [root]
    for pid in found:  # which grows meanwhile
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def memory(root: int) -> Memory:
    """Measure the memory that the processes of a tree take now."""
    total = shared = 0
    for pid in tree(root):
        for line in _lines(PROC / str(pid) / "smaps_rollup"):
            name, _, rest = line.partition(":")
            if name in ("Pss", "Pss_Shmem"):
                size = int(rest.split()[0]) * 1024
                total += size if name == "Pss" else 0
                shared += size if name == "Pss_Shmem" else 0
    return Memory(total, shared)


def cpu_seconds(root: int) -> float:
    """Seconds that the threads of a tree which are alive now have been running, ever."""
    nanoseconds = 0
    for pid in tree(root):
        for thread in (PROC / str(pid) / "task").glob("*/schedstat"):
            for line in _lines(thread):
                nanoseconds += int(line.split()[0])
    return nanoseconds / 1e9


def _parents() -> Iterator[tuple[int, int]]:
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            for line in _lines(folder / "stat"):
                # The name, in parentheses, may hold anything.
                yield int(folder.name), int(line.rpartition(")")[2].split()[1])


def _lines(path: Path) -> list[str]:
    """None of a process that has ended meanwhile."""
    try:
        return path.read_text(errors="replace").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return []
