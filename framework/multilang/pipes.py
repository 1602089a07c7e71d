"""Both pipes of a program, written and read at the same time, so that neither side waits for ever."""

from __future__ import annotations

import os
import select

CHUNK = 1 << 16


class Pipes:
    """What is put here is written while something is read, as far as the program takes it."""

    def __init__(self, stdin: int, stdout: int) -> None:
        """
        Args:
            stdin: descriptor of the pipe that the program reads from.
            stdout: of the one that it writes to.
        """
        self._stdin = stdin
        self._stdout = stdout
        self._unsent = bytearray()
        self._open = True
        """Whether anything can be written."""
        self.deaf = False
        """Whether the program has closed its stdin."""
        self._poll = select.poll()
        os.set_blocking(stdin, False)
        os.set_blocking(stdout, False)
        self._poll.register(stdout, select.POLLIN)
        self._poll.register(stdin, 0)  # its closing is told nevertheless

    def put(self, data: bytes) -> None:
        """Have something written."""
        if self._open:
            self._unsent += data

    def end(self) -> None:
        """Nothing will be written any more."""
        self._unsent.clear()
        if self._open:
            self._open = False
            self._poll.unregister(self._stdin)

    def read(self, timeout_s: float) -> bytes | None:
        """What the program has written since; empty when it has closed its end, None if nothing has come yet.

        Args:
            timeout_s: how long to wait for something to come, or for room to write.
        """
        if self._unsent:
            self._write()
        if self._open:
            self._poll.modify(self._stdin, select.POLLOUT if self._unsent else 0)
        for descriptor, event in self._poll.poll(timeout_s * 1000):
            if descriptor == self._stdin and event & select.POLLERR:
                self._lose_reader()
        try:
            return os.read(self._stdout, CHUNK)
        except BlockingIOError:
            return None

    def _write(self) -> None:
        try:
            written = os.write(self._stdin, self._unsent)
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._lose_reader()
            return
        del self._unsent[:written]

    def _lose_reader(self) -> None:
        self.deaf = True
        self.end()
