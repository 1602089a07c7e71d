"""What a program writes to stderr goes to the log of its component as it comes."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import IO

from framework.log import Origin, speaking_as

KEPT = 10
"""Last lines that are kept, for the message when the program ends."""
LONGEST_LINE = 1 << 16
"""Characters after which a line is logged although it goes on."""


class StderrLog(threading.Thread):
    """Reads until the program, and all that it has started, have closed their stderr.

    Args:
        stream: the pipe; it is closed at its end.
        logger: of the component.
        origin: the component and the task.
    """

    def __init__(self, stream: IO[bytes], logger: logging.Logger, origin: Origin) -> None:
        super().__init__(name="viper-stderr", daemon=True)
        self._stream = stream
        self._logger = logger
        self._origin = origin
        self.last: deque[str] = deque(maxlen=KEPT)
        """The last lines."""

    def run(self) -> None:
        """Log line by line, at Storm's level."""
        with self._stream, speaking_as(self._origin):
            while line := self._stream.readline(LONGEST_LINE):
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                self.last.append(text)
                self._logger.info("%s", text)
