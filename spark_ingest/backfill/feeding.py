"""Feeds a bolt with recorded tuples, by stand-ins for the tasks that emitted them."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from framework.model.positions import LEAST, Position, Positions
from framework.recording import Emission, Rows
from spark_ingest.backfill.wire import Row

_AHEAD = 2
"""Batches' worth of rows that may wait for others to be asked for theirs."""


class Arrival(NamedTuple):
    """One row on its way into a bolt."""

    position: Position
    source: int
    """Index of the component that it comes from."""
    tag: int
    """Index of its stream among those of that component."""
    values: Row


class Arrivals:
    """All that one shard receives, divided among those that bring it.

    Args:
        batches: rows in the order of their positions.
        sources: number of the components that they come from.
    """

    def __init__(self, batches: Iterator[Sequence[Arrival]], sources: int) -> None:
        self._batches = batches
        self.waiting: tuple[deque[Arrival], ...] = tuple(deque() for _ in range(sources))
        """For each source what has been read for it."""
        self.last = LEAST
        """Position of the last row that was read: later rows have later ones."""
        self.ended = False
        """True if all has been read."""
        self._largest = 1

    def read(self) -> None:
        """Read one more batch, unless too many rows wait already, which others bring."""
        if self.ended or sum(map(len, self.waiting)) > _AHEAD * self._largest:
            return
        batch = next(self._batches, None)
        if batch is None:
            self.ended = True
            return
        for arrival in batch:
            self.waiting[arrival.source].append(arrival)
        if batch:
            self.last = batch[-1].position
            self._largest = max(self._largest, len(batch))


class Bringer:
    """Brings the rows of one source; stands in for what a recording has of a task.

    Args:
        arrivals: what the shard receives.
        source: which of the sources it is.
        tagged: whether the source has several streams.
    """

    def __init__(self, arrivals: Arrivals, source: int, tagged: bool) -> None:
        self._arrivals = arrivals
        self._mine = arrivals.waiting[source]
        self._tagged = tagged

    @property
    def exhausted(self) -> bool:
        """True if there is no more."""
        return self._arrivals.ended and not self._mine

    @property
    def frontier(self) -> Position:
        """Nothing that comes later has a smaller position."""
        return self._mine[0].position if self._mine else self._arrivals.last

    def take(self, limit: int) -> Emission:
        """The next rows, at most so many; none where others have to bring theirs first."""
        if not self._mine:
            self._arrivals.read()
        taken = [self._mine.popleft() for _ in range(min(limit, len(self._mine)))]
        positions = Positions()
        for arrival in taken:
            positions.append(arrival.position)
        tags = array("H", [arrival.tag for arrival in taken]).tobytes() if self._tagged else None
        # Unpickled here, the values are nobody else's.
        return Emission(Rows([arrival.values for arrival in taken]), tags, positions)


def bringers(arrivals: Arrivals, tagged: Mapping[str, bool]) -> Mapping[str, Bringer]:
    """One for each source, by its component's id, in the order of their indexes."""
    return {source: Bringer(arrivals, i, many) for i, (source, many) in enumerate(tagged.items())}
