"""Windows as declared state: their tuples lie where they survive the bolt, and its process.

Tuples are pickled when a slice ends, those of the slice together, and are dropped together when a window has
let go of the last of them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple
from itertools import takewhile
from typing import Any, Final

from framework.model.errors import StateError
from framework.operators.state import StateAccess
from framework.operators.state.declaration import PickledState
from framework.operators.state.loading import loaded
from framework.operators.windows.contents import Image, Marks, WindowContents
from framework.operators.windows.due import Due
from framework.operators.windows.spec import (
    BEHIND_TIME,
    LATENESS_MS,
    MOST_BYTES,
    MOST_ROWS,
    PARTIAL,
    WindowSpec,
)
from framework.operators.windows.tuple_window import TupleWindow
from viper.errors import StateFullError
from viper.state import items

_PROTOCOL: Final = 5
_TOGETHER: Final = 256
"""The most tuples that are pickled together."""
_MARKS: Final = "marks"
"""The key of what is known of the tuples, which lie under the number of the first of them."""


class WindowFullError(StateFullError):
    """Windows hold more than they may."""


class WindowState(PickledState):
    """The windows of a task; the handle is `OpenWindows`."""

    kind = "window"
    holds = "tuples"

    def __init__(self) -> None:
        super().__init__(per="task")

    def handle(self, access: StateAccess) -> OpenWindows:
        """As in the base class."""
        return OpenWindows(access)


class OpenWindows:
    """The windows of one task, whose tuples it writes into its table when a slice ends."""

    def __init__(self, access: StateAccess) -> None:
        self._access = access
        (self._table,) = access.tables
        self._contents: WindowContents
        self._is_open = False
        self._written = 0
        """The number behind the last tuple that is in the table."""
        self._chunks: dict[int, tuple[int, int]] = {}
        """By the number of the first tuple of each chunk: the number behind its last, and its bytes."""
        self._bytes = 0
        """Of all chunks."""
        self._marks = b""
        """As they are in the table."""
        self._is_shifted = False
        """True if late tuples have come since then."""
        self._most_rows = self._most_bytes = 0
        self._call = -1
        """The number of the callback that has changed something last."""
        self._before: Image
        """The state before that callback."""

    def open(self, spec: WindowSpec, conf: Mapping[str, Any]) -> None:
        """Continue with the tuples in the table.

        Args:
            spec: how the windows are formed.
            conf: says how large they may get, and whether one fires that is not complete.
        """
        self._most_rows, self._most_bytes = conf[MOST_ROWS], conf[MOST_BYTES]
        lateness_us = round(min(conf[LATENESS_MS] * 1000, BEHIND_TIME))
        self._contents = WindowContents(spec, partial=conf[PARTIAL], lateness_us=lateness_us)
        contents = self._contents
        self._is_open = True
        found = dict(items(self._table, 0))
        if _MARKS not in found:
            return
        (self._marks,) = found.pop(_MARKS)
        contents.marks = marks = Marks(*loaded(self._marks))
        for first, (data,) in sorted(found.items()):
            rows, times = loaded(data)
            gone = max(marks.first - first, 0)
            contents.rows += rows[gone:]
            contents.times += times[gone:]
            self._written = first + len(rows)
            self._chunks[first] = self._written, len(data)
            self._bytes += len(data)

    @property
    def spec(self) -> WindowSpec:
        """The form of the windows."""
        return self._contents.spec

    # -- the tuple in process

    def add(self, tup: Any) -> None:
        """Take the tuple in process.

        Raises:
            WindowFullError: there are too many.
        """
        self._note()
        contents, now_us = self._contents, self._access.now()
        contents.add(tup, None if now_us >= BEHIND_TIME else now_us)
        if len(contents.rows) > self._most_rows:
            self._check_rows()

    def is_late(self, time_us: int) -> bool:
        """True if a time lies before that of the tuple in process."""
        return time_us < self._access.now() < BEHIND_TIME

    def add_late(self, tup: Any, time_us: int) -> list[TupleWindow] | None:
        """As `WindowContents.add_late`, of the tuple in process; errors as of `add`."""
        self._note()
        contents = self._contents
        windows = contents.add_late(tup, time_us, self._access.now())
        if windows is not None:
            self._is_shifted = True
            self._check_rows()
        return windows

    def completed(self) -> TupleWindow | None:
        """The window that the tuple in process completes; None where it completes none."""
        return self._contents.window() if self._contents.is_complete else None

    # -- what is due

    def next_end(self) -> int | None:
        """As of `DueByGroup`."""
        end = self._contents.next_end()
        return None if end is None else self._contents.over_at(end)

    def first_end_behind(self, time_us: int) -> int:
        """As of `DueByGroup`."""
        return self._contents.over_at(self._contents.first_end_behind(time_us))

    def first_end_from(self, time_us: int) -> int | None:
        """As `WindowContents.first_end_from`."""
        return self._contents.first_end_from(time_us)

    def next_due(self, time_us: int | None) -> Due | None:
        """As of `DueByGroup`; windows of a task belong to no key group."""
        end = self._contents.next_end()
        if end is None or (time_us is not None and self._contents.over_at(end) > time_us):
            return None
        return Due(end, 0)

    def window_to(self, end_us: int) -> TupleWindow:
        """The window that ends at a time, which fires now."""
        self._note()
        return self._contents.window_to(end_us)

    def rest(self) -> TupleWindow | None:
        """The window of what is left at the end of all; None where nothing is."""
        self._note()
        return self._contents.rest()

    # -- as `DirtyHandle`

    def flush(self) -> None:
        """As `DirtyHandle.flush`.

        Raises:
            StateError: a tuple cannot be pickled.
            StateFullError: there is no room for the tuples.
        """
        if not self._is_open:
            return
        contents = self._contents
        contents.trim()
        marks = contents.marks
        if self._is_shifted:  # then the tuples behind the late ones have other numbers
            self._is_shifted, self._written = False, marks.first
            self._drop(list(self._chunks))
        self._written = max(self._written, marks.first)
        behind = marks.first + len(contents.rows)
        while self._written < behind:
            self._write(min(self._written + _TOGETHER, behind))
        chunks = iter(self._chunks.items())
        self._drop([first for first, _ in takewhile(lambda chunk: chunk[1][0] <= marks.first, chunks)])
        data = pickle.dumps(astuple(marks), _PROTOCOL)
        if data != self._marks:
            self._table.set(_MARKS, (data,))
            self._marks = data

    def forget(self) -> None:
        """As `DirtyHandle.forget`."""
        if self._call == self._access.clock.number:
            self._contents.take_back(self._before)

    def _check_rows(self) -> None:
        needed = self._contents.needed
        if needed > self._most_rows:
            raise self._full(f"{needed:,} tuples", MOST_ROWS, self._most_rows)

    def _note(self) -> None:
        """Note that the windows are about to be changed."""
        number = self._access.clock.number
        if self._access.goes_on and number != self._call:
            self._call = number
            self._before = self._contents.image()

    def _write(self, until: int) -> None:
        contents, first = self._contents, self._written
        since, behind = first - contents.marks.first, until - contents.marks.first
        try:
            data = pickle.dumps((contents.rows[since:behind], contents.times[since:behind]), _PROTOCOL)
        except Exception as error:
            raise StateError(f"a tuple of a window cannot be pickled: {error}") from error
        held = self._bytes + len(data)
        if held > self._most_bytes:
            raise self._full(f"{held:,} bytes", MOST_BYTES, self._most_bytes)
        self._table.set(first, (data,))
        self._chunks[first], self._bytes = (until, len(data)), held
        self._written = until

    def _drop(self, chunks: list[int]) -> None:
        for first in chunks:
            self._table.drop(first)
            self._bytes -= self._chunks.pop(first)[1]

    def _full(self, found: str, key: str, most: int) -> WindowFullError:
        return WindowFullError(
            f"the windows of this task hold {found}, and {key} is {most:,}: raise it, or shorten the windows"
        )


def told(found: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the entries in the table of a task's windows, for a reader.

    Args:
        found: all its values by their keys, unpickled; of another type where that cannot be done.

    Yields:
        First "marks" and the progress of the windows. Then, for each tuple that is kept, its number, with its
        time in microseconds (None after all that have a time), its component and stream, and its values.
    """
    chunks = dict(found)
    marks = chunks.pop(_MARKS, None)
    first_kept = 0
    if isinstance(marks, tuple):
        known = Marks(*marks)
        first_kept, marks = known.first, asdict(known)
    if marks is not None:
        yield _MARKS, marks
    for first, chunk in sorted(chunks.items()):
        if not isinstance(chunk, tuple):
            yield first, chunk
            continue
        for number, (tup, time_us) in enumerate(zip(*chunk, strict=True), start=first):
            if number >= first_kept:
                time = time_us if time_us is not None and time_us < BEHIND_TIME else None
                origin = {"time_us": time, "component": tup.component, "stream": tup.stream}
                yield number, {**origin, "values": list(tup.values)}
