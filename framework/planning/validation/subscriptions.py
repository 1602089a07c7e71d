"""Subscriptions: each names a stream that exists, once, with a grouping that fits the stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from framework.common.coroutines import place_of_coroutine
from framework.model.errors import LoadError
from framework.model.importing import import_class, importable
from framework.model.topology import (
    ComponentSpec,
    GroupingKind,
    Input,
    ObjectDef,
    Problem,
    Stream,
    Topology,
    unknown,
)
from framework.model.topology.graph import SYSTEM_PREFIX
from framework.model.topology.grouping import BY_FIELDS
from framework.operators.components.tuple import TICK_COMPONENT, TICK_STREAM
from framework.planning.validation.classes import is_java
from framework.planning.validation.structure import repeated

SYSTEM_STREAMS: Mapping[str, tuple[Stream, ...]] = {TICK_COMPONENT: (Stream(["rate_secs"], TICK_STREAM),)}
"""The streams of the system's components that a bolt may name."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One input of one bolt, with what is known of its stream."""

    topology: Topology
    bolt: ComponentSpec
    position: int
    input: Input
    streams: Mapping[str, Stream] | None
    """The streams of the source, by name; None where they cannot be known."""

    @property
    def stream(self) -> Stream | None:
        """The stream itself, where it is known."""
        return (self.streams or {}).get(self.input.stream)

    def problem(self, message: str, part: str | None = None) -> Problem:
        """A problem of this input, or of its ``"grouping"``."""
        path = ("components", self.bolt.id, "inputs", self.position)
        place = self.topology.sources.at(*path, *([part] if part else []))
        return Problem(place, f"bolt {self.bolt.id!r}, input from {self.input.source!r}: {message}")


def subscriptions(topology: Topology) -> Iterator[Subscription]:
    """Every input of every bolt, in order of definition."""
    components = {component.id: component for component in reversed(topology.components)}
    for bolt in topology.bolts:
        for position, found in enumerate(bolt.inputs):
            yield Subscription(topology, bolt, position, found, _streams_of(found.source, components))


def check_sources(topology: Topology) -> Iterator[Problem]:
    """Every input comes from a component of the topology, or from one of the system's."""
    ids = [component.id for component in topology.components]
    for found in subscriptions(topology):
        source = found.input.source
        known = SYSTEM_STREAMS if source.startswith(SYSTEM_PREFIX) else ids
        if source not in known:
            yield found.problem(unknown("component", source, known))


def check_stream_names(topology: Topology) -> Iterator[Problem]:
    """Every input is a stream that its source declares."""
    # A spout without any is a mistake in itself, and reported as such.
    spouts = {spout.id for spout in topology.spouts}
    for found in subscriptions(topology):
        if found.streams == {} and found.input.source not in spouts:
            yield found.problem(f"{found.input.source!r} declares no outputs")
        elif found.streams and found.stream is None:
            yield found.problem(unknown("stream", found.input.stream, found.streams))


def check_repeats(topology: Topology) -> Iterator[Problem]:
    """No bolt subscribes to a stream twice."""
    seen: set[tuple[str, str]] = set()
    for found in subscriptions(topology):
        if found.position == 0:
            seen.clear()
        stream = (found.input.source, found.input.stream)
        if stream in seen:
            yield found.problem(f"the stream {found.input.stream!r} is subscribed to twice")
        seen.add(stream)


def _streams_of(source: str, components: Mapping[str, ComponentSpec]) -> dict[str, Stream] | None:
    component = components.get(source)
    streams = component.outputs if component is not None else SYSTEM_STREAMS.get(source)
    return None if streams is None else {stream.name: stream for stream in streams}


def check_fields(topology: Topology) -> Iterator[Problem]:
    """A grouping by key names fields of the stream, each once, and at least one."""
    for found in subscriptions(topology):
        if found.input.grouping.kind in BY_FIELDS:
            for message in _wrong_with_fields(found):
                yield found.problem(message, "grouping")


def check_direct(topology: Topology) -> Iterator[Problem]:
    """Direct streams, and only these, have a direct grouping."""
    for found in subscriptions(topology):
        if found.stream is None:
            continue
        name, kind = found.stream.name, found.input.grouping.kind
        if found.stream.direct and kind is not GroupingKind.DIRECT:
            message = f"stream {name!r} is direct: expected a {GroupingKind.DIRECT} grouping, found {kind}"
            yield found.problem(message, "grouping")
        if kind is GroupingKind.DIRECT and not found.stream.direct:
            message = f"stream {name!r} is not direct: expected another grouping than {kind}, or direct=True"
            yield found.problem(f"{message} where it is declared", "grouping")


def check_custom(topology: Topology) -> Iterator[Problem]:
    """A custom grouping has a class with the two methods that will be called."""
    for found in subscriptions(topology):
        if found.input.grouping.kind is GroupingKind.CUSTOM:
            complaint = _wrong_with_class(topology, found.input.grouping.definition)
            if complaint:
                yield found.problem(complaint, "grouping")


def _wrong_with_fields(found: Subscription) -> Iterator[str]:
    names = found.input.grouping.names
    if not names:
        yield f"{found.input.grouping.kind} grouping without fields: expected at least one"
    for name in repeated(names):
        yield f"the grouping names the field {name!r} more than once"
    for name in dict.fromkeys(names):
        if found.stream is not None and name not in found.stream.fields:
            yield unknown("field", name, found.stream.fields)


def _wrong_with_class(topology: Topology, definition: ObjectDef | None) -> str | None:
    if definition is None:
        return "a custom grouping without a class"
    if definition.factory is not None or is_java(definition):
        return None
    try:
        with importable(topology.import_paths):
            cls = definition.cls or import_class(definition.class_name)
    except LoadError as error:
        return str(error)
    missing = [name for name in ("prepare", "choose_tasks") if not hasattr(cls, name)]
    awaited = [place_of_coroutine(getattr(cls, name, None)) for name in ("prepare", "choose_tasks")]
    if any(awaited):
        found = " and ".join(filter(None, awaited))
        return f"{definition.class_name} has coroutine functions, {found}, and nobody awaits them: write def"
    if not missing:
        return None
    return f"{definition.class_name} is no custom grouping: it has no {' and no '.join(missing)}"
