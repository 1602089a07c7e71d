"""Topologies that would come to a standstill: a spout waits for acks that wait for the spout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.planning.time_mode import TimeMode
from framework.topology import ComponentSpec, Problem, PythonImplementation, Topology
from framework.traits import batches_by_ticks, class_of


def standstill_problems(
    topology: Topology, confs: Mapping[str, Mapping[str, Any]], time: TimeMode
) -> list[Problem]:
    """Bolts that ack their batches at ticks of event time, behind spouts that stop until they do.

    Event time goes on with the spouts' tuples only, and a spout with so many tuples in flight as
    ``topology.max.spout.pending`` allows brings no more of them.
    """
    bounded = [spout.id for spout in topology.spouts if _waits_for_acks(confs[spout.id])]
    if time is not TimeMode.EVENT or not bounded:
        return []
    return [
        Problem(topology.sources.at("components", bolt.id), _held_up(bolt, bounded))
        for bolt in topology.bolts
        if confs[bolt.id]["topology.tick.tuple.freq.secs"] and _batches_by_ticks(bolt)
    ]


def _waits_for_acks(conf: Mapping[str, Any]) -> bool:
    return bool(conf["topology.max.spout.pending"]) and conf["topology.acker.executors"] != 0


def _batches_by_ticks(bolt: ComponentSpec) -> bool:
    return isinstance(bolt.implementation, PythonImplementation) and batches_by_ticks(class_of(bolt))


def _held_up(bolt: ComponentSpec, spouts: list[str]) -> str:
    names = ", ".join(map(repr, spouts))
    return (
        f"bolt {bolt.id!r} acks its batches at ticks of event time, which stands still while "
        f"{names} waits for acks (topology.max.spout.pending): remove that bound, set viper.time to "
        "logical or ingest, or derive the bolt from TicklessBatchingBolt"
    )
