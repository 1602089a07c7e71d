"""The threads of a worker's executors: each calls what it is given, one call after the other."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from concurrent.futures import Future
from functools import partial

from framework.runtime.coordination.stop import DrainDeadline

log = logging.getLogger("viperstorm.worker")

LOOK_PERIOD_S = 0.1
"""Seconds between two looks at the clock while only other threads work."""
LAST_CALL_S = 1.0
"""Seconds that a callback in another thread may still take when the time is up; then it is left behind."""


class ExecutorThread:
    """One thread. It does not keep the process alive, as a call may never return."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], None], Future[None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()
        self._left_behind = False
        self._unfinished = False

    @property
    def left_behind(self) -> bool:
        """True if its last call is not waited for any more, so that it can take no others."""
        return self._left_behind

    @property
    def unfinished(self) -> bool:
        """True if that call has left work undone."""
        return self._unfinished

    def call(self, callback: Callable[[], None]) -> Future[None]:
        """Have something called when everything before it has returned."""
        future: Future[None] = Future()
        self._calls.put((callback, future))
        return future

    def leave_behind(self, *, unfinished: bool) -> None:
        """Wait for its last call no more.

        Args:
            unfinished: whether the call had something to do that is missing now.
        """
        self._left_behind = True
        self._unfinished = unfinished

    def end(self) -> None:
        """End the thread, unless it is left behind."""
        if not self._left_behind:
            self._calls.put(None)
            self._thread.join()

    def end_with(self, callback: Callable[[], None]) -> None:
        """Have something called in the thread's place if it has ended; or at its end if it is left behind."""
        if self._left_behind:
            self.call(callback)
            self._calls.put(None)
        else:
            callback()

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            callback, future = item
            try:
                callback()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(None)
            del callback, future, item  # so that what they refer to does not live until the next call


class ExecutorThreads:
    """The thread of each executor of a worker: the calling one for the first, one more for each other.

    Args:
        numbers: of the executors in the plan's placement, for the threads' names.
        deadline: when the run has to be over.
        in_callback: for an executor's index here, the name of its task that is in a callback, if one is.
        is_left: for such an index, whether that task was ended without its thread, as it only waited.
        on_look: called now and then while only other threads work, with the monotonic time in seconds.
    """

    def __init__(
        self,
        numbers: Sequence[int],
        deadline: DrainDeadline,
        in_callback: Callable[[int], str | None],
        is_left: Callable[[int], bool],
        on_look: Callable[[float], None],
    ) -> None:
        self._others = [ExecutorThread(f"viper-executor-{number}") for number in numbers[1:]]
        self._deadline = deadline
        self._in_callback = in_callback
        self._is_left = is_left
        self._on_look = on_look

    def everywhere(self, call: Callable[[int], None]) -> None:
        """Call something for each executor's index, in its thread, and wait for all.

        Raises:
            Exception: the first that was raised, once all have returned.
        """
        others = {thread: thread.call(partial(call, index)) for index, thread in enumerate(self._others, 1)}
        failure: Exception | None = None
        try:
            call(0)
        except Exception as error:
            failure = error
        self._wait_for(others)
        failures = [failure, *(future.exception() for future in others.values() if future.done())]
        try:
            for found in failures:
                if found is not None:
                    raise found
        finally:  # what is raised has this frame, which must not have it
            del failure, failures, found, others

    def in_thread(self, index: int, call: Callable[[], None]) -> None:
        """Call something in the thread of an executor, unless that was left behind; raises what it raises."""
        if index == 0:
            call()
        elif not self.left_behind(index):
            thread = self._others[index - 1]
            future = thread.call(call)
            self._wait_for({thread: future})
            try:
                if future.done():
                    future.result()
            finally:
                del future  # whose error has this frame

    def left_behind(self, index: int) -> bool:
        """True if a callback in the thread of an executor is not waited for any more."""
        return index > 0 and self._others[index - 1].left_behind

    @property
    def any_unfinished(self) -> bool:
        """True if one of the threads that were left behind has left work undone."""
        return any(thread.unfinished for thread in self._others)

    def end(self) -> None:
        """End all threads but those that are left behind."""
        for thread in self._others:
            thread.end()

    def end_with(self, calls: Mapping[int, Callable[[], None]]) -> None:
        """Behind `end`, call something for indexes of executors; where a callback is left behind, once that
        has returned."""
        for index, call in calls.items():
            if index == 0:
                call()
            else:
                self._others[index - 1].end_with(call)

    def _wait_for(self, others: Mapping[ExecutorThread, Future[None]]) -> None:
        while futures.wait(_awaited(others), LOOK_PERIOD_S).not_done:
            now = time.monotonic()
            self._on_look(now)
            self._leave_those_that_wait()
            if self._deadline.is_past(now, LAST_CALL_S):
                self._leave_behind()
                return

    def _leave_those_that_wait(self) -> None:
        """Leave spouts behind that wait for input which is not wanted any more: they ended without their
        threads."""
        for index, thread in enumerate(self._others, 1):
            if not thread.left_behind and self._is_left(index):
                thread.leave_behind(unfinished=False)
                log.info("%s still waits for input; it is left behind", self._in_callback(index))

    def _leave_behind(self) -> None:
        """Leave callbacks that do not return in threads that end with the process."""
        for index, thread in enumerate(self._others, 1):
            name = self._in_callback(index)
            if name is not None:
                thread.leave_behind(unfinished=True)
                log.warning("%s has not returned from a callback; it is left behind", name)


def _awaited(others: Mapping[ExecutorThread, Future[None]]) -> Sequence[Future[None]]:
    return [future for thread, future in others.items() if not thread.left_behind]
