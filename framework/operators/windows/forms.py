"""The forms of windows by key: into which windows of its key a tuple is taken, and what becomes of them.

Each form asks the operator for the state of a window that is new, and for what to do with a tuple in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from framework.operators.state.kept import Kept
from framework.operators.windows.grids import first_start
from framework.operators.windows.key_state import OpenKeyWindows
from framework.operators.windows.key_window import KeyWindow
from framework.operators.windows.spec import BEHIND_TIME

Rows = Iterable[Sequence[Any]] | None
Emit = Callable[[Sequence[Any]], object]
"""Takes a row."""


class Operator(Protocol):
    """The functions of an operator for one window of a key."""

    def create(self) -> Any:
        """The state of a window without tuples."""

    def update(self, window: KeyWindow, tup: Any) -> Rows:
        """Take a tuple into a window; returns what to emit for it."""

    def output(self, window: KeyWindow) -> Rows:
        """Return the rows to emit as a window has ended."""

    def slide(self, window: KeyWindow) -> Any:
        """The state that remains as a window slides on."""


class Form:
    """Takes tuples into the windows of their keys.

    Args:
        windows: those of the task.
        operator: what is to be done with them.
    """

    def __init__(self, windows: OpenKeyWindows, operator: Operator) -> None:
        self._windows = windows
        self._operator = operator

    def take(self, kept: Kept, tup: Any, rows: list[Sequence[Any]]) -> None:
        """Take the tuple in process into windows of its key.

        Args:
            kept: the windows of the key.
            tup: the tuple.
            rows: what is to be emitted for it is appended here.
        """
        raise NotImplementedError

    def take_late(
        self, kept: Kept, tup: Any, time_us: int, now_us: int, rows: list[Sequence[Any]]
    ) -> bool:
        """Likewise a tuple with a time before now; whether any window has taken it."""
        raise NotImplementedError

    def end(self, kept: Kept, window: KeyWindow) -> Rows:
        """Return the rows to emit as a window has ended, that was closed."""
        return self._operator.output(window)

    def end_all(self, ended: Sequence[tuple[Kept, KeyWindow]], emit: Emit) -> None:
        """Emit for windows of a key group that have ended together, and close them.

        Nothing of this is taken back: an exception ends the run.

        Args:
            ended: the windows, in their order.
            emit: is called for each row.
        """
        output = self._operator.output
        for _, window in ended:
            for row in output(window) or ():
                emit(row)
        self._windows.end(ended)

    def _make(self, kept: Kept, start: int, end: int, at: int, *, is_over: bool = False) -> KeyWindow:
        return self._windows.make(kept, start, end, at, self._operator.create(), is_over=is_over)

    def _update(self, window: KeyWindow, at: int, tup: Any, rows: list[Sequence[Any]]) -> None:
        if at > window.last:
            window.last = at
        made = self._operator.update(window, tup)
        if made is not None:
            rows += made

    def _take_behind_time(self, kept: Kept, tup: Any, rows: list[Sequence[Any]]) -> None:
        """Take tuples after all that have a time into one more window, at the very end."""
        window = kept.value.by_start.get(BEHIND_TIME) or self._make(
            kept, BEHIND_TIME, BEHIND_TIME, BEHIND_TIME
        )
        self._update(window, BEHIND_TIME, tup, rows)


class Multi(Form):
    """Each window of a key has a state of its own."""

    def take(self, kept: Kept, tup: Any, rows: list[Sequence[Any]]) -> None:
        """As in the base class."""
        time_us, windows = self._windows.now(), kept.value.by_start
        if time_us >= BEHIND_TIME:
            self._take_behind_time(kept, tup, rows)
            return
        for start, end in self._windows.grid.windows_at(time_us):
            window = windows.get(start) or self._make(kept, start, end, time_us)
            self._update(window, time_us, tup, rows)

    def take_late(
        self, kept: Kept, tup: Any, time_us: int, now_us: int, rows: list[Sequence[Any]]
    ) -> bool:
        """As in the base class: windows that are over, and kept for late tuples, are put out again."""
        windows, is_taken = kept.value.by_start, False
        for start, end in self._windows.grid.windows_at(time_us):
            if end + self._windows.lateness_us <= now_us:
                continue
            is_taken, is_over = True, end <= now_us
            window = windows.get(start) or self._make(kept, start, end, time_us, is_over=is_over)
            window.is_update = is_over
            self._update(window, time_us, tup, rows)
            if is_over:
                rows += self._operator.output(window) or ()
        return is_taken


class Single(Form):
    """Each key has one window, which slides on for as long as it has tuples."""

    def take(self, kept: Kept, tup: Any, rows: list[Sequence[Any]]) -> None:
        """As in the base class."""
        time_us = self._windows.now()
        if time_us >= BEHIND_TIME:
            self._take_behind_time(kept, tup, rows)
        else:
            self._take_at(kept, tup, time_us, time_us, rows)

    def take_late(
        self, kept: Kept, tup: Any, time_us: int, now_us: int, rows: list[Sequence[Any]]
    ) -> bool:
        """As in the base class."""
        return self._take_at(kept, tup, time_us, max(time_us, now_us), rows)

    def _take_at(
        self, kept: Kept, tup: Any, time_us: int, now_us: int, rows: list[Sequence[Any]]
    ) -> bool:
        window: KeyWindow | None = next(iter(kept.value.by_start.values()), None)
        if window is not None:
            if time_us < window.start:
                return False
        else:
            start = self._windows.grid.first_start(now_us)
            if time_us < start:
                return False
            window = self._make(kept, start, self._windows.grid.end_of(start), time_us)
        self._update(window, time_us, tup, rows)
        return True

    def end(self, kept: Kept, window: KeyWindow) -> Rows:
        """As in the base class; the window slides on if any of its tuples stays in it."""
        rows, end, grid = [*(self._operator.output(window) or ())], window.end, self._windows.grid
        while (start := self._next_start(window)) is not None:
            window.state = self._operator.slide(window)
            window.start, window.end = start, grid.end_of(start)
            if window.end > end:
                self._windows.put(kept, window)
                break
            rows += self._operator.output(window) or ()
        return rows

    def end_all(self, ended: Sequence[tuple[Kept, KeyWindow]], emit: Emit) -> None:
        """As in the base class; those slide on of which any tuple stays."""
        output, slide, grid = self._operator.output, self._operator.slide, self._windows.grid
        left, gone = [], []
        for pair in ended:
            kept, window = pair
            for row in output(window) or ():
                emit(row)
            while (start := self._next_start(window)) is not None:
                window.state = slide(window)
                if grid.end_of(start) > window.end:
                    left.append(pair)
                    break
                self._windows.move(kept, window, start)
                for row in output(window) or ():
                    emit(row)
            else:
                gone.append(pair)
        self._windows.end(gone)
        self._windows.slide(left)

    def _next_start(self, window: KeyWindow) -> int | None:
        """The start of the next window, if any tuple stays in it.

        It ends when this one does where the zone of the windows has left out a day: then it has ended, too.
        """
        if window.end >= BEHIND_TIME:
            return None
        start = self._windows.grid.next_start(window.start)
        return start if start <= window.last else None


class Sessions(Form):
    """A window of a key ends when no tuple has come for some time."""

    def take(self, kept: Kept, tup: Any, rows: list[Sequence[Any]]) -> None:
        """As in the base class."""
        time_us = self._windows.now()
        if time_us >= BEHIND_TIME:
            self._take_behind_time(kept, tup, rows)
        else:
            self._take_at(kept, tup, time_us, rows)

    def _take_at(self, kept: Kept, tup: Any, time_us: int, rows: list[Sequence[Any]]) -> None:
        gap_us = self._windows.spec.gap_us
        assert gap_us is not None
        window: KeyWindow | None = next(iter(kept.value.by_start.values()), None)
        if window is None:
            window = self._make(kept, time_us, time_us + gap_us, time_us)
        window.end = max(window.end, time_us + gap_us)
        self._update(window, time_us, tup, rows)

    def take_late(
        self, kept: Kept, tup: Any, time_us: int, now_us: int, rows: list[Sequence[Any]]
    ) -> bool:
        """As in the base class: a tuple less than the gap ahead of an open session lets it begin earlier."""
        gap_us, by_start = self._windows.spec.gap_us, kept.value.by_start
        assert gap_us is not None
        window = next(iter(by_start.values()), None)
        if time_us + gap_us <= (now_us if window is None else window.start):
            return False
        if window is not None and time_us < window.start:
            del by_start[window.start]
            window.start = time_us
            by_start[time_us] = window
        self._take_at(kept, tup, time_us, rows)
        return True


class Counted(Form):
    """A window of a key ends with the tuple that completes it; windows are of so many of the key's tuples."""

    def take(self, kept: Kept, tup: Any, rows: list[Sequence[Any]]) -> None:
        """As in the base class."""
        windows: dict[int, KeyWindow] = kept.value.by_start
        size, advance = self._windows.spec.length_count, self._windows.spec.slide_count
        assert size is not None and advance is not None
        number = kept.value.count
        kept.value.count += 1
        for start in range(max(first_start(number, size, advance), 0), number + 1, advance):
            window = windows.get(start) or self._make(kept, start, start + size, number)
            self._update(window, number, tup, rows)
            if number + 1 == window.end:
                self._windows.drop(kept, window)
                rows += self._operator.output(window) or ()

    def take_late(
        self, kept: Kept, tup: Any, time_us: int, now_us: int, rows: list[Sequence[Any]]
    ) -> bool:
        """As in the base class: no tuple is late where windows are formed by count."""
        self.take(kept, tup, rows)
        return True


FormName = Literal["multi", "single"]
"""The name of a form of windows of durations."""
USUAL: Final = "multi"
"""The form that windows have where nothing else is chosen; the only one of sessions and counts."""
FORMS: Final[Mapping[FormName, type[Form]]] = {USUAL: Multi, "single": Single}
"""The forms of windows of durations, by the name that an operator has as its `windows`."""


def form_of(windows: OpenKeyWindows, operator: Operator, name: FormName) -> Form:
    """The form of windows that are configured.

    Args:
        windows: those of the task.
        operator: what is to be done with them.
        name: one of `FORMS`.

    Raises:
        ValueError: another form than the usual one of windows by count, of sessions, or of windows that are
            kept for late tuples.
    """
    spec = windows.spec
    if name != USUAL and (spec.length_us is None or windows.lateness_us):
        raise ValueError(
            f"windows={name!r}: expected durations and no allowed lateness, or windows={USUAL!r}"
        )
    if spec.gap_us is not None:
        return Sessions(windows, operator)
    if spec.length_count is not None:
        return Counted(windows, operator)
    return FORMS[name](windows, operator)
