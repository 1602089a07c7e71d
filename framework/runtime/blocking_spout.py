"""The task of a spout that blocks: while its thread is away in a callback, another one speaks for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from framework.runtime.spout_task import SpoutTask

T = TypeVar("T")

PERIOD_S = 0.005
"""Seconds between two words that are put in for spouts that are away."""


class BlockingSpoutTask(SpoutTask):
    """Runs one task of a spout on a thread of its own.

    A live source's time goes on while it waits for something to emit, or all who merge its tuples
    with others' would wait with it. Its own thread cannot say so then. All that is done with the
    task's output is done by who holds `_present`: its own thread, but for the time that it is away.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._present = threading.Lock()
        self._present.acquire()
        self._is_away = False

    @property
    def is_live(self) -> bool:
        """Whether its time goes on while nothing is emitted."""
        return self._clock.is_live

    def pass_time_for_it(self) -> None:
        """Let its time go on, if its thread is away; to be called by another one."""
        if self._present.acquire(blocking=False):
            try:
                self.pass_time()
            finally:
                self._present.release()

    def _away(self, call: Callable[[], T]) -> T:
        self._is_away = True
        self._present.release()
        try:
            return call()
        finally:
            self._present.acquire()
            self._is_away = False

    def _back(self, call: Callable[[], T]) -> T:
        """Do something in the middle of a callback, or outside of one."""
        if not self._is_away:
            return call()
        with self._present:
            return call()

    @property
    def _next_tuple(self) -> Callable[[], None]:
        return partial(self._away, super()._next_tuple)

    def _draw(self, generator: Iterator[Any], count: int) -> None:
        super()._draw(self._drawn(generator), count)

    def _drawn(self, generator: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while (values := self._away(lambda: next(generator, end))) is not end:
            yield values

    def _spill(self) -> None:
        self._back(super()._spill)

    def _place_and_tell(self) -> list[int]:
        return self._back(super()._place_and_tell)


@contextmanager
def speaking_for(spouts: Iterable[BlockingSpoutTask]) -> Iterator[None]:
    """For as long as the block runs, let the time of live sources go on while they are away."""
    live = [spout for spout in spouts if spout.is_live]
    if not live:
        yield
        return
    over = threading.Event()

    def speak() -> None:
        while not over.wait(PERIOD_S):
            for spout in live:
                spout.pass_time_for_it()

    speaking = threading.Thread(target=speak, name="viper-live-time", daemon=True)
    speaking.start()
    try:
        yield
    finally:
        over.set()
        speaking.join()
