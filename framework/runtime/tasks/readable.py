"""Descriptors that sources wait for: one thread of the process hears of them from the kernel.

A file of its own: all sources of a process share the thread, and an executor sleeps on its bell alone. A bell
that is a descriptor itself would need no thread. But each ring would cost a system call, and tasks in other
threads and processes make one for each batch.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import threading
from collections.abc import Callable, Iterable
from typing import Final

from framework.operators.components import HasFileno, descriptor_of

CAN_HEAR: Final = hasattr(select, "epoll")
"""True if the system tells of descriptors in a way that is used here."""
_LOCK: Final = threading.Lock()
"""Held by whoever changes which descriptors are waited for, and while those who wait are told."""


class Readable:
    """The descriptors that one source waits for.

    Args:
        tell: called by another thread when one of them is readable; it must not take long, and may be called
            for nothing.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell
        self._numbers: frozenset[int] = frozenset()
        self._watcher: _Watcher | None = None

    def wait_for(self, descriptors: Iterable[int | HasFileno]) -> None:
        """Have `tell` called once as soon as one of some descriptors is readable, or closed already.

        It no longer waits for those of the last call.
        """
        numbers = frozenset(map(descriptor_of, descriptors))
        with _LOCK:
            if self._watcher is None:
                self._watcher = _present.joined()
            for number in self._numbers - numbers:
                self._watcher.discard(number, self)
            self._numbers = numbers
            for number in numbers:
                self._watcher.add(number, self)

    def close(self) -> None:
        """Wait for none any more; `tell` is not called once this has returned."""
        with _LOCK:
            watcher, self._watcher = self._watcher, None
            if watcher is None:
                return
            for number in self._numbers:
                watcher.discard(number, self)
            is_last = watcher.leave()
        if is_last:
            watcher.end()


class _Watcher:
    """The thread that waits, for as long as a source has asked it to.

    Each descriptor is told of once, and then not before somebody waits for it again.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._over = os.eventfd(0, os.EFD_CLOEXEC)
        self._epoll.register(self._over, select.EPOLLIN)
        self._waiting: dict[int, set[Readable]] = {}
        self._members = 0
        self._thread = threading.Thread(target=self._run, name="viper-descriptors", daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Have one member more."""
        self._members += 1

    def leave(self) -> bool:
        """Have one member less; true if that was the last one, which is to call `end`."""
        self._members -= 1
        if self._members:
            return False
        _present.forget()
        return True

    def end(self) -> None:
        """End the thread."""
        os.eventfd_write(self._over, 1)
        self._thread.join()
        self._epoll.close()
        os.close(self._over)

    def add(self, number: int, source: Readable) -> None:
        """Tell a source once when a descriptor is readable; at once if nobody can wait for it."""
        self._waiting.setdefault(number, set()).add(source)
        events = select.EPOLLIN | select.EPOLLONESHOT
        try:
            try:
                self._epoll.modify(number, events)
            except FileNotFoundError:  # new, or closed since, with which the kernel has forgotten it
                self._epoll.register(number, events)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno not in (errno.EBADF, errno.EPERM):
                raise
            source.tell()

    def discard(self, number: int, source: Readable) -> None:
        """Tell a source of a descriptor no more."""
        sources = self._waiting.get(number, set())
        sources.discard(source)
        if not sources:
            self._waiting.pop(number, None)
            with contextlib.suppress(OSError, ValueError):  # it is closed
                self._epoll.unregister(number)

    def _run(self) -> None:
        while True:
            numbers = [number for number, _ in self._epoll.poll()]
            if self._over in numbers:
                return
            with _LOCK:
                for number in numbers:
                    for source in self._waiting.get(number, ()):
                        source.tell()


class _Present:
    """The watcher of this process, if there is one."""

    def __init__(self) -> None:
        self._watcher: _Watcher | None = None

    def joined(self) -> _Watcher:
        """It, made if there is none, with one more member."""
        if self._watcher is None:
            self._watcher = _Watcher()
        self._watcher.join()
        return self._watcher

    def forget(self) -> None:
        """Have none, as the last member has left it."""
        self._watcher = None


_present: Final = _Present()
