"""The machine that a plan is for: places with cores, and what it costs to bring a tuple to another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place where tasks run: a worker, whose tasks share one thread, or a socket."""

    cores: int = 1
    """The number of tasks that can run at once."""


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
    bandwidth: tuple[tuple[float, ...], ...] = ()
    """Bytes a second: from one place to another, and on the diagonal those of a place's own memory; empty:
    neither is limited."""

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

    def moving(self, moved: Mapping[tuple[int, int], float]) -> Iterator[tuple[float, str]]:
        """Yield the times for moving these bytes: nanoseconds, and over which way, for people.

        Args:
            moved: bytes by the index of the place that they come from, and of that where they are needed.
        """
        if self.bandwidth:
            for (place, other), size in moved.items():
                way = f"memory of place {place + 1}" if place == other else f"way {place + 1} to {other + 1}"
                yield size / self.bandwidth[place][other] * 1e9, way
