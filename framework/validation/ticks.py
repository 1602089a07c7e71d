"""Ticks: who counts on them gets some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.components.tuple import TICK_COMPONENT, TICK_STREAM
from framework.topology import Problem, Topology
from framework.validation.subscriptions import subscriptions

INTERVAL = "topology.tick.tuple.freq.secs"
"""The key that says how often there are ticks."""


def check_ticks(topology: Topology, confs: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """A bolt that subscribes to the system's ticks is told how often they come.

    Args:
        topology: one without errors.
        confs: from `component_conf`, by id.
    """
    for found in subscriptions(topology):
        asked = (found.input.source, found.input.stream) == (TICK_COMPONENT, TICK_STREAM)
        if asked and confs[found.bolt.id][INTERVAL] is None:
            message = f"there are no ticks: set {INTERVAL}, in the bolt's config or in the topology's"
            yield found.problem(message)
