"""Reasons for which tracked tuples fail: numbers of 32 bits in shared memory, and texts for people."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from viper.forest import LOST, TOO_LARGE

_TASK_BITS = 24


class Cause(enum.IntEnum):
    """The kinds of reasons for which a tree fails."""

    FAILED = 1
    """A bolt has failed it."""
    RAISED = 2
    """A bolt has raised while it processed it."""
    RESTARTED = 3
    """A bolt's task was restarted while it held a tuple of the tree."""
    TIMED_OUT = 4
    """No bolt has acked or failed a held tuple in time."""
    WORKER_DIED = 5
    """A worker process has died."""
    TOO_LARGE = 6
    """Its tree has more tuples than can be counted."""
    NO_ROOM = 7
    """More tuples were in flight than can be tracked."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason for which a tracked tuple has failed."""

    cause: Cause
    task: int = 0
    """The id of the task that has failed the tuple; 0 if no single task has."""

    def encode(self) -> int:
        """Encode the reason as a number of 32 bits other than 0."""
        return self.cause << _TASK_BITS | self.task

    @staticmethod
    def decode(number: int) -> Reason:
        """Decode the number of a reason."""
        if number in _OF_THE_FOREST:
            return Reason(_OF_THE_FOREST[number])
        return Reason(Cause(number >> _TASK_BITS), number & ((1 << _TASK_BITS) - 1))

    def text(self, components: Mapping[str, str]) -> str:
        """The reason in words.

        Args:
            components: the component of each task, by the task's id, as Storm's context has them.
        """
        where = f"{components[str(self.task)]}:{self.task}" if self.task else "a bolt"
        return _TEXTS[self.cause].format(where)


_OF_THE_FOREST: Mapping[int, Cause] = {TOO_LARGE: Cause.TOO_LARGE, LOST: Cause.WORKER_DIED}
_TEXTS: Mapping[Cause, str] = {
    Cause.FAILED: "failed by {}",
    Cause.RAISED: "{} raised",
    Cause.RESTARTED: "{} was restarted",
    Cause.TIMED_OUT: "timed out",
    Cause.WORKER_DIED: "a worker died",
    Cause.TOO_LARGE: "too many tuples descended from it",
    Cause.NO_ROOM: "too many in flight (viper.tracked.max)",
}
