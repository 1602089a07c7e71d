"""Watches the callbacks of a process: which of them take long, and on request where all of them are."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from framework.log import Origin, speaking_as
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.stacks import Stack, stack_of
from framework.runtime.tasks.task import Task

log = logging.getLogger("viperstorm.worker")

PERIOD_S = 1.0
"""Seconds between two looks; nothing is measured between them, so times are right to a second."""
_NEVER_COUNTED: Mapping[str, Any] = {"viper_key": None}
"""What such a record has that the log does not take it for one more of the same."""


@dataclass(slots=True)
class _Call:
    """A callback that runs, as it was seen."""

    running: Task
    which: tuple[int, ...]
    """Numbers of which one is another in the next callback."""
    done: tuple[int, ...]
    """Numbers of which one is another when it has emitted, or has had to wait for room."""
    began_s: float
    """When it was seen first."""
    still_since_s: float
    """When it was seen first without having done anything since."""
    told: str = ""
    """The callback's name, if it has been told that it takes long."""


class Watch:
    """Looks at the callbacks of a process's executors now and then, and tells of those that take long.

    Nothing is done to them. What a callback emits shows that it gets on, so only the time without counts.

    Args:
        executors: by the identifiers of their threads; may grow meanwhile.
        stuck_after_s: by component, seconds from which on a callback is told; None or 0 for never.
    """

    def __init__(self, executors: Mapping[int, Executor], stuck_after_s: Mapping[str, float | None]) -> None:
        self._executors = executors
        self._stuck_after_s = stuck_after_s
        self._period_s = PERIOD_S if any(stuck_after_s.values()) else -1.0
        self._calls: dict[int, _Call] = {}
        self._over = self._asked = False
        # Held but while the watch has been woken: a lock can be released in a signal handler, whatever that
        # has interrupted, where an event could wait for itself.
        self._asleep = threading.Lock()
        self._asleep.acquire()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """For as long as the block runs, a thread looks."""
        thread = threading.Thread(target=self._run, name="viper-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over = True
            self._wake()
            thread.join()

    def ask(self) -> None:
        """Have all stacks told soon; safe in a signal handler."""
        self._asked = True
        self._wake()

    def look(self, now: float) -> None:
        """Look at all callbacks.

        Args:
            now: monotonic time in seconds.
        """
        for thread, executor in list(self._executors.items()):
            before, running = self._calls.pop(thread, None), executor.current
            call = _seen(executor, running, now) if running is not None else None
            if before is not None and before.told and not _is_same(before, call):
                _tell_return(before, now)
            if call is not None:
                self._calls[thread] = _continued(before, call)
                self._tell_if_stuck(thread, self._calls[thread], now)

    def tell_stacks(self) -> None:
        """Tell where all tasks are that are in a callback right now."""
        told = 0
        for thread, executor in list(self._executors.items()):
            running = executor.current
            stack = stack_of(thread, Executor.call.__code__) if running is not None else None
            if running is not None and stack is not None:
                told += 1
                _log(running, logging.WARNING, "%s is in %s:\n%s", running.name, stack.callback, stack.text)
        if not told:
            log.warning("no task is in a callback", extra=_NEVER_COUNTED)

    # -- inside

    def _run(self) -> None:
        while True:
            self._asleep.acquire(timeout=self._period_s)
            over = self._over  # asked before the last look, which tells what has returned
            if self._asked:
                self._asked = False
                self.tell_stacks()
            self.look(time.monotonic())
            if over:
                return

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has been released already
            self._asleep.release()

    def _tell_if_stuck(self, thread: int, call: _Call, now: float) -> None:
        after_s = self._stuck_after_s.get(call.running.context.spec.component)
        if call.told or not after_s or now - call.still_since_s < after_s:
            return
        if call.running.waits_for_world:
            return  # there may be nothing to bring for hours
        stack = stack_of(thread, Executor.call.__code__)
        if stack is not None and not stack.in_debugger:
            call.told = stack.callback
            _tell_stuck(call, stack, now)


def _seen(executor: Executor, running: Task, now: float) -> _Call:
    counters, waiting = running.context.counters, running.slot.waiting_rows
    begun = running.last_begun
    return _Call(
        running,
        which=(executor.calls, counters.ticks, begun),
        done=(executor.turns, executor.rests, counters.emitted + waiting),
        began_s=now,
        still_since_s=now,
    )


def _is_same(before: _Call | None, call: _Call | None) -> bool:
    """Whether two looks have seen the same callback."""
    return (
        before is not None
        and call is not None
        and ((before.running, before.which) == (call.running, call.which))
    )


def _continued(before: _Call | None, call: _Call) -> _Call:
    """What is known of a callback now, given what was seen before."""
    if before is not None and _is_same(before, call):
        call.began_s, call.told = before.began_s, before.told
        if before.done == call.done:
            call.still_since_s = before.still_since_s
    return call


def _tell_stuck(call: _Call, stack: Stack, now: float) -> None:
    name, still_s = call.running.name, now - call.still_since_s
    message = "%s has been in %s for %.0f s:\n%s"
    _log(call.running, logging.WARNING, message, name, stack.callback, still_s, stack.text)


def _tell_return(call: _Call, now: float) -> None:
    message = "%s returned from %s after %.0f s"
    _log(call.running, logging.INFO, message, call.running.name, call.told, now - call.began_s)


def _log(running: Task, level: int, message: str, *args: object) -> None:
    with speaking_as(Origin(running.context.spec.component, running.context.spec.id)):
        running.context.logger.log(level, message, *args, extra=_NEVER_COUNTED)
