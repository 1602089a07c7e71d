"""Timestamps: the fields that are to hold them exist, for every spout or for none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.planning.time_mode import time_problems
from framework.topology import Problem, Topology, about, unknown
from framework.traits import Traits


def check_timestamps(
    topology: Topology, confs: Mapping[str, Mapping[str, Any]], traits: Mapping[str, Traits]
) -> Iterator[Problem]:
    """A spout's ``viper.timestamp.field`` is one of its fields, and one spout's calls for every spout's.

    Args:
        topology: one without errors.
        confs: from `component_conf`, by id.
        traits: from `known_traits`, by id.
    """
    yield from time_problems(topology, confs, traits)
    for spout in topology.spouts:
        name = confs[spout.id]["viper.timestamp.field"]
        fields = {field for stream in spout.outputs or () for field in stream.fields}
        if name is not None and spout.outputs is not None and name not in fields:
            message = f"takes its timestamps from an {unknown('field', name, fields)}"
            yield about(topology, spout, message, part="config")
