"""Merge-sort of several sources, each of which is in order, as a user writes it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush, heapreplace
from typing import Any

from viper.position import LEAST

Place = tuple[int, int, int]
"""Where a tuple stands: its time, and the two words of its path."""
_NONE: tuple[Place, int] = ((2**63, 0, 0), 0)
"""Above every place: no source holds the others back."""


class MergeSort:
    """Passes a tuple on once no source can bring one any more that belongs before it.

    It keeps a queue for each source, and a heap of their first tuples. While all sources have a tuple in
    their queues, the first one of the heap goes; a source whose queue is empty holds the others back until it
    brings one, or has promised that what it brings lies behind.

    Args:
        sources: how many there are; their numbers break ties.
        emit: takes what is passed on: the number of its source, and what came with it.
    """

    def __init__(self, sources: int, emit: Callable[[int, Any], None]) -> None:
        self._emit = emit
        self._queues: Sequence[deque[tuple[Place, Any]]] = [deque() for _ in range(sources)]
        self._heads: list[tuple[Place, int]] = []
        self._promised: list[Place] = [LEAST] * sources
        """Of each source the place below which it brings nothing more."""
        self._limit: tuple[Place, int] = (LEAST, 0)
        """What lies below this can go: the least that a source with an empty queue may still bring."""

    def process(self, source: int, place: Place, values: Any) -> None:
        """Take a tuple, which stands behind all those that its source has brought before."""
        queue = self._queues[source]
        queue.append((place, values))
        if len(queue) == 1:
            heappush(self._heads, (place, source))
            self._find_limit()

    def promise(self, source: int, place: Place) -> None:
        """Take note that a source will bring nothing below a place."""
        self._promised[source] = place
        if not self._queues[source]:
            self._find_limit()

    def emit_ready(self, most: int) -> int:
        """Pass on what can go, at most so many tuples; returns how many."""
        heads, queues, emit = self._heads, self._queues, self._emit
        count = 0
        while count < most and heads and heads[0] < self._limit:
            source = heads[0][1]
            queue = queues[source]
            emit(source, queue.popleft()[1])
            count += 1
            if queue:
                heapreplace(heads, (queue[0][0], source))
            else:
                heappop(heads)
                self._find_limit()
        return count

    def take_back(self, source: int, taken: Sequence[tuple[Place, Any]]) -> None:
        """Tuples of a source come again that were passed on last, before all that wait of it."""
        queue = self._queues[source]
        queue.extendleft(reversed(taken))
        self._heads = [(each[0][0], number) for number, each in enumerate(self._queues) if each]
        self._heads.sort()
        self._find_limit()

    @property
    def is_ready(self) -> bool:
        """Whether a tuple can go."""
        return bool(self._heads) and self._heads[0] < self._limit

    @property
    def next(self) -> Place:
        """Nothing below this will be passed on any more."""
        limit = self._limit[0]
        return min(self._heads[0][0], limit) if self._heads else limit

    @property
    def holding(self) -> int:
        """The source that holds the others back."""
        return self._limit[1]

    def waiting(self, source: int) -> int:
        """How many tuples of a source wait."""
        return len(self._queues[source])

    def _find_limit(self) -> None:
        empty = [(self._promised[n], n) for n, queue in enumerate(self._queues) if not queue]
        self._limit = min(empty, default=_NONE)
