"""The topology as a graph: what is reachable, which edges go back, how deep each component lies.

Planning, validation and drawing share this walk, so that a feedback edge is the same edge to all of
them. Every function takes any topology, also one that validation would refuse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from graphlib import TopologicalSorter

from framework.model.topology.model import Role, Topology

SYSTEM_PREFIX = "__"
"""Ids of Storm's own components and streams begin like this; a user's ids do not."""

Edge = tuple[str, str, str]
"""Source component, stream, target component."""


def edges(topology: Topology) -> tuple[Edge, ...]:
    """Every subscription of one component to another, by target in order of definition.

    Subscriptions to unknown and to system components are left out.
    """
    ids = {component.id for component in topology.components}
    found = (
        (subscription.source, subscription.stream, component.id)
        for component in topology.components
        for subscription in component.inputs
        if subscription.source in ids
    )
    return tuple(dict.fromkeys(found))


def feedback_edges(topology: Topology) -> frozenset[Edge]:
    """The edges that close a cycle, found depth first from the spouts in order of definition.

    Without them the graph has no cycle. Cycles that no spout reaches are opened as well, beginning
    at the component that is defined first.
    """
    feedback: set[Edge] = set()
    _walk(_roots(topology), _outgoing(edges(topology)), feedback.add)
    return frozenset(feedback)


def depths(topology: Topology) -> dict[str, int]:
    """The number of hops on the longest way to each component, feedback edges left aside.

    A component without inputs lies at 0. The order is one in which every source comes before its targets.
    """
    feedback = feedback_edges(topology)
    sources: dict[str, list[str]] = {component.id: [] for component in topology.components}
    for source, stream, target in edges(topology):
        if (source, stream, target) not in feedback:
            sources[target].append(source)
    depth: dict[str, int] = {}
    for component_id in TopologicalSorter(sources).static_order():
        depth[component_id] = 1 + max((depth[source] for source in sources[component_id]), default=-1)
    return depth


def rings(topology: Topology) -> dict[str, int]:
    """For each component the number of its ring; tuples lead from each component of a ring to every other.

    A component that is part of no cycle is alone in its ring.
    """
    all_edges = edges(topology)
    outgoing = _outgoing(all_edges)
    incoming = _outgoing((target, stream, source) for source, stream, target in all_edges)
    ring_of: dict[str, int] = {}
    # In this order, whoever is reached backwards and has no ring yet can be reached forwards as well.
    for root in reversed(_walk((component.id for component in topology.components), outgoing)):
        waiting = [] if root in ring_of else [root]
        number = len(ring_of)
        while waiting:
            component_id = waiting.pop()
            if component_id not in ring_of:
                ring_of[component_id] = number
                waiting.extend(source for _, _, source in incoming[component_id])
    return ring_of


def reachable(topology: Topology, also_from: Iterable[str] = ()) -> frozenset[str]:
    """Ids of the components that tuples can come to: from a spout, or from the system's ticks.

    Args:
        topology: any topology.
        also_from: ids of further components to begin at.
    """
    spouts = [component.id for component in topology.spouts]
    return _reached(topology, [*spouts, *_subscribers_of_the_system(topology), *also_from])


def downstream(topology: Topology, of: Iterable[str]) -> Sequence[str]:
    """Ids of the components to which tuples of these come, or what came of them, in order of definition."""
    sources = set(of)
    found = _reached(topology, (target for source, _, target in edges(topology) if source in sources))
    return [component.id for component in topology.components if component.id in found]


def _reached(topology: Topology, roots: Iterable[str]) -> frozenset[str]:
    """Components, and all to which tuples come from there."""
    outgoing = _outgoing(edges(topology))
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        component_id = waiting.pop()
        if component_id not in found:
            found.add(component_id)
            waiting.extend(target for _, _, target in outgoing[component_id])
    return frozenset(found)


def _roots(topology: Topology) -> Iterator[str]:
    """Return the starts of walks: the spouts, and then all others, for components that no spout reaches."""
    in_order = sorted(topology.components, key=lambda component: component.role is not Role.SPOUT)
    return (component.id for component in in_order)


def _outgoing(all_edges: Iterable[Edge]) -> defaultdict[str, list[Edge]]:
    outgoing: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in all_edges:
        outgoing[edge[0]].append(edge)
    return outgoing


def _walk(
    roots: Iterable[str], outgoing: defaultdict[str, list[Edge]], found: Callable[[Edge], None] | None = None
) -> list[str]:
    """Walk depth first from each root in turn, without recursion: a chain may be long.

    Returns all components that were reached, each after those that were first reached from it. Each edge back
    to a component on the path is reported to `found`.
    """
    finished: list[str] = []
    visited: set[str] = set()
    for root in (root for root in roots if root not in visited):
        visited.add(root)
        on_path = {root: iter(outgoing[root])}
        while on_path:
            component_id, remaining = next(reversed(on_path.items()))
            edge = next(remaining, None)
            if edge is None:
                del on_path[component_id]
                finished.append(component_id)
            elif edge[2] in on_path and found is not None:
                found(edge)
            elif edge[2] not in visited:
                visited.add(edge[2])
                on_path[edge[2]] = iter(outgoing[edge[2]])
    return finished


def _subscribers_of_the_system(topology: Topology) -> list[str]:
    return [
        component.id
        for component in topology.components
        if any(subscription.source.startswith(SYSTEM_PREFIX) for subscription in component.inputs)
    ]
