"""The watchdog of a process logs callbacks that take long, and on request the stacks of all callbacks."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from framework.operators.log import Origin, speaking_as
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.stacks import Stack, stack_of
from framework.runtime.observation.stacks import Stacks, TaskOutside, TaskStack
from framework.runtime.observation.statistics import LongCallback
from framework.runtime.tasks.task import Task

log = logging.getLogger("viperstorm.worker")

PERIOD_S = 1.0
"""Seconds between two looks. Nothing is measured between them, so reported times are right to a second."""
LONG_S = 1.0
"""Seconds after which a callback is shown in the progress of a run. Shorter ones may begin and end between
two looks."""
_NEVER_COUNTED: Mapping[str, Any] = {"viper_key": None}
"""Marks a record that the log must not count as a repetition of the record before."""


@dataclass(slots=True)
class _Call:
    """A callback that has not returned, as the watchdog has seen it."""

    task: Task
    which: tuple[int, ...]
    """Numbers that identify the callback: at least one of them differs in the next one."""
    done: tuple[int, ...]
    """Numbers that show progress: at least one grows when the callback emits or waits for room."""
    began_s: float
    """Monotonic time in seconds at which the callback was first seen."""
    still_since_s: float
    """Monotonic time in seconds since which the callback has neither emitted nor waited for room."""
    told: str = ""
    """The callback's name, once it has been logged that the callback takes long."""


