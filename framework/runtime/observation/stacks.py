"""The places of tasks, in a callback or not, as a request for stacks gets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TaskStack:
    """The place of one task."""

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
    """Its reason to wait instead, or that it has ended, in words."""


@dataclass(frozen=True, slots=True)
class Stacks:
    """The places of all tasks."""

    tasks: Sequence[TaskStack]
    """The tasks that are in a callback."""
    silent: Sequence[int] = field(default=())
    """The numbers of processes that have not told it, as they do not run Python: a library keeps its lock."""
    others: Sequence[TaskOutside] = field(default=())
    """All other tasks of the processes that have."""


class TellsStacks(Protocol):
    """An object that knows the tasks of a run."""

    def stacks(self) -> Stacks:
        """The places of all tasks; from any thread."""
