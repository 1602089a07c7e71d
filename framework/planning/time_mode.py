"""Where a topology's timestamps come from."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from framework.topology import ComponentSpec, Problem, Topology
from framework.traits import brings_event_time, is_bounded_spout, is_partitioned


class TimeMode(enum.StrEnum):
    """The meaning of a position's timestamp (``viper.time``)."""

    EVENT = "event"
    """Microseconds of event time: a declared field, or ``timestamp=`` at the emit."""
    LOGICAL = "logical"
    """The count of emits of a source partition, so that runs repeat."""
    INGEST = "ingest"
    """Microseconds of the wall clock at the emit, so that no source waits for another."""


def choose_time(topology: Topology, confs: Mapping[str, Mapping[str, Any]], partitions: int) -> TimeMode:
    """The time that a topology runs by.

    Without a choice (``viper.time``): `EVENT` where every spout declares a timestamp field, or brings
    partitions, which are in the order of event time; else `LOGICAL` where there is one source partition or
    every spout is bounded, else `INGEST`.

    Args:
        topology: a valid topology.
        confs: each component's resolved configuration, by id.
        partitions: number of source partitions of all spouts.
    """
    spouts = topology.spouts
    chosen = next((confs[spout.id].get("viper.time") for spout in spouts), None)
    if chosen is not None:
        return TimeMode(chosen)
    if all(brings_event_time(spout, confs[spout.id]) for spout in spouts):
        return TimeMode.EVENT
    if partitions == 1 or all(is_bounded_spout(spout, confs[spout.id]) for spout in spouts):
        return TimeMode.LOGICAL
    return TimeMode.INGEST


def time_problems(topology: Topology, confs: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    """What keeps a topology from running by one time: only some spouts that bring event time."""
    without = [spout for spout in topology.spouts if not brings_event_time(spout, confs[spout.id])]
    chosen = next((confs[spout.id].get("viper.time") for spout in topology.spouts), None)
    if chosen not in (None, TimeMode.EVENT):
        return [_by_event_time(topology, spout, chosen) for spout in topology.spouts if is_partitioned(spout)]
    if chosen or len(without) in (0, len(topology.spouts)):
        return []
    return [Problem(topology.sources.at("components", spout.id), _only_some(spout)) for spout in without]


def _by_event_time(topology: Topology, spout: ComponentSpec, chosen: str) -> Problem:
    message = f"spout {spout.id!r} brings its rows by event time: expected viper.time event, found {chosen}"
    return Problem(topology.sources.at("components", spout.id), message)


def _only_some(spout: ComponentSpec) -> str:
    expected = "expected one for every spout or for none, or a choice of viper.time"
    return f"spout {spout.id!r} declares no viper.timestamp.field, but others do: {expected}"
