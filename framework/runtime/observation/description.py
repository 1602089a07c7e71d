"""The description of a run, which does not change during the run, as values that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from framework.model.errors import ViperError


@dataclass(frozen=True, slots=True)
class DescribedComponent:
    """A component."""

    id: str
    role: str
    """``spout`` or ``bolt``."""
    kind: str
    """``Python``, ``shell``, ``Java`` or ``outside``."""
    implementation: str
    """The class without its package, or the command."""
    depth: int
    """Hops on the longest way from a spout."""
    tasks: int
    """The number of its tasks, those that stand by included."""
    scalable: bool
    """True if the number of tasks that get tuples may change, from 1 to `tasks`."""
    conf: Mapping[str, Any]
    """Its own configuration: what differs from that of the topology."""
    sharing: str = "dealt"
    """``claims`` if its tasks share their input by claims, ``claims by key`` if they claim its key groups.
    Else ``dealt``: tuples are dealt out beforehand."""


@dataclass(frozen=True, slots=True)
class DescribedStream:
    """A subscription."""

    source: str
    stream: str
    target: str
    grouping: str
    """In short, e.g. ``fields(word)``."""
    feedback: bool
    """True if it closes a cycle."""


@dataclass(frozen=True, slots=True)
class DescribedSetting:
    """A value of the configuration."""

    key: str
    value: Any
    origin: str
    """The place where it was set, e.g. ``conf/defaults.yaml:12``."""
    is_default: bool


@dataclass(frozen=True, slots=True)
class RunDescription:
    """A whole run."""

    topology: str
    run: str
    """Names this run among all on this machine, as `RunSnapshot.run`."""
    pid: int
    """Of the process that leads it."""
    started_s: float
    """Seconds since 1970."""
    version: str
    """Of ViperStorm."""
    time: str
    """The time it runs by: event, logical or ingest."""
    worker: str
    """The kind of its workers: inline, thread or process."""
    workers: int
    checkpoints: str | None
    """The folder of its checkpoints; None where it makes none."""
    components: Sequence[DescribedComponent]
    """In order of definition."""
    streams: Sequence[DescribedStream]
    """By target, in order of definition."""
    settings: Sequence[DescribedSetting]
    """By key."""

    def as_object(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_object(cls, value: Mapping[str, Any]) -> RunDescription:
        """The description that `as_object` has made the object of.

        Raises:
            ViperError: it is none, as the run is of another version.
        """
        try:
            parts = {
                "components": tuple(DescribedComponent(**each) for each in value["components"]),
                "streams": tuple(DescribedStream(**each) for each in value["streams"]),
                "settings": tuple(DescribedSetting(**each) for each in value["settings"]),
            }
            return cls(**{**value, **parts})
        except (KeyError, TypeError) as error:
            raise ViperError(f"the run is of another version, which tells other things: {error}") from None
