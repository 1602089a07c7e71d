"""Progress on stderr: one line that changes on a terminal, else a line now and then."""

from __future__ import annotations

import io
import os
import shutil
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
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

    Several threads may use it: one reports how far things are, others log, or write data to the same
    terminal. A lock keeps the line from coming back between its removal and what is written in its place. The
    thread that holds the lock may take it again, as a signal's handler may log in the middle of all this.

    Args:
        stream: where the line goes.
        animated: whether a line may be overwritten.
    """

    def __init__(self, stream: TextIO, *, animated: bool) -> None:
        self._stream = stream
        self._animated = animated
        self._next_s = PLAIN_PERIOD_S
        self._shown = False
        self._below = 0
        """The number of lines that are shown below it."""
        self._hidden = 0
        """The number of blocks that keep the line hidden."""
        self._at_line_start = True
        """True if the data that was last written to the terminal ended its line."""
        self._lock = threading.RLock()

    def tell(self, text: str, elapsed_s: float, below: Sequence[str] = ()) -> None:
        """Show a text in place of the last one; without a terminal only now and then.

        Args:
            text: without an end of line.
            elapsed_s: seconds since the beginning.
            below: lines that a terminal shows below it, none of them wider than the terminal.
        """
        with self._lock:
            if self._hidden or not self._at_line_start:
                return
            if self._animated:
                # A line that wraps could not be overwritten.
                width = shutil.get_terminal_size().columns - 1
                self._write(self._clearing() + "\n".join([text[:width], *below]))
                self._shown, self._below = True, len(below)
            elif elapsed_s >= self._next_s:
                self._next_s = elapsed_s - elapsed_s % PLAIN_PERIOD_S + PLAIN_PERIOD_S
                self._write(text + "\n")

    def clear(self) -> None:
        """Remove the line; it comes back with the next text."""
        with self._lock:
            if self._shown:
                self._write(self._clearing())
                self._shown, self._below = False, 0

    @contextmanager
    def giving_way(self) -> Iterator[None]:
        """For as long as the block runs, the line is not there; other threads that need it wait."""
        with self._lock:
            self.clear()
            yield

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """For as long as the block runs, the line is hidden; reports are dropped, and nobody waits."""
        with self._lock:
            self._hidden += 1
            self.clear()
        try:
            yield
        finally:
            with self._lock:
                self._hidden -= 1

    @contextmanager
    def sharing(self) -> Iterator[None]:
        """For as long as the block runs, data may appear on the same terminal; after it the line is gone."""
        data = sys.stdout
        shared = self._animated and data is not None and data.isatty()
        if shared:
            sys.stdout = _Data(data, self)
        try:
            yield
        finally:
            if shared:
                sys.stdout = data
            self.clear()

    def write_data(self, data: TextIO, text: str) -> int:
        """Write data to the same terminal; the line comes back when the data's line has ended."""
        with self.giving_way():
            written = data.write(text)
            data.flush()
            self._at_line_start = text.endswith("\n") or (self._at_line_start and not text)
            return written

    def _clearing(self) -> str:
        """Make the characters that remove the line, and those below it, at whose end the cursor is."""
        return f"\r\x1b[{self._below}A\x1b[J" if self._below else _CLEAR

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class _Data(io.TextIOBase):
    """Stdout, where it is the terminal that the line is on."""

    def __init__(self, data: TextIO, line: StatusLine) -> None:
        self._data = data
        self._line = line

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return self._line.write_data(self._data, text)

    def flush(self) -> None:
        self._data.flush()


class ProgressLine(StatusLine):
    """Shows the progress of a run."""

    def __init__(self, stream: TextIO, *, animated: bool) -> None:
        super().__init__(stream, animated=animated)
        self._recent: deque[Progress] = deque()

    def show(self, progress: Progress, below: Sequence[str] = ()) -> None:
        """Show how far it has come, with lines below it; the last one removes them."""
        self._recent.append(progress)
        while progress.elapsed_s - self._recent[0].elapsed_s > RATE_WINDOW_S:
            self._recent.popleft()
        if progress.done:
            self.clear()
        else:
            self.tell(self._text(progress), progress.elapsed_s, below)

    def _text(self, progress: Progress) -> str:
        """The callbacks that take long come early, as the end may not fit on the terminal."""
        parts = [f"{progress.elapsed_s:6.1f} s"]
        parts += ["draining"] if progress.draining else ["starting"] if not progress.elapsed_s else []
        if progress.callbacks:
            longest, *others = progress.callbacks
            parts += [str(longest) + (f" (and {len(others)} more)" if others else "")]
        if progress.elapsed_s:
            parts += [f"{progress.emitted:,} emitted", f"{progress.processed:,} processed"]
            parts += [f"{self._rate(progress):,.0f}/s"]
            parts += self._share(progress)
        return "  ".join(parts)

    def _share(self, progress: Progress) -> list[str]:
        """Describe how much is over, and about how long the rest takes, if that is known."""
        if progress.share is None or progress.draining:
            return []
        told = [f"{progress.share:.0%}"]
        first = self._recent[0]
        done = progress.share - (first.share or 0.0)
        if done > 0 and progress.elapsed_s > first.elapsed_s:
            left_s = (1.0 - progress.share) * (progress.elapsed_s - first.elapsed_s) / done
            told.append(f"{duration_in_words(left_s)} to go")
        return told

    def _rate(self, progress: Progress) -> float:
        first = self._recent[0]
        elapsed_s = progress.elapsed_s - first.elapsed_s
        if elapsed_s > 0:
            return (progress.processed - first.processed) / elapsed_s
        return progress.processed / progress.elapsed_s if progress.elapsed_s else 0.0


def duration_in_words(seconds: float) -> str:
    """``12 s``, ``3 min 20 s``, ``2 h 5 min``: the two largest units."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, of_hour = divmod(minutes, 60)
    if hours:
        return f"{hours} h {of_hour} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def can_animate(stream: TextIO) -> bool:
    """True if a stream is a terminal that can overwrite its last line."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"
