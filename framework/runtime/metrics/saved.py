"""What the tasks of a suspended run have saved, and the checkpoint that was made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SavedTasks:
    """What the tasks of a process have saved when all that came to them had been processed."""

    tasks: Mapping[int, Mapping[str, Any]]
    """By task, as JSON can hold it."""
    lost: int
    """Untracked tuples that were not processed to their end, as components had raised."""


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What a task reports when a checkpoint is made, or when it has ended."""

    task: int
    attempt: int
    """The attempt to make one that it reports for."""
    saved: Mapping[str, Any]
    """What it has saved, as JSON can hold it."""
    lost: int
    """As in `SavedTasks`."""


@dataclass(frozen=True, slots=True)
class Written:
    """A checkpoint that a run has written."""

    id: int
    path: str
    elapsed_s: float
    """Seconds from the request until it was on the disk."""
    size: int
    """Bytes of its parts."""
    paused_s: float = 0.0
    """Seconds for which the run stood still; 0 for one that was suspended."""
