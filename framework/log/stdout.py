"""Where stdout goes while a topology runs.

Stdout is for data. What a component prints goes to its log instead, so that a
forgotten ``print`` in a ported bolt breaks nothing and is not lost either.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from framework.log.origin import Origin, component_logger, current_origin, speaking_as

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
    """Turns printed lines into log lines of the task that is running, in each thread its own."""

    def __init__(self) -> None:
        self._partial: dict[tuple[int, Origin | None], str] = {}
        """The beginnings of printed lines that have not ended, by thread and task."""
        self._logging: set[int] = set()
        """Threads that are logging such lines."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        thread = threading.get_ident()
        if thread in self._logging:  # a log handler that a component has set up for stdout
            return sys.stderr.write(text)
        origin = current_origin()
        *lines, rest = (self._partial.pop((thread, origin), "") + text).split("\n")
        if rest:
            self._partial[thread, origin] = rest
        for line in lines:
            self._log(thread, origin, line)
        return len(text)

    def finish(self) -> None:
        thread = threading.get_ident()
        while self._partial:
            (_, origin), text = self._partial.popitem()
            self._log(thread, origin, text)

    def _log(self, thread: int, origin: Origin | None, line: str) -> None:
        self._logging.add(thread)
        try:
            with speaking_as(origin):
                component_logger(origin).info("%s", line)
        finally:
            self._logging.remove(thread)


@contextmanager
def printing_to_log() -> Iterator[None]:
    """For as long as the block runs, printed lines go to the log of the component that prints them."""
    global _data, _running
    before, _data, _running = sys.stdout, sys.stdout, True
    printed = _Printed()
    sys.stdout = printed
    try:
        yield
    finally:
        printed.finish()
        sys.stdout, _data, _running = before, None, False
        if before is not None:  # as it is where stdout was closed from the start
            before.flush()
