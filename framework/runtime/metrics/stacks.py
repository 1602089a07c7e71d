"""Where tasks are that are in a callback, as it is told to those who ask."""

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
class Stacks:
    """Where all tasks are that are in a callback."""

    tasks: Sequence[TaskStack]
    silent: Sequence[int] = field(default=())
    """The numbers of processes that have not told it, as they do not run Python: a library keeps its lock."""


class TellsStacks(Protocol):
    """Whoever knows the tasks of a run."""

    def stacks(self) -> Stacks:
        """Where all tasks are that are in a callback; from any thread."""
