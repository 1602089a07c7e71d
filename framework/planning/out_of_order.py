"""Spouts whose rows may come out of order: the stream of late rows, and what a run goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from framework.model.config import Settings, component_conf
from framework.model.errors import LoadError
from framework.model.importing import importable
from framework.model.specs import LATE, with_late_stream
from framework.model.topology import ComponentSpec, Topology
from framework.operators.components import PartitionedSpout
from framework.planning.traits import class_of


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
    """The same topology, in which each partitioned spout declares the stream that its late rows go to.

    Where they go is said by ``viper.timestamp.late``, which may be set outside the topology, too.

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
