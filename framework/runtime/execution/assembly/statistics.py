"""Reads the statistics of a run's channels, as values that can be shown and sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framework.planning import Plan
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.ways import Way
from framework.runtime.observation.statistics import (
    ChannelStatistics,
    ReaderStatistics,
    SourceStatistics,
    TakenStatistics,
)
from viper.statistics import GateStatistics


def channel_statistics(plan: Plan, network: Network) -> Sequence[ChannelStatistics]:
    """The statistics of all channels of a run, whichever process their tasks are in.

    It may be called from any thread. The counts are read one after the other while tuples flow, so they are
    not all of the same moment.
    """
    names = [f"{task.component}:{task.id}" for task in plan.tasks]  # ids are from 1 on
    found = []
    for way, gate in network.statistics():
        sources = [names[source - 1] for source in way[0]]
        adding = [
            SourceStatistics(
                task=name,
                tuples=added.added_tuples,
                jumbos=added.added_jumbos,
                payload_bytes=added.added_bytes,
                refused=added.refused,
                blocked_s=added.blocked_ns / 1e9,
                encoded=added.added_tuples if network.encodes(source, way[1]) else 0,
            )
            for name, source, added in zip(sources, way[0], gate.sources, strict=True)
        ]
        reading = [
            ReaderStatistics(
                task=names[task - 1],
                delivered=sum(source.delivered_tuples for source in taken.sources),
                runs=sum(source.runs for source in taken.sources),
                waiting={s: d.waiting_tuples for s, d in zip(sources, taken.sources, strict=True)},
                held_by=None if taken.holding is None else sources[taken.holding],
                taken=dict(zip(sources, _taken(network, way, gate, index), strict=True)),
            )
            for index, (task, taken) in enumerate(zip(way[1], gate.readers, strict=True))
        ]
        found.append(ChannelStatistics(adding, reading, gate.tuples))
    return found


def _taken(network: Network, way: Way, gate: GateStatistics, reader: int) -> Iterator[TakenStatistics]:
    """What a reader, by its index at a gate, has taken of each source."""
    for source, added, taken in zip(way[0], gate.sources, gate.readers[reader].sources, strict=True):
        yield TakenStatistics(
            tuples=taken.delivered_tuples,
            runs=taken.runs,
            jumbos=max(added.added_jumbos - taken.waiting_jumbos, 0),
            decoded=taken.delivered_tuples if network.decodes(source, way[1][reader]) else 0,
        )
