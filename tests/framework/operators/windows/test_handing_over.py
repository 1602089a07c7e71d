"""Windows by key whose key groups go from task to task, against windows that one task has all the time."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest

from framework.operators.state import State
from framework.operators.windows.key_state import Due, KeyWindowState, OpenKeyWindows
from framework.operators.windows.spec import LATENESS_MS, PARTIAL, TIME_FIELD, WindowSpec
from tests.framework.operators.state.sharing import SharedState

MOST = 3
SLIDING: Final = WindowSpec(length_us=30, slide_us=10)
SESSIONS: Final = WindowSpec(gap_us=12)
DAY_US: Final = 86_400 * 10**6
DAYS: Final = WindowSpec(length_us=3 * DAY_US, slide_us=DAY_US, zone="America/New_York")
COUNTED: Final = WindowSpec(length_count=4, slide_count=4)
Fired = list[tuple[Due, list[tuple[Any, ...]]]]


class Windows:
    """Tasks that count the tuples of windows, and hand key groups over."""

    def __init__(self, spec: WindowSpec, lateness_ms: float) -> None:
        self.spec = spec
        self.conf = {LATENESS_MS: lateness_ms, PARTIAL: True, TIME_FIELD: None}
        self.now_us = 0
        states: dict[str, State] = {"windows": KeyWindowState()}
        self.shared = SharedState(states, MOST, now=lambda: self.now_us)
        self.fired: Fired = []
        for task in range(MOST):
            self.of(task).open(spec, self.conf)

    def of(self, task: int) -> OpenKeyWindows:
        found: OpenKeyWindows = self.shared.components[task].windows
        return found

    def process(self, key: int, time_us: int) -> None:
        """Add a tuple to the windows that it is in, after those that have ended before."""
        self.fire(time_us)
        self.now_us = time_us
        windows = self.shared.enter(key).windows
        kept = windows.of_tuple()
        for start, end in self.bounds(windows, kept, time_us):
            window = kept.value.by_start.get(start) or windows.make(kept, start, end, time_us, 0)
            window.state, window.last = window.state + 1, time_us
            if self.spec.gap_us is not None:
                window.end = time_us + self.spec.gap_us
        kept.value.count += self.spec.length_count is not None

    def bounds(self, windows: OpenKeyWindows, kept: Any, time_us: int) -> list[tuple[int, int]]:
        spec = self.spec
        if spec.gap_us is not None:
            return [(next(iter(kept.value.by_start), time_us), time_us + spec.gap_us)]
        if spec.length_count is not None:
            start = kept.value.count // spec.length_count * spec.length_count
            return [(start, start + spec.length_count)]
        return list(windows.grid.windows_at(time_us))

    def fire(self, time_us: int | None) -> None:
        """Have the windows end that do so before a time; those of several tasks are put in their order."""
        found: Fired = []
        for task in range(MOST):
            windows = self.of(task)
            next_end = windows.next_end()
            while (due := windows.next_due(time_us)) is not None:
                assert next_end is not None and next_end <= due.end_us
                found.append(self.take(windows, due))
            if time_us is None:
                found += [self.take(windows, due) for due in windows.rest()]
        self.fired += sorted((due, rows) for due, rows in found if rows)

    def take(self, windows: OpenKeyWindows, due: Due) -> tuple[Due, list[tuple[Any, ...]]]:
        rows = []
        for kept, window in windows.take(due):
            rows.append((window.key, window.start, window.end, window.state))
            windows.close(kept, window)
        return due, rows

    def die(self, task: int) -> None:
        self.shared.commit(task)
        self.shared.open(task)
        self.of(task).open(self.spec, self.conf)


def run(spec: WindowSpec, lateness_ms: float, seed: int, *, hands_over: bool) -> Fired:
    of_input, of_tasks = random.Random(seed), random.Random(-seed)
    # Days are those around the one of 1970 on which clocks were set forward there.
    step_us, time_us = (1, 0) if spec.zone is None else (3600 * 10**6, 110 * DAY_US)
    windows = Windows(spec, lateness_ms)
    for _ in range(400):
        time_us += step_us * of_input.choice([0, 0, 1, 3, 20 if of_input.random() < 0.1 else 1])
        if hands_over and of_tasks.random() < 0.1:
            windows.fire(time_us)
            windows.shared.hand_to(of_tasks.randint(1, MOST))
        if hands_over and of_tasks.random() < 0.05:
            windows.die(of_tasks.randrange(MOST))
        windows.process(of_input.randrange(40), time_us)
    windows.fire(None)
    return windows.fired


FORMS = [(SLIDING, 0), (SLIDING, 0.025), (DAYS, 0), (DAYS, 90_000_000), (SESSIONS, 0), (COUNTED, 0)]
NAMES = ["sliding", "late", "days", "late-days", "sessions", "counted"]


@pytest.mark.parametrize("spec, lateness_ms", FORMS, ids=NAMES)
@pytest.mark.parametrize("seed", range(1, 4))
def test_that_windows_fire_where_their_groups_are(spec: WindowSpec, lateness_ms: float, seed: int) -> None:
    expected = run(spec, lateness_ms, seed, hands_over=False)
    assert len(expected) >= 8
    assert run(spec, lateness_ms, seed, hands_over=True) == expected


def test_that_a_wrong_first_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    find = OpenKeyWindows._first_ends
    monkeypatch.setattr(
        OpenKeyWindows, "_first_ends", lambda self: {group: end + 1 for group, end in find(self).items()}
    )
    with pytest.raises(AssertionError):
        test_that_windows_fire_where_their_groups_are(SLIDING, 0, 1)


def test_that_a_wrong_number_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    note = OpenKeyWindows.note

    def note_no_number(self: OpenKeyWindows) -> None:
        note(self)
        for group, end in self._first_ends().items():
            self._table.note(group, end, 0)

    monkeypatch.setattr(OpenKeyWindows, "note", note_no_number)
    with pytest.raises(AssertionError):
        test_that_windows_fire_where_their_groups_are(COUNTED, 0, 1)


def test_that_windows_which_were_made_since_are_not_handed_over() -> None:
    windows = Windows(SLIDING, 0)
    windows.process(1, 5)
    windows.shared.commit(0)
    with pytest.raises(RuntimeError, match=r"state windows has made windows since hand_over\(\)"):
        windows.shared.own(0, range(0))
