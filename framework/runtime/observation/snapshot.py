"""A run at one moment: what has been counted since it began, by component, as values that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.model.errors import ViperError
from framework.runtime.observation.counters import Counts, since
from framework.runtime.observation.incidents import ErrorSite


@dataclass(frozen=True, slots=True)
class TaskSnapshot:
    """One task."""

    id: int
    busy_s: float
    """Seconds of its turns; it begins at 0 again in a process that takes the place of another one."""
    at_s: float
    """The moment of that, as monotonic time in seconds: worker processes report ten times a second."""
    worker: int = 1
    """The number of its worker."""
    times: Counts = ()
    """The processing times of its tuples.

    For a bolt, from taking a tuple from its input until the outputs for it are handed on. For a spout, from
    emitting a tracked tuple until its ack.
    """
    waited_s: float = 0.0
    """Seconds of its turns in which it did not compute: its code slept, or waited for others."""
    claims: int = 0
    """The number of claims in which it got its tuples; 0 where they are dealt out beforehand."""
    claimed: int = 0
    """The tuples of these claims."""

    def worked_since(self, before: TaskSnapshot | None) -> float:
        """Seconds of work since an earlier snapshot, or in all; in another process since that has begun."""
        return self.busy_s if before is None or self.busy_s < before.busy_s else self.busy_s - before.busy_s

    def waited_since(self, before: TaskSnapshot | None) -> float:
        """The seconds of `worked_since` in which it did not compute."""
        began_anew = before is None or self.busy_s < before.busy_s
        waited_s = self.waited_s if before is None or began_anew else self.waited_s - before.waited_s
        return min(max(waited_s, 0.0), self.worked_since(before))

    def times_since(self, before: TaskSnapshot | None) -> Counts:
        """The times of its tuples since an earlier snapshot, or all of them."""
        return self.times if before is None else since(before.times, self.times)


@dataclass(frozen=True, slots=True)
class ComponentSnapshot:
    """All tasks of one component together; counts continue where a worker process was restarted."""

    id: str
    role: str
    """``spout`` or ``bolt``."""
    tasks: Sequence[TaskSnapshot]
    parallelism: int
    """The number of them that get tuples; the others stand by."""
    emitted: int
    processed: int
    acked: int
    failed: int
    errors: int
    """Exceptions that did not end the run."""
    error_sites: Sequence[ErrorSite]
    """The same by the line of user code that has raised them, the latest first."""
    restarts: int
    """The number of times it was made again: after an exception, or with a worker process that had died."""
    lost: int
    """Untracked tuples that were not processed to their end because of an exception."""
    late: int
    waiting: int
    """Tuples that wait for it in its channels."""
    fill: float
    """The fill level of its fullest input, from 0 to 1."""
    blocked_s: float
    """Seconds for which its tasks had something to emit and found no room, added up."""
    held_by: Sequence[str]
    """Tasks (``component:task id``) for which tuples that are there have to wait, as they may still add the
    one that comes next."""

    @property
    def tuples_a_claim(self) -> float | None:
        """The mean of its claims so far; None where its tasks have claimed nothing."""
        claims = sum(task.claims for task in self.tasks)
        return sum(task.claimed for task in self.tasks) / claims if claims else None

    @property
    def handled(self) -> int:
        """The tuples that it is measured by: a spout by those emitted, a bolt by those processed."""
        return self.emitted if self.role == "spout" else self.processed


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """A whole run."""

    topology: str
    run: str
    """Names this run among all on this machine."""
    attempt: int
    """The number of times the run has gone back to a checkpoint, or to its beginning, and counts from 0
    again."""
    elapsed_s: float
    """Seconds since the spouts were activated; 0 before."""
    at_s: float
    """The moment of the snapshot, as monotonic time in seconds."""
    active: bool
    """True if the spouts are asked for tuples."""
    draining: bool
    """True if the run was asked to end."""
    share: float | None
    """The share of it that is over, from 0 to 1; None if nobody knows."""
    deaths: int
    """Worker processes that have died."""
    lost: int
    """Untracked tuples that were lost with worker processes."""
    incidents: Sequence[str]
    """The last of these deaths, in words."""
    checkpoints: int
    """The number of checkpoints it has written."""
    components: Sequence[ComponentSnapshot]
    """In order of definition."""

    def as_object(self) -> dict[str, Any]:
        """The same as JSON can hold it; numbers stay numbers."""
        # `dataclasses.asdict` copies each value: with 300 components of four tasks that took 96 ms.
        components = [
            {
                **_fields(each),
                "tasks": [_fields(task) for task in each.tasks],
                "error_sites": [_fields(site) for site in each.error_sites],
            }
            for each in self.components
        ]
        return {**_fields(self), "components": components}

    @classmethod
    def from_object(cls, value: Mapping[str, Any]) -> RunSnapshot:
        """The snapshot that `as_object` has made the object of.

        Raises:
            ViperError: it is none, as the run is of another version.
        """
        try:
            components = tuple(map(_component_from, value["components"]))
            return cls(**{**value, "incidents": tuple(value["incidents"]), "components": components})
        except (KeyError, TypeError) as error:
            raise ViperError(f"the run is of another version, which shows other things: {error}") from None


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a value, by name, as they are."""
    return {name: getattr(value, name) for name in value.__slots__}


def _component_from(value: Mapping[str, Any]) -> ComponentSnapshot:
    sequences = {
        "tasks": tuple(map(_task_from, value["tasks"])),
        "error_sites": tuple(ErrorSite(**site) for site in value["error_sites"]),
        "held_by": tuple(value["held_by"]),
    }
    return ComponentSnapshot(**{**value, **sequences})


def _task_from(value: Mapping[str, Any]) -> TaskSnapshot:
    return TaskSnapshot(**{**value, "times": tuple((bucket, count) for bucket, count in value["times"])})
