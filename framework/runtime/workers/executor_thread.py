"""A thread that calls what it is given, one call after the other."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future


class Lane:
    """One thread. It does not keep the process alive, as a call may never return."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], None], Future[None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()
        self.left_behind = False
        """Whether its last call is not waited for any more: it takes no others."""

    def call(self, callback: Callable[[], None]) -> Future[None]:
        """Have something called when everything before it has returned."""
        future: Future[None] = Future()
        self._calls.put((callback, future))
        return future

    def end(self) -> None:
        """End the thread, once its last call has returned."""
        self._calls.put(None)
        if not self.left_behind:
            self._thread.join()

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            callback, future = item
            try:
                callback()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(None)
            del callback, future, item  # what they refer to is not to live until the next call
