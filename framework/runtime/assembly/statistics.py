"""Reads the statistics of a run's channels, as values that can be shown and sent."""

from __future__ import annotations

from collections.abc import Sequence

from framework.planning import Plan
from framework.runtime.assembly.network import Network
from framework.runtime.metrics.statistics import ChannelStatistics, ReaderStatistics, SourceStatistics


def channel_statistics(plan: Plan, network: Network) -> Sequence[ChannelStatistics]:
    """The statistics of all channels of a run, whichever process their tasks are in.

    It may be called from any thread. The counts are read one after the other while tuples flow, so they are
    not all of the same moment.
    """
    names = {task.id: f"{task.component}:{task.id}" for task in plan.tasks}
    found = []
    for (sources, readers), gate in network.statistics():
        adding = [
            SourceStatistics(
                task=names[task],
                tuples=added.added_tuples,
                jumbos=added.added_jumbos,
                payload_bytes=added.added_bytes,
                refused=added.refused,
                blocked_s=added.blocked_ns / 1e9,
            )
            for task, added in zip(sources, gate.sources, strict=True)
        ]
        reading = [
            ReaderStatistics(
                task=names[task],
                delivered=sum(source.delivered_tuples for source in taken.sources),
                runs=sum(source.runs for source in taken.sources),
                waiting={names[s]: d.waiting_tuples for s, d in zip(sources, taken.sources, strict=True)},
                held_by=None if taken.holding is None else names[sources[taken.holding]],
            )
            for task, taken in zip(readers, gate.readers, strict=True)
        ]
        found.append(ChannelStatistics(adding, reading, gate.tuples))
    return found
