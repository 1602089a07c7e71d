"""Redirection of stdout to the log while a topology runs.

Stdout is for data. Output that a component prints goes to its log instead. So a forgotten ``print`` in a
ported bolt breaks nothing, and is not lost either.
"""

from __future__ import annotations

import codecs
import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from framework.operators.log.origin import Origin, component_logger, current_origin, speaking_as

if TYPE_CHECKING:
    from typing_extensions import Buffer

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


class _Bytes(io.BufferedIOBase):
    """The `buffer` of what stands for stdout: bytes are text of the encoding that is set there.

    It stays open. Many a module or component wraps ``sys.stdout.buffer``, and a wrapper that is collected
    closes what it wraps, while others continue to print.
    """

    name = "<stdout>"
    mode = "wb"

    def __init__(self) -> None:
        self._printed: _Printed | None = None
        self._decoders: dict[tuple[int, Origin | None], codecs.IncrementalDecoder] = {}
        """Of those that have written a part of a character, by thread and task."""

    def lead_to(self, printed: _Printed) -> None:
        """Pass on what is written from now on."""
        self._printed = printed

    @property
    def raw(self) -> _Bytes:
        return self  # nothing is kept here

    def detach(self) -> _Bytes:  # type: ignore[override]
        return self

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        assert self._printed is not None
        content, key = bytes(data), (threading.get_ident(), current_origin())
        decoder = self._decoders.pop(key, None) or self._printed.decoder()
        self._printed.write(decoder.decode(content))
        if decoder.getstate()[0]:
            self._decoders[key] = decoder
        return len(content)

    def fileno(self) -> int:
        return sys.stderr.fileno()  # for the programs that a component starts, which cannot reach its log

    def close(self) -> None: ...


class _Printed(io.TextIOWrapper):
    """Turns printed lines into log lines of the task that is running, in each thread its own.

    Everything else that a component may do with its stdout, as it has a process to itself on Storm, works as
    with that of Python: `encoding`, `buffer`, `reconfigure`, `detach`, `fileno` and so on.
    """

    mode = "w"

    def __init__(self) -> None:
        data = _Bytes()
        super().__init__(data, encoding="utf-8", line_buffering=True)
        self._encoding = "utf-8"
        data.lead_to(self)
        self._partial: dict[tuple[int, Origin | None], str] = {}
        """The beginnings of printed lines that have not ended, by thread and task."""
        self._logging: set[int] = set()
        """Threads that are logging such lines."""

    def reconfigure(self, **options: Any) -> None:
        """As in the base class; notes the encoding, which the base class forgets when it is detached."""
        super().reconfigure(**options)
        self._encoding = self.encoding

    def decoder(self) -> codecs.IncrementalDecoder:
        """A decoder of the encoding that is set."""
        return codecs.getincrementaldecoder(self._encoding)("backslashreplace")

    def write(self, text: str) -> int:
        """Log the lines that have ended."""
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
        """Log the lines that have not ended."""
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
