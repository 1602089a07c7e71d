"""Names: of the topology, of components, streams, fields and beans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from framework.config.rules import topology_name
from framework.topology import Problem, Stream, Topology, about
from framework.topology.graph import SYSTEM_PREFIX

_RESERVED = f"begins with {SYSTEM_PREFIX!r}, which is kept for the system's own names"


def check_topology_name(topology: Topology) -> Iterator[Problem]:
    """A topology has a name that Storm would take."""
    complaint = topology_name().complaint(topology.name)
    if complaint:
        yield Problem(topology.sources.at("name"), f"the topology's name {complaint}")


def check_component_ids(topology: Topology) -> Iterator[Problem]:
    """Ids of components are unique, not empty and not the system's."""
    for component_id, count in Counter(component.id for component in topology.components).items():
        place = topology.sources.at("components", component_id)
        if count > 1:
            yield Problem(place, f"{count} components have the id {component_id!r}: expected different ids")
        if not component_id:
            yield Problem(place, "a component's id is empty")
        if component_id.startswith(SYSTEM_PREFIX):
            yield Problem(place, f"component id {component_id!r} {_RESERVED}")


def check_streams(topology: Topology) -> Iterator[Problem]:
    """Streams of a component have different names, and fields of a stream have."""
    for component in topology.components:
        for message in _wrong_with_streams(component.outputs or ()):
            yield about(topology, component, f"declares {message}")


def check_bean_ids(topology: Topology) -> Iterator[Problem]:
    """Ids of beans are unique."""
    for bean_id in repeated(bean.id for bean in topology.beans):
        message = f"several beans have the id {bean_id!r}: expected different ids"
        yield Problem(topology.sources.at("beans", bean_id), message)


def _wrong_with_streams(streams: Sequence[Stream]) -> Iterator[str]:
    for name in repeated(stream.name for stream in streams):
        yield f"the stream {name!r} more than once"
    for stream in streams:
        if stream.name.startswith(SYSTEM_PREFIX):
            yield f"the stream {stream.name!r}, which {_RESERVED}"
        for field in repeated(stream.fields):
            yield f"the field {field!r} of stream {stream.name!r} more than once"


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, each once."""
    return [name for name, count in Counter(names).items() if count > 1]
