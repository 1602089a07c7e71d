"""Stacks of tasks, in a callback or not, as a request for stacks returns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TaskStack:
    """The stack of a task that is in a callback."""

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
    """The reason that it waits, or that it has ended, in words."""


@dataclass(frozen=True, slots=True)
class Stacks:
    """The stacks of the tasks of a run."""

    tasks: Sequence[TaskStack]
    """The tasks that are in a callback."""
    silent: Sequence[int] = field(default=())
    """The ids of processes that have not answered, as they do not run Python: a library keeps its lock."""
    others: Sequence[TaskOutside] = field(default=())
    """All tasks outside callbacks of the processes that have answered."""


class TellsStacks(Protocol):
    """An object that can take the stacks of a run's tasks."""

    def stacks(self) -> Stacks:
        """Return the stacks of all tasks; any thread may call it."""
