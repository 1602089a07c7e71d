"""The machine that a plan is for: places with cores, and what it costs to bring a tuple to another one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where tasks run: a worker, whose tasks share one thread, or a socket."""

    cores: int = 1
    """How many tasks can run at once."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Places, and the way between each two of them."""

    places: tuple[Place, ...]
    cores: int
    """Of all places together: workers may be more than there are processors."""
    fetch_ns: tuple[tuple[float, ...], ...] = ()
    """Nanoseconds that a consumer waits for each cache line of a tuple, by the producer's place and by its
    own; empty: nowhere any."""
    line: int = 64
    """Bytes of a cache line."""

    @classmethod
    def of_workers(cls, workers: int, cores: int) -> Machine:
        """Workers of one thread each, on so many cores that are all alike."""
        return cls((Place(),) * workers, cores)

    def fetch(self, producer: int, consumer: int, size: float) -> float:
        """Nanoseconds that a consumer waits for a tuple of so many bytes.

        Args:
            producer: index of its place.
            consumer: index of the consumer's place.
            size: bytes.
        """
        if not self.fetch_ns or producer == consumer:
            return 0.0
        return -(-size // self.line) * self.fetch_ns[producer][consumer]
