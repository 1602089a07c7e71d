"""The windows of one key, as an operator over windows by key gets them."""

from __future__ import annotations

from typing import Any

from framework.operators.windows.aggregates.panes import PaneWindow


class KeyWindow:
    """A window of one key: the tuples of the key whose times are in [start, end).

    If windows are formed by count, start and end are numbers of the key's tuples, from 0 on.
    """

    __slots__ = ("end", "is_over", "is_update", "key", "last", "number", "start", "state")

    def __init__(
        self, key: Any, start: int, end: int, number: int, last: int, state: Any, *, is_over: bool = False
    ) -> None:
        self.key = key
        """The key that its tuples have."""
        self.start = start
        """Event time in microseconds from which on its tuples lie."""
        self.end = end
        """Event time in microseconds before which they lie."""
        self.number = number
        """Of two windows of a key group, the one that was made first has the smaller number."""
        self.last = last
        """The time of its latest tuple."""
        self.state = state
        """The operator's state for its tuples; to be assigned, or changed in place."""
        self.is_over = is_over
        """True if it has ended, and is kept for late tuples."""
        self.is_update = False
        """True if it had ended before, and a late tuple has come to it."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.key!r:.100}, from {self.start} to {self.end}>"


class SideWindow:
    """The part of a key's window that belongs to one of an operator's two inputs."""

    __slots__ = ("_side", "_window")

    def __init__(self, window: KeyWindow, side: int) -> None:
        self._window = window
        self._side = side

    @property
    def key(self) -> Any:
        """As of `KeyWindow`."""
        return self._window.key

    @property
    def start(self) -> int:
        """As of `KeyWindow`."""
        return self._window.start

    @property
    def end(self) -> int:
        """As of `KeyWindow`."""
        return self._window.end

    @property
    def is_update(self) -> bool:
        """As of `KeyWindow`."""
        return self._window.is_update

    @property
    def state(self) -> Any:
        """The operator's state for the tuples of this input."""
        return self._window.state[self._side]

    @state.setter
    def state(self, value: Any) -> None:
        self._window.state[self._side] = value


class KeyWindows:
    """All windows of one key that are open, or kept for late tuples."""

    __slots__ = ("by_start", "count", "group", "key")

    def __init__(self, key: Any, group: int) -> None:
        self.key = key
        self.group = group
        """The key group that the key belongs to."""
        self.count = 0
        """The number of tuples that the key has had, if windows are formed by count."""
        self.by_start: dict[int, KeyWindow] = {}
        """The windows by their start."""

    def __reduce__(self) -> tuple[Any, ...]:
        return unpacked, self.packed()

    def packed(self) -> tuple[Any, ...]:
        """All of it as plain values, which are pickled in half the time; for `unpacked`."""
        windows = []
        for w in self.by_start.values():
            # Of a state that is made of panes these alone are kept.
            state = w.state.kept if w.state.__class__ is PaneWindow else w.state
            windows.append((w.start, w.end, w.number, w.last, state, w.is_over))
        return self.key, self.group, self.count, windows


def unpacked(key: Any, group: int, count: int, windows: list[tuple[Any, ...]]) -> KeyWindows:
    """The windows of a key that were packed."""
    made = KeyWindows(key, group)
    made.count = count
    for *parts, is_over in windows:
        made.by_start[parts[0]] = KeyWindow(key, *parts, is_over=is_over)
    return made
