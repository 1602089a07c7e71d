"""Several subscriptions of a bolt to one stream: the last one holds, as on Storm.

Storm's `TopologyBuilder` keeps the inputs of a bolt in a map by component and stream, and streamparse in a
dict. So a later entry replaces an earlier one there without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from framework.model.topology.model import ComponentSpec, Topology
from framework.model.topology.places import Path, Place, SourceMap
from framework.model.topology.problems import Problem


def last_subscriptions(topology: Topology) -> tuple[Topology, tuple[Problem, ...]]:
    """The topology with the last subscription of each bolt to each stream, in the place of the first one.

    Args:
        topology: as a front end reads it.

    Returns:
        The topology, and a warning for each subscription that another one replaces.
    """
    warnings: list[Problem] = []
    kept: dict[str, list[int]] = {}
    if len({component.id for component in topology.components}) < len(topology.components):
        return topology, ()  # which is refused, and their places cannot be told apart
    for component in topology.components:
        last = _last_of_each(component)
        if len(last) < len(component.inputs):
            kept[component.id] = last
            warnings += _replaced(component, last, topology.sources)
    if not kept:
        return topology, ()
    components = tuple(
        replace(found, inputs=tuple(found.inputs[index] for index in kept[found.id]))
        if found.id in kept
        else found
        for found in topology.components
    )
    places = SourceMap(dict(_moved(topology.sources.places, kept)))
    return replace(topology, components=components, sources=places), tuple(warnings)


def _last_of_each(component: ComponentSpec) -> list[int]:
    """The index of the last subscription to each stream, in the order of the first ones."""
    last = {(found.source, found.stream): index for index, found in enumerate(component.inputs)}
    return list(last.values())


def _replaced(component: ComponentSpec, last: list[int], sources: SourceMap) -> Iterator[Problem]:
    inputs = component.inputs
    holds = {(inputs[index].source, inputs[index].stream): index for index in last}
    for index, found in enumerate(component.inputs):
        by = holds[found.source, found.stream]
        if by != index:
            last_grouping = component.inputs[by].grouping
            differs = f": {last_grouping!r} in place of {found.grouping!r}"
            yield Problem(
                sources.at("components", component.id, "inputs", by),
                f"bolt {component.id!r}, input from {found.source!r}: the stream {found.stream!r} is "
                "subscribed to again, and the last subscription holds, as on Storm"
                f"{differs if last_grouping != found.grouping else ''}",
                warning=True,
            )


def _moved(places: Mapping[Path, Place], kept: Mapping[str, list[int]]) -> Iterator[tuple[Path, Place]]:
    """The places, each input under its new index."""
    for path, place in places.items():
        indexes = kept.get(str(path[1])) if len(path) > 3 and path[2] == "inputs" else None
        if indexes is None:
            yield path, place
        elif path[3] in indexes:
            yield (*path[:3], indexes.index(int(path[3])), *path[4:]), place
