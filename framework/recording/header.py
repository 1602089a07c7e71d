"""The header of a recording: its topology, its tasks, and how to read its positions."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from framework.model.errors import RecordingError
from framework.model.topology import Role, Stream
from framework.planning import ComponentLevel, Plan, TimeMode
from framework.version import VERSION

FORMAT = "viperstorm recording"
FORMAT_VERSION = 1
"""Goes up when an older reader would misread what a newer writer writes."""


@dataclass(frozen=True, slots=True)
class RecordedComponent:
    """A component of the topology that was recorded."""

    id: str
    role: Role
    streams: tuple[Stream, ...]
    """In the order of their tags."""
    level: ComponentLevel


@dataclass(frozen=True, slots=True)
class PartSummary:
    """The size of a task's part; known once the task has closed it."""

    tuples: int
    ticks: int
    ordered: bool
    """True if its positions never descend."""


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """A task of the run that was recorded."""

    id: int
    component: str
    index: int
    """From 0 upwards within the component; of a spout, the source partition."""
    part: PartSummary | None = None
    """None where the task could not close its part; its last tuples may be missing then."""


@dataclass(frozen=True, slots=True)
class Header:
    """All facts about a recorded run but its tuples."""

    topology: str
    time: TimeMode
    components: tuple[RecordedComponent, ...]
    """In the order of their definition."""
    tasks: tuple[RecordedTask, ...]
    """By id."""
    import_paths: tuple[str, ...] = ()
    """Folders that the topology's code, and so the classes of its values, were imported from."""
    software: str = VERSION
    """The version of ViperStorm that made the recording."""
    byteorder: str = sys.byteorder
    complete: bool = False
    """True if the run came to its end, and every task closed its part."""
    reason: str = "the run did not come to its end"
    """Why the run ended, as in its report, or what failed."""

    def component(self, component_id: str) -> RecordedComponent | None:
        """The component of that id, or None."""
        return next((c for c in self.components if c.id == component_id), None)

    def tasks_of(self, component_id: str) -> tuple[RecordedTask, ...]:
        """The tasks of a component, by index."""
        mine = (task for task in self.tasks if task.component == component_id)
        return tuple(sorted(mine, key=lambda task: task.index))


def header_of(plan: Plan) -> Header:
    """The header for recording a run of a plan."""
    return Header(
        topology=plan.topology.name,
        time=plan.time,
        components=tuple(
            RecordedComponent(c.id, c.role, c.outputs or (), plan.layout.components[c.id])
            for c in plan.topology.components
        ),
        tasks=tuple(RecordedTask(task.id, task.component, task.index) for task in plan.tasks),
        import_paths=plan.topology.import_paths,
    )


def to_json(header: Header) -> str:
    """The header as text, which begins with the format."""
    fields = {"format": FORMAT, "version": FORMAT_VERSION, **asdict(header)}
    for component, written in zip(header.components, fields["components"], strict=True):
        written["streams"] = list(map(_stream_fields, component.streams))
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _stream_fields(stream: Stream) -> dict[str, Any]:
    fields = {"fields": stream.fields, "name": stream.name, "direct": stream.direct}
    return fields if stream.schema is None else {**fields, "schema": stream.schema.named(stream.fields)}


def from_json(text: str | bytes, where: str) -> Header:
    """The header that a text holds.

    Args:
        text: from `to_json`.
        where: the recording, for messages.

    Raises:
        RecordingError: the text is no header, or this version or this machine cannot read its recording.
    """
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise RecordingError(f"{where} is no recording: its header is no JSON: {error}") from None
    _check_readable(fields, where)
    try:
        return _header(fields)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordingError(
            f"{where}: its header is damaged: {type(error).__name__}: {error}; record again"
        ) from error


def _check_readable(fields: Any, where: str) -> None:
    found = fields.get("format") if isinstance(fields, dict) else fields
    if found != FORMAT:
        raise RecordingError(f"{where} is no recording: found format {found!r:.100}, expected {FORMAT!r}")
    if fields.get("version") != FORMAT_VERSION:
        raise RecordingError(
            f"{where} has version {fields.get('version')!r} of the format, written by ViperStorm "
            f"{fields.get('software')}; this is {VERSION}, which reads version {FORMAT_VERSION}: record again"
        )
    if fields.get("byteorder") != sys.byteorder:
        raise RecordingError(
            f"{where} was recorded on a {fields.get('byteorder')}-endian machine, this one is "
            f"{sys.byteorder}-endian: read it on a machine like the one that wrote it"
        )


def _header(fields: Mapping[str, Any]) -> Header:
    others = {key: value for key, value in fields.items() if key not in ("format", "version")}
    others["time"] = TimeMode(fields["time"])
    others["components"] = tuple(map(_component, fields["components"]))
    others["tasks"] = tuple(map(_task, fields["tasks"]))
    others["import_paths"] = tuple(fields["import_paths"])
    return Header(**others)


def _component(fields: Mapping[str, Any]) -> RecordedComponent:
    streams = tuple(Stream(**stream) for stream in fields["streams"])
    return RecordedComponent(fields["id"], Role(fields["role"]), streams, ComponentLevel(**fields["level"]))


def _task(fields: Mapping[str, Any]) -> RecordedTask:
    part = fields["part"]
    return RecordedTask(
        fields["id"], fields["component"], fields["index"], None if part is None else PartSummary(**part)
    )
