"""Where stdout goes while a topology runs.

Stdout is for data. What a component prints goes to its log instead, so that a
forgotten ``print`` in a ported bolt breaks nothing and is not lost either.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_data: TextIO | None = None
_running = False


def data_stream() -> TextIO:
    """The process's real stdout, for sinks that write data.

    Raises:
        OSError: it was closed before the process began.
    """
    stream = _data if _running else sys.stdout
    if stream is None:
        raise OSError("stdout is closed: there is nowhere to write data to")
    return stream


class _Printed(io.TextIOBase):
    """Turns printed lines into log lines of the component that is running, in each thread its own."""

    def __init__(self, current: Callable[[], logging.Logger]) -> None:
        self._current = current
        self._partial: dict[int, str] = {}
        """What has been printed of lines that have not ended, by thread."""
        self._logging: set[int] = set()
        """Threads that are logging such lines."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        thread = threading.get_ident()
        if thread in self._logging:  # a log handler that a component has set up for stdout
            return sys.stderr.write(text)
        *lines, self._partial[thread] = (self._partial.get(thread, "") + text).split("\n")
        self._logging.add(thread)
        try:
            for line in lines:
                self._current().info("%s", line)
        finally:
            self._logging.remove(thread)
        return len(text)

    def finish(self) -> None:
        for line in filter(None, self._partial.values()):
            self._current().info("%s", line)
        self._partial.clear()


@contextmanager
def printing_to_log(current: Callable[[], logging.Logger]) -> Iterator[None]:
    """For as long as the block runs, printed lines go to the logger that `current` returns."""
    global _data, _running
    before, _data, _running = sys.stdout, sys.stdout, True
    printed = _Printed(current)
    sys.stdout = printed
    try:
        yield
    finally:
        printed.finish()
        sys.stdout, _data, _running = before, None, False
        if before is not None:  # as it is where stdout was closed from the start
            before.flush()
