"""The windows of one task: its tuples, the window that fired last, and the window that comes next.

A window is a run of tuples that follow one another in the order, and neither end of it ever goes back. So
tuples are kept once, however many windows they belong to, and a window is two indexes.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from framework.operators.windows.spec import WindowSpec
from framework.operators.windows.tuple_window import Bounds, TupleWindow

_LEAST_GONE: Final = 4
"""Tuples are let go when one in so many is needed no more, as the others are copied then."""


@dataclass(slots=True)
class Marks:
    """The progress of the windows of a task.

    Tuples are numbered in the order in which they came.
    """

    first: int = 0
    """The number of the first tuple that is kept."""
    count: int = 0
    """The number of tuples that have come, with those that belong to no window."""
    shown: Bounds = (0, 0)
    """The numbers of the tuples of the window that fired last and did not raise."""
    shown_us: int | None = None
    """The end of that window; None before the first."""
    done: int = 0
    """The number behind the last tuple of the window that fired last, whether it raised or not."""
    passed_us: int | None = None
    """An end by time: windows that end there or before have fired, or are empty; None before the first."""
    is_behind: bool = False
    """True if tuples have come after all that have a time, since a window fired."""


class Image(NamedTuple):
    """The state of the windows before a callback."""

    rows: list[Any]
    times: list[int]
    kept: int
    """The number of tuples that they had."""
    marks: Marks


class WindowContents:
    """The tuples of one task's windows.

    Args:
        spec: how its windows are formed.
        partial: whether, at the end of the input, a window fires that no tuple has completed.
        lateness_us: how long a window is kept behind its end for late tuples, in microseconds.
    """

    def __init__(self, spec: WindowSpec, *, partial: bool = False, lateness_us: int = 0) -> None:
        self.spec = spec
        if spec.slide_us is not None:
            self._grid = spec.grid()
        self._partial = partial
        self._lateness_us = lateness_us
        self.rows: list[Any] = []
        """The tuples that are kept."""
        self.times: list[int] = []
        """Their times, in microseconds, which do not descend."""
        self.marks = Marks()

    # -- tuples

    def add(self, row: Any, time_us: int | None) -> None:
        """Take the next tuple.

        Args:
            row: the tuple.
            time_us: its time; None for one that lies after all that has a time.
        """
        marks, times = self.marks, self.times
        if time_us is None:
            marks.is_behind = True
        last_us = times[-1] if times else marks.passed_us
        if last_us is not None and (time_us is None or time_us < last_us):
            time_us = last_us
        marks.count += 1
        if marks.is_behind or self._is_in_any(time_us or 0):
            self.rows.append(row)
            times.append(time_us or 0)

    def _is_in_any(self, time_us: int) -> bool:
        """True if a tuple that has just come belongs to any window: there may be gaps between windows."""
        spec = self.spec
        if spec.length_us is not None and spec.slide_us is not None:
            return time_us > self._grid.start_to(self._grid.end_from(time_us))
        if spec.length_count is not None and spec.slide_count is not None and not self._partial:
            return (self.marks.count - 1) % spec.slide_count >= spec.slide_count - spec.length_count
        return True

    @property
    def needed(self) -> int:
        """The number of tuples that may be in the next window, or were in the one that fired last."""
        return self.marks.first + len(self.rows) - self._first_needed()

    def trim(self) -> None:
        """Let go of tuples that are needed no more, once they are a fourth of all."""
        gone = self._first_needed() - self.marks.first
        if gone * _LEAST_GONE >= len(self.rows):
            # Into new lists, as the window that fired last may still be asked for its tuples.
            self.rows, self.times = self.rows[gone:], self.times[gone:]
            self.marks.first += gone

    def image(self) -> Image:
        """Return the state to which `take_back` returns."""
        return Image(self.rows, self.times, len(self.rows), replace(self.marks))

    def take_back(self, image: Image) -> None:
        """Go back to what was known.

        A window that has fired since has been tried, and is not tried again.
        """
        marks, before = self.marks, image.marks
        if image.rows is self.rows:
            marks.count, marks.is_behind = before.count, before.is_behind
            marks.shown, marks.shown_us = before.shown, before.shown_us
            marks.done = min(marks.done, marks.first + image.kept)
        else:  # a late tuple has come, whose windows are no others than before
            self.marks = before
        self.rows, self.times = image.rows, image.times
        del self.rows[image.kept :], self.times[image.kept :]

    def _first_needed(self) -> int:
        first, (since, until) = self._next_first(), self.marks.shown
        return min(first, since) if since < until else first

    def _next_first(self) -> int:
        """The number of the first tuple that may be in the next window."""
        spec, marks, times = self.spec, self.marks, self.times
        if spec.gap_us is not None:
            return marks.done
        if spec.length_count is not None:
            came = marks.done if spec.is_timed else marks.first + len(times)
            return max(came - spec.length_count, marks.first)
        assert spec.length_us is not None
        if spec.slide_us is None:
            since_us = times[-1] - spec.length_us if times else None
        elif marks.passed_us is None:
            since_us = None
        else:
            since_us = self._grid.start_to(marks.passed_us + 1)
            if self._lateness_us and times:
                since_us = min(since_us, self._grid.start_to(times[-1] - self._lateness_us))
        return marks.first + (0 if since_us is None else bisect_right(times, since_us))

    # -- windows that end at a time

    def next_end(self) -> int | None:
        """The end of the next window that has a tuple, of those that have come; None where there is none."""
        spec, marks, times = self.spec, self.marks, self.times
        undone = marks.done - marks.first
        if not spec.is_timed or marks.is_behind:
            return None
        if spec.gap_us is not None:
            return times[-1] + spec.gap_us if len(times) > undone else None
        grid = self._grid
        least = None if marks.passed_us is None else grid.end_from(marks.passed_us + 1)
        if spec.length_us is None:  # else it would fire for ever where no tuple comes
            return _at_least(grid.end_from(times[undone]), least) if len(times) > undone else None
        end = _at_least(grid.end_from(times[0]), least) if times else None
        while end is not None:
            index = bisect_right(times, grid.start_to(end))
            if index == len(times):
                return None
            if times[index] <= end:
                break
            end = grid.end_from(times[index])
        return end

    def over_at(self, end_us: int) -> int:
        """The earliest time of an input at which a window with that end is complete."""
        return end_us if self.spec.gap_us is not None else end_us + 1

    def first_end_behind(self, time_us: int) -> int:
        """The first end of a window that a tuple of this time, or of a later one, may make."""
        gap_us = self.spec.gap_us
        return self._grid.end_from(time_us) if gap_us is None else time_us + gap_us

    def first_end_from(self, time_us: int) -> int | None:
        """The end of the next window, whether its tuples have come or are yet to come, from a time on.

        None where no window can end at that time before its tuples have come.
        """
        end = self.next_end()
        if self.spec.slide_us is None:
            return end
        following = self._grid.end_from(time_us)
        return following if end is None else min(end, following)

    def window_to(self, end_us: int) -> TupleWindow:
        """The window that ends then, which fires now."""
        spec, marks, times = self.spec, self.marks, self.times
        behind = bisect_right(times, end_us)
        if spec.gap_us is not None:
            first = marks.done - marks.first
            return self._fired(first, behind, times[first], end_us)
        marks.passed_us = end_us
        if spec.length_count is not None:
            return self._fired(max(behind - spec.length_count, 0), behind, None, end_us)
        start = self._grid.start_to(end_us)
        return self._fired(bisect_right(times, start), behind, start, end_us)

    # -- late tuples

    def add_late(self, row: Any, time_us: int, now_us: int) -> list[TupleWindow] | None:
        """Take a tuple that has come behind later ones, if any window is kept for it.

        Args:
            row: the tuple.
            time_us: its time.
            now_us: how far time is: windows that end before this are over.

        Returns:
            The windows that were over, of which it is now; None if it was not taken.
        """
        spec, marks = self.spec, self.marks
        if spec.length_us is None or spec.slide_us is None:
            return None
        grid, ends = self._grid, list[int]()
        end = max(grid.end_from(time_us), grid.end_from(now_us - self._lateness_us))
        while grid.start_to(end) < time_us:
            ends.append(end)
            end = grid.end_from(end + 1)
        if not ends:
            return None
        index = bisect_right(self.times, time_us)
        # In new lists, as windows that have fired may still be asked for their tuples.
        self.rows = [*self.rows[:index], row, *self.rows[index:]]
        self.times = [*self.times[:index], time_us, *self.times[index:]]
        marks.count += 1
        marks.passed_us = _at_least(grid.end_before(now_us), marks.passed_us)
        marks.done += time_us <= marks.passed_us
        if marks.shown_us is not None:
            since, until = marks.shown
            before = time_us <= grid.start_to(marks.shown_us)
            marks.shown = since + before, until + (time_us <= marks.shown_us)
        return [self._updated(end, index) for end in ends if end < now_us]

    def _updated(self, end_us: int, late: int) -> TupleWindow:
        start = self._grid.start_to(end_us)
        bounds = bisect_right(self.times, start), bisect_right(self.times, end_us)
        return TupleWindow(self.rows, bounds, bounds, start, end_us, late)

    # -- windows that a tuple completes

    @property
    def is_complete(self) -> bool:
        """True if the tuple that came last completes a window."""
        count = self.spec.slide_count
        return count is not None and self.marks.count % count == 0

    def window(self) -> TupleWindow:
        """The window of the tuples that came last, which fires now."""
        spec, times = self.spec, self.times
        end, behind = times[-1], len(times)
        if spec.length_count is not None:
            return self._fired(max(behind - spec.length_count, 0), behind, None, end)
        assert spec.length_us is not None
        start = end - spec.length_us
        return self._fired(bisect_right(times, start), behind, start, end)

    # -- the end of the input

    def rest(self) -> TupleWindow | None:
        """Return the window of the tuples that came last, at the end of the input; None if there is none.

        If windows end at times, it has the tuples after all that have a time.
        """
        spec, marks = self.spec, self.marks
        undone = marks.done - marks.first
        if len(self.times) <= undone:
            return None
        if spec.is_timed:
            marks.is_behind = False
            return self._fired(undone, len(self.times), None, self.times[-1])
        return self.window() if self._partial and not self.is_complete else None

    def _fired(self, first: int, behind: int, start: int | None, end: int) -> TupleWindow:
        marks = self.marks
        since, until = marks.shown
        made = TupleWindow(
            self.rows, (first, behind), (since - marks.first, until - marks.first), start, end
        )
        marks.done = marks.first + behind
        marks.shown, marks.shown_us = (marks.first + first, marks.done), end
        return made


def _at_least(end: int, least: int | None) -> int:
    return end if least is None else max(end, least)
