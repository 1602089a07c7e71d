"""Structure: tuples come from spouts, and every component gets some."""

from __future__ import annotations

from collections.abc import Iterator

from framework.topology import Problem, Role, Topology, about
from framework.topology.graph import SYSTEM_PREFIX, reachable


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
    """No cycle is cut off from the spouts.

    What lies behind a bolt with no inputs or with an unknown source is left out: it is cut off
    by that mistake, which is reported where it is.
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
