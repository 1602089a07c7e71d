"""A waker for a thread that waits for messages on pipes."""

from __future__ import annotations

import contextlib
import socket


class Waker:
    """A socket to wait for beside pipes, which becomes readable when somebody has called `wake`."""

    def __init__(self) -> None:
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)

    @property
    def descriptor(self) -> int:
        """The file descriptor to wait for; readable after a call of `wake`."""
        return self._read.fileno()

    def wake(self) -> None:
        """Wake the thread that waits, or that waits next; from any thread, and in a signal handler."""
        with contextlib.suppress(OSError):  # it is full of calls that have not been seen yet, or closed
            self._write.send(b"!")

    def clear(self) -> None:
        """Forget the calls so far; to be called before the waiting thread finds out why it was woken."""
        with contextlib.suppress(BlockingIOError):
            while self._read.recv(4096):
                pass

    def close(self) -> None:
        """Give the descriptors back; later calls of `wake` have no effect."""
        self._write.close()
        self._read.close()
