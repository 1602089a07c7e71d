"""The time that a topology runs by, components that do not fit it, and spouts whose rows may come late."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from framework.model.config import Settings, component_conf
from framework.model.errors import LoadError
from framework.model.importing import importable
from framework.model.specs import LATE, with_late_stream
from framework.model.topology import ComponentSpec, Problem, Topology, about
from framework.operators.components import PartitionedSpout
from framework.operators.windows.spec import GAP_MS, LENGTH_MS, SLIDE_MS
from framework.planning.traits import Batching, Traits, class_of

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


class TimeMode(enum.StrEnum):
    """The meaning of a position's timestamp (``viper.time``)."""

    EVENT = "event"
    """Microseconds of event time: a declared field, or ``timestamp=`` at the emit."""
    LOGICAL = "logical"
    """The count of emits of a source partition, so that runs repeat."""
    INGEST = "ingest"
    """Microseconds of the wall clock at the emit, so that no source waits for another."""


def choose_time(topology: Topology, confs: Confs, traits: Mapping[str, Traits], partitions: int) -> TimeMode:
    """Choose the time that a topology runs by.

    Without a choice (``viper.time``): `EVENT` if every spout declares a timestamp field, or brings
    partitions, which are in the order of event time. Else `INGEST` if a bolt has windows of a duration. Else
    `LOGICAL` if there is one source partition or every spout is bounded, and otherwise `INGEST`.

    Args:
        topology: a valid topology.
        confs: each component's resolved configuration, by id.
        traits: of all components, by id.
        partitions: number of source partitions of all spouts.

    Raises:
        LoadError: the time depends on whether a spout ends whose class is not known.
    """
    spouts = topology.spouts
    chosen = _configured(topology, confs)
    if chosen is not None:
        return TimeMode(chosen)
    if all(traits[spout.id].event_time for spout in spouts):
        return TimeMode.EVENT
    if any(_has_durations(traits[bolt.id], confs[bolt.id]) for bolt in topology.bolts):
        return TimeMode.INGEST
    if partitions == 1 or all(_is_bounded(spout, traits[spout.id]) for spout in spouts):
        return TimeMode.LOGICAL
    return TimeMode.INGEST


def _has_durations(traits: Traits, conf: Mapping[str, Any]) -> bool:
    return traits.joins or (
        traits.windowed and any(conf[key] is not None for key in (LENGTH_MS, SLIDE_MS, GAP_MS))
    )


def _configured(topology: Topology, confs: Confs) -> str | None:
    return next((confs[spout.id].get("viper.time") for spout in topology.spouts), None)


def _is_bounded(spout: ComponentSpec, traits: Traits) -> bool:
    if traits.bounded is None:
        raise LoadError(f"spout {spout.id!r} has no Python class here, so nobody knows whether it ends")
    return traits.bounded


def time_problems(topology: Topology, confs: Confs, traits: Mapping[str, Traits]) -> list[Problem]:
    """A problem for each spout that keeps a topology from running by one time.

    Args:
        topology: a valid topology.
        confs: each component's resolved configuration, by id.
        traits: of the spouts, by id.
    """
    without = [spout for spout in topology.spouts if not traits[spout.id].event_time]
    chosen = _configured(topology, confs)
    if chosen not in (None, TimeMode.EVENT):
        found = f"brings its rows by event time: expected viper.time event, found {chosen}"
        return [about(topology, s, found) for s in topology.spouts if traits[s.id].partitioned]
    if chosen or len(without) in (0, len(topology.spouts)):
        return []
    expected = "expected one for every spout or for none, or a choice of viper.time"
    message = f"declares no viper.timestamp.field, but others do: {expected}"
    return [about(topology, spout, message) for spout in without]


def deadlock_problems(
    topology: Topology, confs: Confs, traits: Mapping[str, Traits], time: TimeMode
) -> list[Problem]:
    """Bolts that ack their batches at ticks of event time, behind spouts that wait for these acks.

    Event time advances with the spouts' tuples only, and a spout emits none while as many of its tuples are
    pending as ``topology.max.spout.pending`` allows. So both would wait for each other.
    """
    waiting = [spout.id for spout in topology.spouts if _waits_for_acks(confs[spout.id])]
    if time is not TimeMode.EVENT or not waiting:
        return []
    message = (
        f"acks its batches at ticks of event time, which stands still while "
        f"{', '.join(map(repr, waiting))} waits for acks (topology.max.spout.pending): remove that bound, "
        "set viper.time to logical or ingest, or derive the bolt from TicklessBatchingBolt"
    )
    return [
        about(topology, bolt, message)
        for bolt in topology.bolts
        if confs[bolt.id]["topology.tick.tuple.freq.secs"] and traits[bolt.id].batching is Batching.TICKS
    ]


def _waits_for_acks(conf: Mapping[str, Any]) -> bool:
    return bool(conf["topology.max.spout.pending"]) and conf["topology.acker.executors"] != 0


def holds_back(conf: Mapping[str, Any]) -> bool:
    """True if a spout's configuration has its rows put in order, where they have event time."""
    return bool(conf["viper.timestamp.slack"] > 0 or conf[LATE] != "error")


def named_data(source: PartitionedSpout, conf: Mapping[str, Any]) -> str:
    """The name of the rows that a spout with partitions brings, which a place among them belongs to.

    Args:
        source: the spout, which names its data (`identity`).
        conf: its resolved configuration, which says in which order the rows come.
    """
    if not holds_back(conf):
        return source.identity
    return f"{source.identity} (viper.timestamp.slack {conf['viper.timestamp.slack']:g}, late: {conf[LATE]})"


def with_late_streams(topology: Topology, settings: Settings) -> Topology:
    """Return the same topology, in which each partitioned spout declares the stream for its late rows.

    ``viper.timestamp.late`` names that stream, and may be set outside the topology, too.

    Args:
        topology: any topology.
        settings: its settings.
    """
    with importable(topology.import_paths):
        components = tuple(_declaring(topology, settings, component) for component in topology.components)
    return replace(topology, components=components) if components != topology.components else topology


def _declaring(topology: Topology, settings: Settings, component: ComponentSpec) -> ComponentSpec:
    late = component_conf(settings, topology, component)[LATE]
    if not component.outputs or not _is_partitioned(component):
        return component
    return replace(component, outputs=with_late_stream(component.outputs, late))


def _is_partitioned(component: ComponentSpec) -> bool:
    try:
        return issubclass(class_of(component), PartitionedSpout)
    except LoadError:
        return False
