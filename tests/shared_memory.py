"""The shared memory that the tests of this process leave, whatever other processes do meanwhile."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
_OF_BENCHMARKS = "benchmark-"
"""Folders that are locked by whoever uses them, for seconds; their own tests see to it that none is left."""


def names() -> set[str]:
    """Every name that is there now; none on systems without such a folder."""
    return set(os.listdir(SHARED_MEMORY)) if SHARED_MEMORY.is_dir() else set()


def left_since(before: set[str]) -> set[str]:
    """The names that were not there before, and that the tests of this process have left.

    Other test processes may have names there for a moment, which is over at a second look. A process that is
    killed in that moment leaves a segment, and a record of it in its folder for temporary files
    (`viper.segments`). Each test process has such a folder of its own (`tests.conftest`), so a segment that
    is recorded elsewhere is another's.
    """
    new = {name for name in names() - before if not name.startswith(_OF_BENCHMARKS)}
    return {name for name in new & names() if not name.startswith("vp-") or _is_ours(name)}


def _is_ours(segment: str) -> bool:
    """True if the segment of that name was made in this process, or by one with its temporary folder."""
    recorded = Path(tempfile.gettempdir()) / f"viperstorm-{os.getuid()}" / segment
    return segment.startswith(f"vp-{os.getpid()}-") or recorded.exists()
