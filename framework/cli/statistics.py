"""What went through a run's channels, and how busy its workers were, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from framework.cli.table import table

if TYPE_CHECKING:
    from framework.runtime import RunStatistics
    from framework.runtime.metrics.statistics import ChannelStatistics


def statistics_lines(statistics: RunStatistics) -> Iterator[str]:
    """Two tables."""
    header = ("from", "to", "tuples", "jumbos", "bytes", "runs", "blocked s", "waiting", "held by")
    yield from table(header, [row for channel in statistics.channels for row in _rows(channel)])
    yield ""
    rows = [
        (e.worker, " ".join(e.tasks), e.turns, e.rests, f"{e.rested_s:.3f}", f"{e.cpu_s:.3f}")
        for e in statistics.executors
    ]
    yield from table(("worker", "runs", "turns", "rests", "rested s", "CPU s"), rows)
    if statistics.states:
        yield ""
        states = [(s.component, s.state, s.per, s.keys, s.bytes) for s in statistics.states]
        yield from table(("state of", "name", "per", "keys", "bytes of all"), states)


def _rows(channel: ChannelStatistics) -> Iterator[tuple[object, ...]]:
    for reader in channel.readers:
        for source in channel.sources:
            yield (
                *(source.task, reader.task, source.tuples, source.jumbos, source.payload_bytes, reader.runs),
                f"{source.blocked_s:.3f}",
                reader.waiting[source.task],
                reader.held_by or "",
            )
