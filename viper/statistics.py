"""Counts of the tuples that have passed a gate or wait in it; any process may read them at any time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceStatistics:
    """One source of a gate: what was added."""

    added_jumbos: int
    """Jumbo tuples added, ever."""
    added_tuples: int
    """Tuples added, ever."""
    added_bytes: int
    """Bytes of the payloads that were encoded for other processes, ever."""
    refused: int
    """Adds that found the gate full, ever."""
    blocked_ns: int
    """Time from a first refusal to the add that succeeded, or till now, ever, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class DeliveryStatistics:
    """Counts of the tuples of one source that one reader has received, and of those that wait for it."""

    delivered_tuples: int
    """Tuples delivered, ever."""
    runs: int
    """Runs that they were delivered in: many short ones mean that sources interleave."""
    waiting_jumbos: int
    """Jumbo tuples in the gate now, those delivered in part included."""
    waiting_tuples: int
    """Tuples in the gate now."""


@dataclass(frozen=True, slots=True)
class ReaderStatistics:
    """One reader of a gate."""

    holding: int | None
    """The source that it waited for when it last looked; None if it waited for none."""
    sources: tuple[DeliveryStatistics, ...]
    """By index."""
    claims: int = 0
    """The number of claims in which it got its tuples; 0 where each reader gets every tuple."""


@dataclass(frozen=True, slots=True)
class GateStatistics:
    """A gate, source by source and reader by reader."""

    slots: int
    """Jumbo tuples that each source has room for."""
    tuples: int
    """Tuples that each source has room for."""
    payload_bytes: int
    """Bytes that each source has room for."""
    sources: tuple[SourceStatistics, ...]
    """By index."""
    readers: tuple[ReaderStatistics, ...]
    """By index."""
