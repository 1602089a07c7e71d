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
        self._deaf = False
        """Whether the program reads nothing any more."""
        self._poll = select.poll()
        os.set_blocking(stdin, False)
        os.set_blocking(stdout, False)
        self._poll.register(stdout, select.POLLIN)

    def put(self, data: bytes) -> None:
        """Have something written."""
        if not self._deaf:
            self._unsent += data

    def end(self) -> None:
        """Nothing will be written any more."""
        self._deaf = True
        self._unsent.clear()

    def read(self, timeout_s: float) -> bytes | None:
        """What the program has written since; empty when it has closed its end, None if nothing has come yet.

        Args:
            timeout_s: how long to wait for something to come, or for room to write.
        """
        if self._unsent:
            self._write()
        if self._unsent:
            self._poll.register(self._stdin, select.POLLOUT)
        try:
            self._poll.poll(timeout_s * 1000)
        finally:
            if self._unsent:
                self._poll.unregister(self._stdin)
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
            self.end()  # why it reads nothing any more shows when it ends
            return
        del self._unsent[:written]
