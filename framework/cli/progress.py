"""How far something has come, on stderr: one line that changes on a terminal, else a line now and then."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from framework.runtime import Progress

PLAIN_PERIOD_S = 5.0
"""Seconds between two lines where there is no terminal."""
RATE_WINDOW_S = 2.0
"""Seconds that a rate is the average of."""

_CLEAR = "\r\x1b[K"


class StatusLine:
    """Shows how far something has come, in one line of text.

    Args:
        stream: where to.
        animated: whether a line may be overwritten.
    """

    def __init__(self, stream: TextIO, *, animated: bool) -> None:
        self._stream = stream
        self._animated = animated
        self._next_s = PLAIN_PERIOD_S
        self._shown = False

    def tell(self, text: str, elapsed_s: float) -> None:
        """Show a text in place of the last one; without a terminal only now and then.

        Args:
            text: without an end of line.
            elapsed_s: seconds since the beginning.
        """
        if self._animated:
            # A line that wraps could not be overwritten.
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(_CLEAR + text[:width])
            self._stream.flush()
            self._shown = True
        elif elapsed_s >= self._next_s:
            self._next_s = elapsed_s - elapsed_s % PLAIN_PERIOD_S + PLAIN_PERIOD_S
            self._stream.write(text + "\n")
            self._stream.flush()

    def clear(self) -> None:
        """Make room for another line; it comes back with the next text."""
        if self._shown:
            self._stream.write(_CLEAR)
            self._stream.flush()
            self._shown = False

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """For as long as the block runs, clear the line before data appears on the same terminal."""
        if not (self._animated and sys.stdout.isatty()):
            yield
            return
        data = sys.stdout
        sys.stdout = _Clearing(data, self)
        try:
            yield
        finally:
            sys.stdout = data


class ProgressLine(StatusLine):
    """Shows the progress of a run."""

    def __init__(self, stream: TextIO, *, animated: bool) -> None:
        super().__init__(stream, animated=animated)
        self._recent: deque[Progress] = deque()

    def show(self, progress: Progress) -> None:
        """Show how far it has come; the last one clears the line."""
        self._recent.append(progress)
        while progress.elapsed_s - self._recent[0].elapsed_s > RATE_WINDOW_S:
            self._recent.popleft()
        if progress.done:
            self.clear()
        else:
            self.tell(self._text(progress), progress.elapsed_s)

    def _text(self, progress: Progress) -> str:
        return (
            f"{progress.elapsed_s:6.1f} s  {progress.emitted:,} emitted  "
            f"{progress.processed:,} processed  {self._rate(progress):,.0f}/s"
        )

    def _rate(self, progress: Progress) -> float:
        first = self._recent[0]
        if first is progress:
            return progress.processed / progress.elapsed_s if progress.elapsed_s else 0.0
        return (progress.processed - first.processed) / (progress.elapsed_s - first.elapsed_s)


class _Clearing(io.TextIOBase):
    def __init__(self, data: TextIO, line: StatusLine) -> None:
        self._data = data
        self._line = line

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._line.clear()
        written = self._data.write(text)
        self._data.flush()
        return written

    def flush(self) -> None:
        self._data.flush()


def can_animate(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can overwrite its last line."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"
