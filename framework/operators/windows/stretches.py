"""Tuples of a stretch of time that lies within one pane, on their way into the windows of their keys at once.

All of them belong to the same pane, whichever their keys are. So each key is looked up once for all of its
tuples, and gets one accumulator that has them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from framework.operators.state.kept import Kept
from framework.operators.windows.aggregates.folding import Folding, PaneFolding
from framework.operators.windows.key_state import NamedKey, OpenKeyWindows
from framework.operators.windows.key_window import KeyWindow

TimeAt = Callable[[int], int]
"""The time of the tuple with an index, in microseconds; times do not descend."""
Found = tuple[Kept | None, KeyWindow | None]
"""The windows of a key, None if another task has it, and of these the one that a stretch belongs to."""


class Stretches:
    """Divides tuples where panes end, and puts those of a pane into the windows of their keys.

    Args:
        windows: those of the task: they tumble, or each key has one that slides.
        folding: has the accumulators of a window.
    """

    def __init__(self, windows: OpenKeyWindows, folding: Folding) -> None:
        self._windows = windows
        self._folding = folding
        self._grid = windows.grid
        self._slides = isinstance(folding, PaneFolding)

    def end(self, first: int, count: int, time_at: TimeAt) -> int:
        """The index behind the last of so many tuples in the same pane as the first one."""
        end_us = self._grid.pane_until(time_at(first))
        if time_at(count - 1) < end_us:
            return count
        return bisect_left(range(count), end_us, first, key=time_at)

    def found(self, keys: Iterable[NamedKey], time_us: int) -> list[Found]:
        """The windows of keys that tuples of a time come to."""
        start, find = self._grid.first_start(time_us), self._windows.of_named
        found: list[Found] = []
        for key in keys:
            kept = find(key)
            if kept is None:
                found.append((None, None))
            elif self._slides:
                found.append((kept, next(iter(kept.value.by_start.values()), None)))
            else:
                found.append((kept, kept.value.by_start.get(start)))
        return found

    def accumulators(self, found: Iterable[Found], time_us: int) -> list[Any]:
        """What these windows have of the pane of a time."""
        fresh, get = self._folding.fresh, self._folding.get
        return [fresh() if window is None else get(window, time_us) for _, window in found]

    def put(self, found: Sequence[Found], accs: Sequence[Any], lasts: Sequence[int], time_us: int) -> None:
        """Have windows go on with other accumulators for the pane of a time.

        Args:
            found: what `found` has given, in the order in which windows are made that are not there yet.
            accs: their accumulators, which have the tuples of each key.
            lasts: the time of the last of these.
            time_us: the time of any of them.
        """
        start, put = self._grid.first_start(time_us), self._folding.put
        end = self._grid.end_of(start)
        for (kept, window), acc, last_us in zip(found, accs, lasts, strict=True):
            if kept is None:
                continue
            if window is None:
                window = self._windows.make(kept, start, end, last_us, self._folding.create())
            window.last = last_us
            put(window, time_us, acc)


def folds_stretches(windows: OpenKeyWindows, folding: Folding) -> bool:
    """True if each tuple of a stretch belongs to one accumulator, that of its key."""
    return not windows.lateness_us and (windows.spec.tumbles or isinstance(folding, PaneFolding))
