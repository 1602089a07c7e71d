"""Incidents and errors that a run has survived; errors are counted by the line of user code that raised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Incident:
    """A worker process that died."""

    worker: int
    """Its number, from 1."""
    how: str
    """The way in which it ended, in words."""
    tasks: Sequence[str]
    """``component:task id`` of its tasks."""
    at_s: float
    """Seconds into the run."""
    lost: int
    """Untracked tuples that its tasks had taken and not finished, or that waited for them in its memory; a
    tuple that several tasks got is counted for each."""
    restarted: bool
    """True if another process has taken its place."""
    state_lost: Sequence[str]
    """Components with a task there that had not ended, is not declared stateless, and declares no state: what
    it remembered is gone. Declared state is as it was after the last slice."""
    doing: str = ""
    """The work of its tasks when it last reported, in words; empty if it never did."""
    hint: str = ""
    """The possible cause, in words; empty where nothing points to one."""
    peak_bytes: int | None = None
    """The most memory that it had in use; None if that is not known."""
    slices: int = 0
    """With exact recovery: slices of its tasks that were cut off, and that the next process repeats."""
    repeated: int = 0
    """The tuples of their input, which are processed again."""
    left_out: int = 0
    """The tuples of their output that consumers have already, and that the next process leaves out."""

    again: int = 0
    """Tuples that nobody tracks, of spouts that begin again: they may come again."""

    def __str__(self) -> str:
        told = [f"worker {self.worker} ({', '.join(self.tasks)}) {self.how} after {self.at_s:.1f} s"]
        told += [f"{self.lost:,} untracked tuples are lost"] if self.lost else []
        told += [f"{_slices(self.slices, self.repeated)} repeated"] if self.slices else []
        if self.again:
            told.append(f"spouts begin again after {self.again:,} tuples, which may come twice")
        told += [f"the state of {', '.join(self.state_lost)} is gone"] if self.state_lost else []
        return "; ".join([*told, *filter(None, (self.doing, self.hint))])


def _slices(slices: int, tuples: int) -> str:
    """So many slices with so many tuples of input, and the verb; those of a spout have none."""
    what = f"{slices:,} slice{'s' * (slices != 1)}"
    with_tuples = f" with {tuples:,} tuple{'s' * (tuples != 1)}" if tuples else ""
    return f"{what}{with_tuples} {'is' if slices == 1 else 'are'}"


MOST_SITES = 16
"""Lines that are counted one by one; what others raise is counted together."""
OTHERS = "elsewhere"
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class ErrorSite:
    """The exceptions that one line has raised."""

    place: str
    """File, line and callback, as ``takings.py:31 in process``."""
    kind: str
    """The type of the exception that it raised last, as ``ValueError``."""
    message: str
    """Its message, shortened."""
    count: int
    last_s: float
    """The time of the last one, in seconds since 1970."""

    def also(self, other: ErrorSite) -> ErrorSite:
        """Both together: the message is that of the later one."""
        later = max(self, other, key=lambda site: site.last_s)
        return replace(later, place=self.place, count=self.count + other.count)


Sites = Mapping[str, ErrorSite]
"""By place."""


def raised_once_more(sites: Sites, place: str, error: BaseException, now_s: float) -> Sites:
    """The same with one more error.

    Args:
        sites: those so far.
        place: where it was raised.
        error: what was raised.
        now_s: the seconds since 1970.
    """
    message = " ".join(str(error).split())[:_LONGEST_MESSAGE]
    return added_sites([sites, {place: ErrorSite(place, type(error).__name__, message, 1, now_s)}])


def added_sites(several: Iterable[Sites]) -> Sites:
    """All of several together; beyond `MOST_SITES`, further lines count as `OTHERS`."""
    total: dict[str, ErrorSite] = {}
    for sites in several:
        for place, site in sites.items():
            known = place if place in total or len(total) < MOST_SITES else OTHERS
            moved = replace(site, place=known)
            total[known] = total[known].also(moved) if known in total else moved
    return total
