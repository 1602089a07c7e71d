"""The machine that a profile was measured on, as far as it is known, for people who compare profiles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache of some cores."""

    level: int
    size: int
    """Bytes."""
    cpus: tuple[int, ...]
    """The processors that share it, as Linux numbers them, ascending."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """The way of a cache line between two processors."""

    first: int
    second: int
    ns: float
    """Nanoseconds until a change that one of them makes is seen by the other one."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """Processors that were used, with what they share."""

    model: str
    """As the processor calls itself; empty where that is not known."""
    cpus: tuple[int, ...]
    """The processors that the profile's runs could use, ascending."""
    caches: tuple[Cache, ...] = ()
    """The caches that several of them share, or could."""
    crossings: tuple[Crossing, ...] = ()
    """Each pair that was measured; none where there is one processor only."""
