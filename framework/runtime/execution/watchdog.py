"""The watchdog of a process: it tells which callbacks take long, and on request where all tasks are."""

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
from framework.runtime.metrics.statistics import LongCallback
from framework.runtime.tasks.task import Task

log = logging.getLogger("viperstorm.worker")

PERIOD_S = 1.0
"""Seconds between two looks; nothing is measured between them, so times are right to a second."""
LONG_S = 1.0
"""Seconds from which on a callback is shown in progress. A shorter one cannot be told from none."""
_NEVER_COUNTED: Mapping[str, Any] = {"viper_key": None}
"""Marks a record that the log is not to count as a repetition of the one before."""


@dataclass(slots=True)
class _Call:
    """A callback that runs, as the watchdog has seen it."""

    running: Task
    which: tuple[int, ...]
    """Numbers that identify the callback: at least one of them differs in the next one."""
    done: tuple[int, ...]
    """Numbers that show that it gets on: at least one grows when it emits or waits for room."""
    began_s: float
    """When it was seen first."""
    still_since_s: float
    """When it was first seen in its present state: it has neither emitted nor waited for room since."""
    told: str = ""
    """The callback's name, if it has been told that it takes long."""


class Watch:
    """Looks at the callbacks of a process's executors once a second, and tells of those that take long.

    It does nothing to them. A callback that emits gets on, so only the time since it last emitted counts.

    What it reads of executors and tasks is written by their own threads at the same time. These are single
    attributes: an integer, or a reference to the current task. Each is read once, is replaced as a whole, and
    may be a moment old; a callback that ends between two reads looks like another one at the next look.

    Args:
        executors: by the identifiers of their threads; may grow meanwhile.
        stuck_after_s: by component, seconds from which on a callback is told; None or 0 for never.
    """

    def __init__(self, executors: Mapping[int, Executor], stuck_after_s: Mapping[str, float | None]) -> None:
        self._executors = executors
        self._stuck_after_s = stuck_after_s
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

    def long_callbacks(self, now: float) -> Mapping[Executor, LongCallback]:
        """The callbacks that have been running for long without emitting, by their executors.

        Spouts that block are left out, as they wait by nature, and so are callbacks that are being debugged.
        It may be called from any thread.

        Args:
            now: monotonic time in seconds.
        """
        found = {}
        for thread, call in list(self._calls.items()):
            executor, seconds = self._executors[thread], now - call.still_since_s
            if seconds < LONG_S or call.running.waits_for_world:
                continue
            stack = stack_of(thread, Executor.call.__code__)
            if stack is None or stack.in_debugger or not _is_unchanged(call, executor, now):
                continue
            found[executor] = LongCallback(call.running.name, stack.callback, seconds)
        return found

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
            self._asleep.acquire(timeout=PERIOD_S)
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


def _is_unchanged(call: _Call, executor: Executor, now: float) -> bool:
    """Whether an executor is still in a callback, which has not done anything since it was seen."""
    running = executor.current
    seen = _seen(executor, running, now) if running is not None else None
    return seen is not None and _is_same(call, seen) and call.done == seen.done


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
