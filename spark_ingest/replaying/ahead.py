"""Reading on threads beside the one that needs what is read."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_THREADS = 3
"""To decode a row of five columns takes 45 to 60 ns, and the task's own thread needs 20 to 25 for it: more
threads would only wait."""


class Ahead:
    """Draws from generators ahead of its consumer, on threads that all of them share.

    Decoding is most of what a replay as columns costs, and a quarter of one as rows. If no core is idle,
    nothing is lost. The time that a disk takes is gained as well.

    Args:
        consumers: how many calls of `of` are drawn from side by side.
        threads: how many there are; None: one for each processor, up to `MOST_THREADS`.
    """

    def __init__(self, consumers: int = 1, threads: int | None = None) -> None:
        count = threads or min(MOST_THREADS, os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(count, "spark-replay")  # whose threads start with the first items
        self._width = 1 + -(-count // max(consumers, 1))

    def of(self, parts: Generator[Generator[T]]) -> Generator[T]:
        """The items of generators, one generator after the other, and what these raise.

        One item is ready of the generator that is drawn from, and of as many after it as there are threads.
        Whatever has been begun is closed with this one.
        """
        upcoming = _Lane(self._pool, parts)
        lanes: deque[_Lane[T]] = deque()
        with ExitStack() as closing:
            closing.callback(upcoming.close)
            closing.callback(lambda: _close_all(lanes))
            while self._fill(lanes, upcoming):
                item = lanes[0].take()
                if item is None:
                    lanes.popleft().close()
                else:
                    yield item

    def close(self) -> None:
        """End the threads, once all items have been drawn or their generators closed."""
        self._pool.shutdown()

    def _fill(self, lanes: deque[_Lane[T]], upcoming: _Lane[Generator[T]]) -> bool:
        """Begin as many generators as there are threads for; whether there is any left."""
        while len(lanes) < self._width and not (lanes and upcoming.has_failed):
            part = upcoming.take()
            if part is None:
                break
            lanes.append(_Lane(self._pool, part))
        return bool(lanes)


def _close_all(lanes: Iterable[_Lane[T]]) -> None:
    """Close each, also where another one raises."""
    with ExitStack() as closing:
        for lane in lanes:
            closing.callback(lane.close)


class _Lane(Generic[T]):
    """One generator, whose next item a thread is drawing."""

    def __init__(self, pool: ThreadPoolExecutor, items: Generator[T]) -> None:
        self._pool = pool
        self._items = items
        self._following = pool.submit(next, items, None)

    def take(self) -> T | None:
        """The next item; None for the end, however often it is asked for."""
        item = self._following.result()
        if item is not None:
            self._following = self._pool.submit(next, self._items, None)
        return item

    @property
    def has_failed(self) -> bool:
        """True if `take` will raise, which is to come after all that was taken before."""
        return self._following.exception() is not None

    def close(self) -> None:
        """Draw no more, and close the generator."""
        if not self._following.cancel():
            wait([self._following])
        self._items.close()
