"""Incidents: what has gone wrong in a run that went on all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Incident:
    """A worker process that died."""

    worker: int
    """Its number, from 1."""
    how: str
    """How it ended, in words."""
    tasks: Sequence[str]
    """``component:task id`` of its tasks."""
    at_s: float
    """Seconds into the run."""
    lost: int
    """Untracked tuples that its tasks had taken and not finished, or that waited for them in its memory; a
    tuple that several tasks got is counted for each."""
    restarted: bool
    """Whether another process has taken its place."""
    state_lost: Sequence[str]
    """Components with a task there that had not ended, is not declared stateless, and declares no state: what
    it remembered is gone. Declared state is as it was after the last slice."""
    doing: str = ""
    """What its tasks were doing when it last reported, in words; empty if it never did."""
    hint: str = ""
    """What the cause may be, in words; empty where nothing points to one."""
    peak_bytes: int | None = None
    """The most memory that it had in use; None if that is not known."""
    slices: int = 0
    """With exact recovery: slices of its tasks that were cut off, and that the next process repeats."""
    repeated: int = 0
    """The tuples of their input, which are processed once more."""
    left_out: int = 0
    """The tuples of their output that consumers have already, and that the next process leaves out."""

    again: int = 0
    """Tuples that nobody tracks, and that spouts had emitted which begin anew: they may come once more."""

    def __str__(self) -> str:
        told = [f"worker {self.worker} ({', '.join(self.tasks)}) {self.how} after {self.at_s:.1f} s"]
        told += [f"{self.lost:,} untracked tuples are lost"] if self.lost else []
        told += [f"{_slices(self.slices, self.repeated)} repeated"] if self.slices else []
        told += [f"spouts begin anew after {self.again:,} tuples, which may come twice"] if self.again else []
        told += [f"the state of {', '.join(self.state_lost)} is gone"] if self.state_lost else []
        return "; ".join([*told, *filter(None, (self.doing, self.hint))])


def _slices(slices: int, tuples: int) -> str:
    """So many slices with so many tuples of input, and the verb; those of a spout have none."""
    what = f"{slices:,} slice{'s' * (slices != 1)}"
    with_tuples = f" with {tuples:,} tuple{'s' * (tuples != 1)}" if tuples else ""
    return f"{what}{with_tuples} {'is' if slices == 1 else 'are'}"
