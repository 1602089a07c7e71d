"""The structure of a topology: names, numbers of tasks, and how tuples come from spouts to every bolt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from framework.model.config.keys import MAX_TASKS
from framework.model.config.rules import integer, optional, topology_name
from framework.model.topology import Problem, Role, Stream, Topology, about
from framework.model.topology.graph import SYSTEM_PREFIX, reachable

_RESERVED = f"begins with {SYSTEM_PREFIX!r}, which is kept for the system's own names"

_COUNT = integer(1, MAX_TASKS)


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


def check_parallelism(topology: Topology) -> Iterator[Problem]:
    """Parallelism and number of tasks are integers from 1 to the most tasks that a component can have."""
    for component in topology.components:
        for name, rule, value in (
            ("parallelism", _COUNT, component.parallelism),
            ("number of tasks", optional(_COUNT), component.tasks),
        ):
            complaint = rule.complaint(value)
            if complaint:
                yield about(topology, component, f"has a {name} that {complaint}", part="parallelism")


def check_spouts(topology: Topology) -> Iterator[Problem]:
    """There is a spout; spouts emit and do not receive."""
    if not topology.spouts:
        yield Problem(topology.sources.at(), "the topology has no spout: expected at least one")
    for spout in topology.spouts:
        if spout.inputs:
            message = "has inputs: expected none, as only bolts receive tuples"
            yield about(topology, spout, message, part="inputs")
        if spout.outputs == ():
            message = "declares no outputs: expected the fields that it emits, e.g. outputs = ['word']"
            yield about(topology, spout, message)


def check_bolts(topology: Topology) -> Iterator[Problem]:
    """Bolts have inputs."""
    for bolt in topology.bolts:
        if not bolt.inputs:
            yield about(topology, bolt, "has no inputs: expected at least one stream that it receives")


def check_reachable(topology: Topology) -> Iterator[Problem]:
    """Find cycles that are cut off from the spouts.

    Components after a bolt with no inputs, or with an unknown source, are left out: they are cut off by that
    mistake, which is reported where it is.
    """
    fed = reachable(topology, also_from=_cut_off_by_another_mistake(topology))
    for component in topology.components:
        if component.id not in fed:
            sources = ", ".join(dict.fromkeys(repr(found.source) for found in component.inputs))
            message = f"never gets a tuple: it is fed by {sources}, and no spout leads there"
            yield about(topology, component, message)


def _cut_off_by_another_mistake(topology: Topology) -> list[str]:
    ids = {component.id for component in topology.components}
    return [
        component.id
        for component in topology.components
        if component.role is Role.BOLT
        and (not component.inputs or any(_is_unknown(i.source, ids) for i in component.inputs))
    ]


def _is_unknown(source: str, ids: set[str]) -> bool:
    return source not in ids and not source.startswith(SYSTEM_PREFIX)
