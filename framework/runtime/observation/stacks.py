"""Where tasks are, in a callback or not, as it is told to those who ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TaskStack:
    """Where one task is."""

    task: str
    """``component:task id``."""
    process: int
    """The number of its process."""
    callback: str
    """The callback's name, as ``process``."""
    stack: str
    """The frames from the user's first one on, in the form of a traceback."""


@dataclass(frozen=True, slots=True)
class TaskOutside:
    """A task that is in no callback."""

    task: str
    """``component:task id``."""
    process: int
    """The number of its process."""
    doing: str
    """What it waits for instead, or that it has ended, in words."""


@dataclass(frozen=True, slots=True)
class Stacks:
    """Where all tasks are."""

    tasks: Sequence[TaskStack]
    """Those that are in a callback."""
    silent: Sequence[int] = field(default=())
    """The numbers of processes that have not told it, as they do not run Python: a library keeps its lock."""
    others: Sequence[TaskOutside] = field(default=())
    """All other tasks of the processes that have."""


class TellsStacks(Protocol):
    """Whoever knows the tasks of a run."""

    def stacks(self) -> Stacks:
        """Where all tasks are; from any thread."""
