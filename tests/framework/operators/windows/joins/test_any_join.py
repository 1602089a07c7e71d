"""Whole joins by Hypothesis: any events, conditions, plans, and disorder within the slack of the sources."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from framework.operators.components import JoinBolt
from framework.operators.windows.joins import Band, Condition, Equal, SameWindow, Within
from framework.operators.windows.joins.conditions import Bounds
from tests.framework.operators.windows.joins.joined import FIELDS, Event, Row, joining
from tests.framework.operators.windows.test_against_brute_force import PLANS
from tests.framework.runtime.pieces import run_built

SLACK_MS = 6
FEW = st.sampled_from([None, 0, 1, 2, 3, 7])
EVENTS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, SLACK_MS), st.sampled_from("ab"), FEW, FEW),
    max_size=40,
)
"""Of each event whether it is a right one, how much later it is than the one before, how much earlier than
that it says it is, and its values."""
SPANS = st.sampled_from(["0s", "1ms", "5ms", "12ms"])
TIMES = st.one_of(
    st.builds(Within, SPANS),
    st.builds(lambda before, after: Within(before=before, after=after), SPANS, SPANS),
    st.sampled_from([SameWindow("1ms"), SameWindow("7ms"), SameWindow("10ms") & Within(after="3ms")]),
)
PARTS = st.lists(st.sampled_from(["equal", "band x", "band y", "function"]), unique=True, max_size=3)


def differs(left: Any, right: Any) -> bool:
    """A predicate of one's own."""
    return bool((left[2] or 0) + (right[2] or 0) != 2)


MADE: dict[str, Condition] = {
    "equal": Equal(left="k", right="l"),
    "band x": Band(1, left="x", right="a"),
    "band y": Band(1.5, left="y", right="b"),
    "function": Condition(functions=(differs,)),
}
INDEXED = {"equal": "k", "band x": "x", "band y": "y"}


def matches(parts: list[str], left: Row, right: Row) -> bool:
    if "equal" in parts and left[1] != right[1]:
        return False
    for name, at, width in (("band x", 2, 1), ("band y", 3, 1.5)):
        if name in parts and (left[at] is None or right[at] is None or abs(left[at] - right[at]) > width):
            return False
    return "function" not in parts or differs(left, right)


def in_time(bounds: tuple[Bounds, ...], left_ms: int, right_ms: int) -> bool:
    """True if two times suit, as the conditions say it in words."""
    for one in bounds:
        if not -one.before_us <= (right_ms - left_ms) * 1000 <= one.after_us:
            return False
        size_us = None if one.window is None else one.window.length_us
        if size_us is not None and left_ms * 1000 // size_us != right_ms * 1000 // size_us:
            return False
    return True


def in_order(events: list[Event]) -> list[Event]:
    """By time, the left ones first, and those of one time as they were brought."""
    return sorted(events, key=lambda event: (event[1], event[0]))


def pairs(events: list[Event], bounds: tuple[Bounds, ...], parts: list[str]) -> list[Row]:
    """The nested loop: by the later tuple of a pair, then by the earlier one."""
    found = []
    for number, (side, time_ms, values) in enumerate(events):
        for other, stored_ms, stored in events[:number]:
            if side == other:
                continue
            left, right = (values, stored) if side == 0 else (stored, values)
            times = (time_ms, stored_ms) if side == 0 else (stored_ms, time_ms)
            if in_time(bounds, *times) and matches(parts, left, right):
                found.append(left + right)
    return found


# To shrink an example would take minutes, as each is a whole run.
@pytest.mark.slow(daily=True)
@settings(max_examples=100, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    drawn=EVENTS, begin=st.sampled_from([0, -21, 1_700_000_000_000]), time=TIMES, parts=PARTS,
    indexed=st.integers(0, 7), par=st.integers(1, 6), by_key=st.booleans(), typed=st.booleans(),
    scan=st.sampled_from(["c", "numpy"]), options=st.sampled_from(PLANS),
)  # fmt: skip
def test_any_join_is_that_of_a_nested_loop(
    drawn: list[tuple[bool, int, int, str, Any, Any]], begin: int, time: Condition, parts: list[str],
    indexed: int, par: int, scan: Any, options: dict[str, Any], *, by_key: bool, typed: bool,
) -> None:  # fmt: skip
    events, now = list[Event](), begin
    for is_right, later, earlier, key, x, y in drawn:
        now += later
        row: Row = (now - earlier, key, x, None if y is None else float(y))
        events.append((int(is_right), now - earlier, (*row, 0.5) if is_right else row))
    index = [INDEXED[name] for n, name in enumerate(parts) if name in INDEXED and indexed >> n & 1]
    on = time
    for name in parts:
        on &= MADE[name]
    keys = ("k", "l") if by_key and "equal" in parts else None
    bolt = JoinBolt("left", "right", on, FIELDS, index=index, scan=scan, keys=7)
    builder = joining(events, bolt, par, keys, typed=typed, slack_ms=SLACK_MS)
    found = run_built(builder, **options).result("sink")
    assert [row for row, _ in found] == pairs(in_order(events), time.bounds, parts)
