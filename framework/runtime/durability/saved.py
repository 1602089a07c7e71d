"""What tasks have saved for a checkpoint, and the checkpoint that was made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework.runtime.durability.checkpoints.states import SavedState


@dataclass(frozen=True, slots=True)
class SavedTasks:
    """What the tasks of a process have saved when all that came to them had been processed."""

    tasks: Mapping[int, Mapping[str, Any]]
    """By task, as JSON can hold it."""
    lost: int
    """Untracked tuples that were not processed to their end, as components had raised."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What the manifest of a checkpoint says of what one task remembers."""

    states: Sequence[SavedState] = ()
    """Its states, in the order of their declaration."""
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Length in bytes and CRC-32 of each part that was written, by name."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """By shared table that it keeps, the part that holds the table."""

    def also(self, other: Saved) -> Saved:
        """Both."""
        parts, tables = {**self.parts, **other.parts}, {**self.tables, **other.tables}
        return Saved([*self.states, *other.states], parts, tables)


@dataclass(frozen=True, slots=True)
class SavedTask:
    """What a task has saved for a checkpoint, or at its end."""

    attempt: int
    """The attempt to make a checkpoint that it was saved for."""
    saved: Mapping[str, Any]
    """What it goes on from, as JSON can hold it."""
    states: Saved = field(default_factory=Saved)
    """What it remembers, which is written. A task at its end has not written it."""
    held_s: float = 0.0
    """Seconds for which it stood still."""
    error: str = ""
    """Why what it remembers could not be written; empty if it could."""


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What a task reports when a checkpoint is made, or when it has ended."""

    task: int
    found: SavedTask
    lost: int
    """As in `SavedTasks`."""
