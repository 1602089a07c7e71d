"""Ticks: who counts on them gets some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.components.tuple import TICK_COMPONENT, TICK_STREAM
from framework.hosting import batches_by_ticks
from framework.topology import ComponentSpec, JavaImplementation, Problem, Topology
from framework.validation.classes import held_class
from framework.validation.reporting import about
from framework.validation.subscriptions import subscriptions

INTERVAL = "topology.tick.tuple.freq.secs"
"""The key that says how often there are ticks."""


def check_ticks(topology: Topology, confs: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """A bolt that subscribes to the system's ticks gets some, and so does one that batches by them.

    Args:
        topology: one without errors.
        confs: from `component_conf`, by id.
    """
    without = {bolt.id for bolt in topology.bolts if confs[bolt.id][INTERVAL] is None}
    for found in subscriptions(topology):
        asked = (found.input.source, found.input.stream) == (TICK_COMPONENT, TICK_STREAM)
        if asked and found.bolt.id in without and not _is_java(found.bolt):
            yield found.problem(f"there are no ticks: {_SET}")
    for bolt in topology.bolts:
        cls = held_class(bolt)
        if bolt.id in without and cls is not None and batches_by_ticks(cls):
            message = f"gathers batches, but has no ticks at which to process them before the end: {_SET}"
            yield about(topology, bolt, message, warning=True)


def _is_java(bolt: ComponentSpec) -> bool:
    """Whether a bolt is a Java class, which may set its interval itself, where nothing here can see it."""
    return isinstance(bolt.implementation, JavaImplementation)


_SET = f"set {INTERVAL}, in the bolt's config or in the topology's"
