"""How problems of a component are told."""

from __future__ import annotations

from framework.topology import ComponentSpec, Problem, Topology


def about(
    topology: Topology,
    component: ComponentSpec,
    message: str,
    *,
    part: str | None = None,
    warning: bool = False,
) -> Problem:
    """``bolt 'count' has no inputs``, at the place of the component or of a part of it.

    Args:
        topology: knows the places.
        component: what the problem is about.
        message: goes on after ``bolt 'count'``.
        part: ``"inputs"``, ``"parallelism"`` and so on.
        warning: whether the topology runs all the same.
    """
    place = topology.sources.at("components", component.id, *([part] if part else []))
    return Problem(place, f"{component.role} {component.id!r} {message}", warning)
