"""Storm's promise under random faults: every tuple is acked once, and not before all of its tree was.

Each seed is a topology, an order in which its tasks take turns, and what goes wrong; `drawn_schedule` has
what it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from framework.runtime.exchange.destination import Destination
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.order.tracking.pending import Pending
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from tests.framework.reliability.schedules import drawn_schedule, run_schedule
from tests.framework.runtime.pieces import FakeClock
from tests.portions import at_every_change
from tests.rotation import schedules
from viper.forest import Forest

Patch = pytest.MonkeyPatch
AT_ONCE = 50
"""Schedules that one test runs."""


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


def problems_of(seed: int, monkeypatch: Patch) -> str:
    """Describe what is wrong with the run of a seed, with the schedule; empty if nothing is."""
    schedule = drawn_schedule(seed)
    try:
        problems = run_schedule(schedule, FakeClock(monkeypatch)).problems()
    except Exception as error:
        problems = [f"{type(error).__name__}: {error}"]
    return "\n".join([str(schedule), *problems]) if problems else ""


@pytest.mark.slow
@pytest.mark.parametrize("first", at_every_change(schedules()[::AT_ONCE]))
def test_every_tuple_is_acked_in_the_end(first: int, monkeypatch: Patch) -> None:
    for seed in range(first, min(first + AT_ONCE, schedules().stop)):
        problems = problems_of(seed, monkeypatch)
        assert not problems, problems


@pytest.mark.parametrize("seed", [925, 931])
def test_last_entries_behind_outputs_that_wait_for_room(seed: int, monkeypatch: Patch) -> None:
    """They were placed below these outputs, up to which the consumers had been told that all was there."""
    problems = problems_of(seed, monkeypatch)
    assert not problems, problems


# -- bugs that this must find


def acks_before_outputs(monkeypatch: Patch) -> None:
    """Acks take effect before what was emitted for the tuple has been counted."""
    take, placed = BoltAssigner.take, BoltAssigner.placed

    def take_and_ack(self: BoltAssigner) -> Any:
        emission = take(self)
        placed(self)
        return emission

    monkeypatch.setattr(BoltAssigner, "take", take_and_ack)


def slices_acked_before_outputs(monkeypatch: Patch) -> None:
    """Plant a bug: tuples that a bolt acks by itself are acked before its output has been counted."""
    begin = Acker.begin

    def begin_and_ack(self: Acker, positions: Any) -> bool:
        tracked = begin(self, positions)
        if tracked and self.automatic:
            self._forest.ack(positions, 0, len(positions))
        return tracked

    monkeypatch.setattr(Acker, "begin", begin_and_ack)
    monkeypatch.setattr(Acker, "_ack_by_itself", lambda self: None)


def restarts_forget(monkeypatch: Patch) -> None:
    """Plant a bug: the tuples that a restarted bolt held are forgotten, and do not fail."""

    def fail_all(self: Acker, cause: Any) -> int:
        for tree in self._held.values():
            self._forest.unhold(tree)
        self._fresh.clear()
        self._held.clear()
        return 0

    monkeypatch.setattr(Acker, "fail_all", fail_all)


def joints_released_at_once(monkeypatch: Patch) -> None:
    """A joint is not held open until what is anchored to it has been counted."""
    join = Acker._join

    def join_and_release(self: Acker, trees: Any) -> int:
        joint = join(self, trees)
        self._forest.ack_trees([joint])
        return joint

    monkeypatch.setattr(Acker, "_join", join_and_release)


def joints_never_released(monkeypatch: Patch) -> None:
    """A joint stays open for ever, and its parents with it."""
    take = Acker.take
    monkeypatch.setattr(Acker, "take", lambda self: (take(self)[0], []))


def copies_not_counted(monkeypatch: Patch) -> None:
    """A tuple that goes to several tasks is counted once."""

    def count_tracked(self: Destination, forest: Forest) -> None:
        count = self.count
        if count > self._counted:
            forest.add(self.positions, self._counted, count - self._counted, 1)
            self._counted = count

    monkeypatch.setattr(Destination, "count_tracked", count_tracked)


def roots_released_at_once(monkeypatch: Patch) -> None:
    """A root is not held open until its first tuple has been counted."""
    begin = Pending.begin

    def begin_and_release(self: Pending, ids: Any) -> Any:
        trees = begin(self, ids)
        self.release()
        return trees

    monkeypatch.setattr(Pending, "begin", begin_and_release)


def second_answers_count(monkeypatch: Patch) -> None:
    """A tuple that was failed is acked as well, and the other way round."""
    answer = Acker._answer

    def answer_twice(self: Acker, tup_id: str, verb: str, failure: Any) -> bool:
        tree = self._fresh.get(tup_id) or self._held.get(tup_id)
        answered = answer(self, tup_id, verb, failure)
        if tree:
            self._acks_to_give.append((tree, False))
            self._acks_to_give.append((tree, False))
        return answered

    monkeypatch.setattr(Acker, "_answer", answer_twice)


def nothing_times_out(monkeypatch: Patch) -> None:
    """Plant a bug: forgotten tuples are never given up."""
    monkeypatch.setattr("viper.forest.Trees.expire", lambda self: [])


PLANTED: dict[Callable[[Patch], None], int] = {
    acks_before_outputs: 1,
    slices_acked_before_outputs: 12,
    restarts_forget: 6,
    joints_released_at_once: 1,
    joints_never_released: 9,
    copies_not_counted: 2,
    roots_released_at_once: 5,
    second_answers_count: 2,
    nothing_times_out: 1,
}
"""Each bug, and the seed that was seen to find it first, or fastest."""


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    plant(monkeypatch)
    # The others are for when the one that is remembered no longer finds it.
    assert any(problems_of(seed, monkeypatch) for seed in (PLANTED[plant], *range(100)))
