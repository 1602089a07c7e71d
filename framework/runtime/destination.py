"""The way from one producing task to one consuming task."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from framework.errors import EmitError
from viper.channel import Source
from viper.position import Positions

Row = tuple[Any, ...]
MAX_WAITING = 1_000_000
"""Most rows that may wait on one way through a cycle."""


class TaggedRows(list[Row]):
    """The payload of a jumbo tuple whose rows belong to several streams."""

    __slots__ = ("tags",)

    def __init__(self, rows: Iterable[Row], tags: array[int]) -> None:
        super().__init__(rows)
        self.tags = tags
        """For each row the index of its stream among the producer's outputs."""


class Destination:
    """Gathers rows for one consuming task and hands them over as jumbo tuples.

    Rows come in the order of their positions. What the channel has no room for waits
    here, and the producing task is not run until it has gone.
    """

    def __init__(self, task: int, source: Source, jumbo_size: int, tagged: bool) -> None:
        self.task = task
        """Id of the consuming task."""
        self.source = source
        self.positions = Positions()
        self.rows: list[Row] = []
        self._tags: array[int] | None = array("H") if tagged else None
        self._jumbo_size = jumbo_size
        self._spare = Positions()

    def put(self, rows: list[Row], tags: Iterable[int] = ()) -> None:
        """Append rows whose positions have been appended to `positions` already."""
        # Joined anew, not in place: other destinations may hold the same list.
        self.rows = self.rows + rows if self.rows else rows
        if self._tags is not None:
            self._tags.extend(tags)

    def flush(self) -> bool:
        """Hand over everything; False if the channel has no room for all of it."""
        first, count = 0, len(self.rows)
        while first < count:
            size = min(count - first, self._jumbo_size)
            if not self.source.add(self._payload(first, size), self.positions, first, size):
                break
            first += size
        if first:
            self._drop(first)
        return first == count

    def _payload(self, first: int, size: int) -> list[Row]:
        end = first + size
        if self._tags is not None:
            return TaggedRows(self.rows[first:end], self._tags[first:end])
        return self.rows if size == len(self.rows) else self.rows[first:end]

    def _drop(self, count: int) -> None:
        kept = len(self.rows) - count
        self.rows = self.rows[count:]  # a new list: the old one may have been handed over
        if self._tags is not None:
            del self._tags[:count]
        if kept:
            self._spare.extend_from(self.positions, count, kept)
        self.positions.clear()
        self.positions, self._spare = self._spare, self.positions


class CyclicDestination(Destination):
    """A way that is part of a cycle: it never holds its producer up, or the cycle would stand still."""

    def put(self, rows: list[Row], tags: Iterable[int] = ()) -> None:
        """As in the base class.

        Raises:
            EmitError: more waits than may.
        """
        super().put(rows, tags)
        if len(self.rows) > MAX_WAITING:
            raise EmitError(
                f"{len(self.rows):,} tuples wait for task {self.task}: "
                "the cycle emits more than it can process"
            )

    def flush(self) -> bool:
        """Hand over what there is room for; the rest waits."""
        super().flush()
        return True
