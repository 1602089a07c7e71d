"""Ticks: who counts on them gets some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.components.tuple import TICK_COMPONENT, TICK_STREAM
from framework.topology import Problem, Topology, about
from framework.traits import Batching, Traits
from framework.validation.subscriptions import subscriptions

INTERVAL = "topology.tick.tuple.freq.secs"
"""The key that says how often there are ticks."""


def check_ticks(
    topology: Topology, confs: Mapping[str, Mapping[str, Any]], traits: Mapping[str, Traits]
) -> Iterator[Problem]:
    """A bolt that subscribes to the system's ticks gets some, and so does one that batches by them.

    Args:
        topology: one without errors.
        confs: from `component_conf`, by id.
        traits: from `known_traits`, by id.
    """
    without = {bolt.id for bolt in topology.bolts if confs[bolt.id][INTERVAL] is None}
    for found in subscriptions(topology):
        asked = (found.input.source, found.input.stream) == (TICK_COMPONENT, TICK_STREAM)
        if asked and found.bolt.id in without:
            yield found.problem(f"there are no ticks: {_SET}")
    for bolt in topology.bolts:
        if bolt.id in without and traits[bolt.id].batching is Batching.TICKS:
            message = f"gathers batches, but has no ticks at which to process them before the end: {_SET}"
            yield about(topology, bolt, message, warning=True)


_SET = f"set {INTERVAL}, in the bolt's config or in the topology's"
