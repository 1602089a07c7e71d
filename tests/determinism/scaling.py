"""Runs of a variant whose bolts get other numbers of tasks meanwhile, as far as any can be scaled."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from framework.model.errors import TopologyError
from framework.model.topology import Role, Topology
from framework.planning.scaling import MOST
from framework.runtime import Run, RunOptions, RunReport
from framework.testing.preparing import planned, settled
from tests.kills.scaling import scaled
from tests.kills.shapes import MOST_SCALED


def growing(topology: Topology, options: Mapping[str, Any]) -> Topology:
    """A topology where each bolt that can be scaled may have up to `MOST_SCALED` tasks."""
    for component in topology.components:
        if component.role is Role.BOLT and component.parallelism <= MOST_SCALED:
            config = {**component.config, MOST: MOST_SCALED}
            found = replace(component, config=config)
            others = (found if c is component else c for c in topology.components)
            changed = replace(topology, components=tuple(others))
            with contextlib.suppress(TopologyError):  # it says why that one cannot be
                settled(changed, options)
                planned(changed, options)
                topology = changed
    return topology


def run_scaled(topology: Topology, options: Mapping[str, Any], seed: int, duration_s: float) -> RunReport:
    """Run a topology, and give its bolts other tasks as long as it continues; the seed says how many."""
    run = Run(*planned(topology, options), RunOptions(duration_s=duration_s))
    with scaled(run, seed):
        return run.execute()
