"""Channels: all that one task consumes, from several producing tasks, in position order.

A channel has one ring per source and one reader, which merges them. A tuple is delivered when no
source can still add one that belongs before it, so the sequence that a reader sees is a function of
what the sources add: (position, index of the source), ascending.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena
from viper.position import Position, Positions
from viper.ring import Heartbeats, Source

__all__ = ["Channel", "ChannelStatistics", "Heartbeats", "Run", "Source", "SourceStatistics"]

_MAX_RUNS: Final = 1024
_RUN: Final = Struct("=4I")


Run = tuple[int, Any, int, int]
"""A stretch of one jumbo tuple: the index of its source, the payload that the source handed over,
whole, the index of the stretch's first tuple in it, and the number of its tuples. A plain tuple,
because finely interleaved sources make one of every few tuples, and a named one costs 200 ns more."""


@dataclass(frozen=True, slots=True)
class SourceStatistics:
    """One source of a channel: what was added, and what was delivered of it."""

    added_jumbos: int
    """Jumbo tuples added, ever."""
    added_tuples: int
    """Tuples added, ever."""
    refused: int
    """Adds that found the channel full, ever."""
    delivered_tuples: int
    """Tuples delivered, ever."""
    runs: int
    """Runs that they were delivered in: many short ones mean that sources interleave."""
    waiting_jumbos: int
    """Jumbo tuples in the channel now, those delivered in part included."""
    waiting_tuples: int
    """Tuples in the channel now."""


@dataclass(frozen=True, slots=True)
class ChannelStatistics:
    """A channel, source by source."""

    slots: int
    """Jumbo tuples that each source has room for."""
    tuples: int
    """Tuples that each source has room for."""
    sources: tuple[SourceStatistics, ...]
    """By index."""


class Channel:
    """What one task consumes.

    Args:
        arena: where its memory comes from.
        sources: number of producing tasks, at least 1; their indexes break ties.
        slots: jumbo tuples that each source has room for, rounded up to a power of two.
        tuples: tuples that each source has room for, likewise; no jumbo tuple may have more.

    Raises:
        ArenaError: the arena has no room for it.
        ValueError: fewer than 1 source, slot or tuple, or more than 2**31.
    """

    def __init__(self, arena: Arena, sources: int, *, slots: int, tuples: int) -> None:
        region = arena.allocate(self.size(sources, slots, tuples))
        step = _ring_size(slots, tuples)
        at = ffi.cast("char *", region)
        rings = [lib.vp_ring_format(at + index * step, slots, tuples) for index in range(sources)]
        self._sources = [Source(index, ring, arena) for index, ring in enumerate(rings)]
        merge = lib.vp_merge_new(rings, sources)
        if not merge:
            raise MemoryError(f"no memory for a merge of {sources} sources")
        self._merge: Any = ffi.gc(merge, lib.vp_merge_free)
        self._payloads = [source._payloads for source in self._sources]
        self._runs = ffi.new("vp_run[]", _MAX_RUNS)
        self._run_bytes = memoryview(ffi.buffer(self._runs))
        self._take = lib.vp_merge_take
        self._release = lib.vp_merge_release

    @staticmethod
    def size(sources: int, slots: int, tuples: int) -> int:
        """Bytes that a channel takes of an arena."""
        for name, found in (("sources", sources), ("slots", slots), ("tuples", tuples)):
            if not 1 <= found <= 2**31:
                raise ValueError(f"{name}={found!r}: expected 1 to 2**31")
        return sources * _ring_size(slots, tuples)

    def source(self, index: int) -> Source:
        """The producing end for one source."""
        return self._sources[index]

    def get_ready(self, limit: int, into: Positions) -> list[Run]:
        """Deliver up to `limit` tuples that are ready, in order.

        Their positions are appended to `into`, run after run. What is returned may be less than what
        is ready; it is empty only if nothing is, or `limit` is 0.
        """
        made = self._take(self._merge, into._handle, limit, self._runs, _MAX_RUNS)
        if made <= 0:
            if made < 0:
                raise MemoryError("no memory for more positions")
            return []
        runs: list[Run] = []
        for source, slot, first, count in _RUN.iter_unpack(self._run_bytes[: made * _RUN.size]):
            payloads = self._payloads[source]
            payload = payloads[slot]
            if first + count == len(payload):
                payloads[slot] = None  # delivered to its end
            runs.append((source, payload, first, count))
        self._release(self._merge)
        return runs

    def ready(self) -> bool:
        """Whether `get_ready` would deliver anything."""
        return bool(lib.vp_merge_ready(self._merge))

    def frontier(self) -> Position:
        """The smallest position that can still be delivered; END when it is drained."""
        frontier = lib.vp_merge_frontier(self._merge)
        return Position(frontier.ts, frontier.hi, frontier.lo)

    def drained(self) -> bool:
        """Whether all sources were closed and everything was delivered."""
        return bool(lib.vp_merge_drained(self._merge))

    def holding_source(self) -> int | None:
        """The source that keeps the channel from delivering, because it may still add what comes next.

        None while a tuple is ready, and when the channel is drained.
        """
        found = lib.vp_merge_holding(self._merge)
        return None if found < 0 else int(found)

    def statistics(self) -> ChannelStatistics:
        """What has passed, and what waits now."""
        ring = self._sources[0]._ring
        return ChannelStatistics(
            slots=lib.vp_ring_slots(ring),
            tuples=lib.vp_ring_tuples(ring),
            sources=tuple(self._source_statistics(source) for source in self._sources),
        )

    def _source_statistics(self, source: Source) -> SourceStatistics:
        delivered = lib.vp_merge_statistics(self._merge, source.index)
        ring = lib.vp_ring_statistics(source._ring)
        return SourceStatistics(
            added_jumbos=ring.added_jumbos,
            added_tuples=ring.added_tuples,
            refused=ring.refused,
            delivered_tuples=delivered.tuples,
            runs=delivered.runs,
            waiting_jumbos=ring.added_jumbos - ring.released_jumbos,
            waiting_tuples=ring.added_tuples - delivered.tuples,
        )


def _ring_size(slots: int, tuples: int) -> int:
    return int(lib.vp_arena_rounded(lib.vp_ring_size(slots, tuples)))
