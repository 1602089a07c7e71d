"""The section of a profile's file that says which machine it was measured on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml

from framework.optimizer.costs.hardware import Cache, Crossing, Hardware
from framework.optimizer.costs.yaml_nodes import Nodes, quoted


def hardware_lines(hardware: Hardware | None) -> Iterator[str]:
    """The lines of the section; none where the machine is not known."""
    if hardware is None:
        return
    yield ""
    yield "# The machine of the measurements. Nothing here is part of a prediction."
    yield "# caches: those that several processors share, in bytes. crossings: nanoseconds until a change"
    yield "# that one processor makes to a cache line is seen by another one."
    yield "machine:"
    yield f"  model: {quoted(hardware.model)}"
    yield f"  cpus: {_listed(hardware.cpus)}"
    yield "  caches:" if hardware.caches else "  caches: []"
    for cache in hardware.caches:
        yield f"    - {{level: {cache.level}, size: {cache.size}, cpus: {_listed(cache.cpus)}}}"
    yield "  crossings:" if hardware.crossings else "  crossings: []"
    for way in hardware.crossings:
        yield f"    - {{cpus: {_listed((way.first, way.second))}, ns: {way.ns!r}}}"


def read_hardware(node: yaml.Node | None, nodes: Nodes) -> Hardware | None:
    """Read the section, if there is one; mistakes in it are reported to `nodes`."""
    if node is None:
        return None
    top = nodes.mapping(node, "a machine", ("model", "cpus", "caches", "crossings"))
    return Hardware(
        nodes.text(nodes.needed(top, "model", node), "the name of a processor"),
        _cpus(nodes.needed(top, "cpus", node), nodes),
        tuple(_cache(one, nodes) for one in nodes.items(top.get("caches"), "a list of caches")),
        tuple(_crossing(one, nodes) for one in nodes.items(top.get("crossings"), "a list of crossings")),
    )


def _cache(node: yaml.Node, nodes: Nodes) -> Cache:
    found = nodes.mapping(node, "a cache", ("level", "size", "cpus"))
    level, size = (nodes.whole(nodes.needed(found, key, node)) for key in ("level", "size"))
    return Cache(level, size, _cpus(nodes.needed(found, "cpus", node), nodes))


def _crossing(node: yaml.Node, nodes: Nodes) -> Crossing:
    found = nodes.mapping(node, "a crossing", ("cpus", "ns"))
    cpus = _cpus(both := nodes.needed(found, "cpus", node), nodes)
    if both is not None and len(cpus) != 2:
        nodes.report(both, f"found {len(cpus)} processors, expected two")
    first, second = cpus if len(cpus) == 2 else (0, 0)
    return Crossing(first, second, nodes.number(nodes.needed(found, "ns", node), 0.0))


def _cpus(node: yaml.Node | None, nodes: Nodes) -> tuple[int, ...]:
    return tuple(nodes.whole(one) for one in nodes.items(node, "a list of numbers of processors"))


def _listed(numbers: Sequence[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"