class Watch:
    """Looks at the callbacks of a process's executors once a second, and logs those that take long.

    It does not interfere with them. A callback that emits makes progress, so only the time since its last
    emit counts.

    The executors' own threads write what is read here at the same time. Each value is a single attribute, an
    integer or a reference to the current task. It is read once, is replaced as a whole, and may be a moment
    old. A callback that ends between two reads is taken for another one at the next look.

    Args:
        executors: the executors by the identifiers of their threads; the mapping may grow meanwhile.
        stuck_after_s: for each component the seconds after which a callback is logged; None or 0 for never.
    """

    def __init__(self, executors: Mapping[int, Executor], stuck_after_s: Mapping[str, float | None]) -> None:
        self._executors = executors
        self._stuck_after_s = stuck_after_s
        self._calls: dict[int, _Call] = {}
        self._over = self._asked = False
        # This lock is held, except while the watch is being woken. A signal handler can always release a
        # lock, where it could wait for ever to set an event that the thread it has interrupted is setting.
        self._asleep = threading.Lock()
        self._asleep.acquire()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Have a thread look at the callbacks while the block runs."""
        thread = threading.Thread(target=self._run, name="viper-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over = True
            self._wake()
            thread.join()

    def ask(self) -> None:
        """Have the stacks of all callbacks logged soon; safe in a signal handler."""
        self._asked = True
        self._wake()

    def look(self, now: float) -> None:
        """Look at all callbacks.

        Args:
            now: monotonic time in seconds.
        """
        for thread, executor in list(self._executors.items()):
            before, task = self._calls.pop(thread, None), executor.current
            call = _seen(executor, task, now) if task is not None else None
            if before is not None and before.told and not _is_same(before, call):
                _tell_return(before, now)
            if call is not None:
                self._calls[thread] = _continued(before, call)
                self._tell_if_stuck(thread, self._calls[thread], now)

    def long_callbacks(self, now: float) -> Mapping[Executor, LongCallback]:
        """The callbacks that have been running for `LONG_S` or longer without emitting, by their executors.

        Spouts that wait for the outside world are left out, and so are callbacks that are being debugged.
        This may be called from any thread.

        Args:
            now: monotonic time in seconds.
        """
        found = {}
        for thread, call in list(self._calls.items()):
            executor, seconds = self._executors[thread], now - call.still_since_s
            if seconds < LONG_S or call.task.waits_for_world:
                continue
            stack = stack_of(thread, Executor.call.__code__)
            if stack is None or stack.in_debugger or not _is_unchanged(call, executor, now):
                continue
            found[executor] = LongCallback(call.task.name, stack.callback, seconds)
        return found

    def tell_stacks(self) -> None:
        """Log the stacks of all callbacks that have not returned."""
        found, others = self._found()
        for task, stack in found:
            _log(task, logging.WARNING, "%s is in %s:\n%s", task.name, stack.callback, stack.text)
        if not found:
            told = "; ".join(f"{task.name} {doing}" for task, doing in others)
            log.warning("no task is in a callback: %s", told or "none is made yet", extra=_NEVER_COUNTED)

    def stacks(self) -> Stacks:
        """Return the stacks of all tasks; any thread may call it."""
        process = os.getpid()
        found, others = self._found()
        return Stacks(
            [TaskStack(task.name, process, stack.callback, stack.text) for task, stack in found],
            others=[TaskOutside(task.name, process, doing) for task, doing in others],
        )

    def _found(self) -> tuple[Sequence[tuple[Task, Stack]], Sequence[tuple[Task, str]]]:
        """The tasks that are in a callback with where, and the others with what they do instead."""
        found, others = [], dict[str, tuple[Task, str]]()
        for thread, executor in list(self._executors.items()):
            current = executor.current
            stack = stack_of(thread, Executor.call.__code__) if current is not None else None
            for task in executor.tasks:
                if task is current and stack is not None:
                    found.append((task, stack))
                else:  # executors that share it say the same of it
                    others[task.name] = task, executor.instead_of_a_callback(task)
        for task, _ in found:
            others.pop(task.name, None)
        return found, list(others.values())

    # -- inside

    def _run(self) -> None:
        while True:
            self._asleep.acquire(timeout=PERIOD_S)
            over = self._over  # read before the last look, which logs callbacks that have returned
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
        after_s = self._stuck_after_s.get(call.task.context.spec.component)
        if call.told or not after_s or now - call.still_since_s < after_s:
            return
        if call.task.waits_for_world:
            return  # no input may come for hours
        stack = stack_of(thread, Executor.call.__code__)
        if stack is not None and not stack.in_debugger:
            call.told = stack.callback
            _tell_stuck(call, stack, now)


def _seen(executor: Executor, task: Task, now: float) -> _Call:
    counters, waiting = task.context.counters, task.slot.waiting_rows
    begun = task.last_begun
    return _Call(
        task,
        which=(executor.calls, counters.ticks, begun),
        done=(executor.turns, executor.rests.count, counters.emitted + waiting),
        began_s=now,
        still_since_s=now,
    )


def _is_unchanged(call: _Call, executor: Executor, now: float) -> bool:
    """True if an executor is still in a callback that has made no progress since it was seen."""
    task = executor.current
    seen = _seen(executor, task, now) if task is not None else None
    return seen is not None and _is_same(call, seen) and call.done == seen.done


def _is_same(before: _Call | None, call: _Call | None) -> bool:
    """True if two snapshots show the same callback."""
    return (
        before is not None and call is not None and ((before.task, before.which) == (call.task, call.which))
    )


def _continued(before: _Call | None, call: _Call) -> _Call:
    """Carry over what was known of a callback before, if it is still the same one."""
    if before is not None and _is_same(before, call):
        call.began_s, call.told = before.began_s, before.told
        if before.done == call.done:
            call.still_since_s = before.still_since_s
    return call


def _tell_stuck(call: _Call, stack: Stack, now: float) -> None:
    name, still_s = call.task.name, now - call.still_since_s
    message = "%s has been in %s for %.0f s:\n%s"
    told = call.task.slot.host.waits_for or stack.text
    _log(call.task, logging.WARNING, message, name, stack.callback, still_s, told)


def _tell_return(call: _Call, now: float) -> None:
    message = "%s returned from %s after %.0f s"
    _log(call.task, logging.INFO, message, call.task.name, call.told, now - call.began_s)


def _log(task: Task, level: int, message: str, *args: object) -> None:
    with speaking_as(Origin(task.context.spec.component, task.context.spec.id)):
        task.context.logger.log(level, message, *args, extra=_NEVER_COUNTED)
