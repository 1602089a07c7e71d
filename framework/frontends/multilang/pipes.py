"""The three pipes of a program: stdin and stdout carry messages, stderr goes to the log."""

from __future__ import annotations

import logging
import os
import select
import threading
from collections import deque
from typing import IO

from framework.operators.log import Origin, speaking_as

CHUNK = 1 << 16
"""Bytes that are read from stdout at once."""
KEPT_LINES = 10
"""Last lines of stderr that are kept for the message that reports the program's end."""
LONGEST_LINE = 1 << 16
"""Bytes after which a line of stderr is logged although it continues."""


class Pipes:
    """Writes to a program's stdin while it reads from its stdout, so that neither side waits for ever.

    `put` only keeps the data; `read` writes as much of it as the program takes.
    """

    def __init__(self, stdin: int, stdout: int) -> None:
        """
        Args:
            stdin: descriptor of the pipe that the program reads from.
            stdout: descriptor of the pipe that the program writes to.
        """
        self._stdin = stdin
        self._stdout = stdout
        self._unsent = bytearray()
        self._is_open = True
        """Whether anything can be written."""
        self.stdin_closed = False
        """Whether the program has closed its stdin."""
        self._poll = select.poll()
        os.set_blocking(stdin, False)
        os.set_blocking(stdout, False)
        self._poll.register(stdout, select.POLLIN)
        self._poll.register(stdin, 0)  # poll reports its closing all the same

    def put(self, data: bytes) -> None:
        """Add data that the next reads write."""
        if self._is_open:
            self._unsent += data

    def end(self) -> None:
        """Drop what has not been written, and write no more."""
        self._unsent.clear()
        if self._is_open:
            self._is_open = False
            self._poll.unregister(self._stdin)

    def read(self, timeout_s: float) -> bytes | None:
        """What the program has written since; empty when it has closed its end, None if nothing has come yet.

        Args:
            timeout_s: how long to wait for output, or for room to write.
        """
        if self._unsent:
            self._write()
        if self._is_open:
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
        self.stdin_closed = True
        self.end()


class StderrLog(threading.Thread):
    """Logs a program's stderr until the program, and all that it has started, have closed it.

    Args:
        stream: the pipe, which the thread closes at its end.
        logger: of the component.
        origin: the component and the task.
    """

    def __init__(self, stream: IO[bytes], logger: logging.Logger, origin: Origin) -> None:
        super().__init__(name="viper-stderr", daemon=True)
        self._stream = stream
        self._logger = logger
        self._origin = origin
        self.last: deque[str] = deque(maxlen=KEPT_LINES)
        """The last lines."""

    def run(self) -> None:
        """Log each line as info, which is Storm's level for it."""
        with self._stream, speaking_as(self._origin):
            while line := self._stream.readline(LONGEST_LINE):
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                self.last.append(text)
                self._logger.info("%s", text)
