"""The tracked tuples of one spout's task, with a small forest and no spout."""

from __future__ import annotations

from typing import Any

import pytest

from framework.runtime.observation import TimeHistogram, percentile_s
from framework.runtime.order.tracking.pending import Pending
from framework.runtime.order.tracking.reasons import Cause, Reason
from tests.framework.runtime.pieces import FakeClock
from viper.arena import Arena
from viper.forest import TOO_LARGE, Forest
from viper.position import Position, Positions

ROOM = 4


@pytest.fixture
def forest() -> Forest:
    arena = Arena.private(Forest.size(2, ROOM, 4) + 4096)
    return Forest.create(arena, 2, trees=ROOM, links=4)


def pending_of(forest: Forest, timeout_s: float | None = 10.0, most: int = 3) -> Pending:
    return Pending(forest, 0, most, timeout_s)


def outcomes(pending: Pending, now_s: float = 0.0) -> list[Any]:
    pending.look(now_s)
    return list(iter(pending.next_outcome, None))


def begun(pending: Pending, forest: Forest, *ids: Any) -> list[int]:
    """Trees of tuples that one task has received each."""
    trees = pending.begin(ids)
    for tree in trees:
        positions = _positions(tree)
        forest.add(positions, 0, 1, 1)
    pending.placed()
    return list(trees)


def _positions(tree: int) -> Positions:
    positions = Positions()
    positions.append(Position(1, 0, 0))
    positions.set_tree(0, tree)
    return positions


def test_a_tuple_is_open_until_its_tree_is(forest: Forest) -> None:
    pending = pending_of(forest)
    (tree,) = begun(pending, forest, "id")
    assert not pending.has_news(0.0)
    assert (len(pending), pending.room, outcomes(pending)) == (1, 2, [])
    forest.ack_trees([tree])
    assert pending.has_news(0.0)
    assert outcomes(pending) == [("id", None)]
    assert (len(pending), pending.room) == (0, 3)


def test_what_nobody_receives_is_acked_at_its_release(forest: Forest) -> None:
    pending = pending_of(forest)
    pending.begin(["a", "b"])
    assert outcomes(pending) == []
    pending.placed()
    assert outcomes(pending) == [("a", None), ("b", None)]
    pending.acked_at_once("c")
    assert pending.has_news(0.0)
    assert outcomes(pending) == [("c", None)]


@pytest.mark.parametrize("cause", list(Cause)[:3])
def test_reasons_come_through(forest: Forest, cause: Cause) -> None:
    pending = pending_of(forest)
    (tree,) = begun(pending, forest, "id")
    assert forest.fail(tree, Reason(cause, 7).encode())
    forest.ack_trees([tree])
    assert outcomes(pending) == [("id", Reason(cause, 7))]
    assert Reason.decode(TOO_LARGE) == Reason(Cause.TOO_LARGE)


def test_more_than_there_is_room_for_are_not_tracked(forest: Forest) -> None:
    pending = pending_of(forest)
    trees = pending.begin(range(ROOM + 2))
    assert list(trees).count(0) == 2
    assert outcomes(pending) == [(ROOM, Reason(Cause.NO_ROOM)), (ROOM + 1, Reason(Cause.NO_ROOM))]
    pending.placed()
    assert outcomes(pending) == [(number, None) for number in range(ROOM)]


def test_places_of_trees_that_have_ended_are_used_again(forest: Forest) -> None:
    pending = pending_of(forest)
    forest.ack_trees(begun(pending, forest, *range(ROOM)))
    assert 0 not in begun(pending, forest, *range(ROOM))
    assert outcomes(pending) == [(number, None) for number in range(ROOM)]


def test_only_what_is_held_times_out(forest: Forest, clock: FakeClock) -> None:
    clock.now = 0.0
    pending = pending_of(forest)
    held, moving = begun(pending, forest, "held", "moving")
    forest.hold(held)
    assert pending.looks_at_s == 10.0
    for now_s, expected in [(9.9, []), (10.0, []), (19.9, []), (20.0, ["held"]), (60.0, [])]:
        assert pending.has_news(now_s) == (now_s in (10.0, 20.0, 60.0))
        assert [tup_id for tup_id, _ in outcomes(pending, now_s)] == expected, now_s
    forest.answer_held(held)  # too late
    forest.ack_trees([moving])
    assert outcomes(pending, 61.0) == [("moving", None)]


def test_a_late_answer_within_the_second_timeout_saves_a_tuple(forest: Forest, clock: FakeClock) -> None:
    clock.now = 0.0
    pending = pending_of(forest)
    (tree,) = begun(pending, forest, "id")
    forest.hold(tree)
    assert outcomes(pending, 10.0) == []
    forest.unhold(tree)
    forest.hold(tree)
    assert outcomes(pending, 20.0) == []
    assert outcomes(pending, 30.0) == [("id", Reason(Cause.TIMED_OUT))]


def test_without_a_timeout_nothing_times_out(forest: Forest) -> None:
    pending = pending_of(forest, timeout_s=None)
    (tree,) = begun(pending, forest, "id")
    forest.hold(tree)
    assert pending.looks_at_s == float("inf")
    assert outcomes(pending, 1e9) == outcomes(pending, 2e9) == []


def test_all_fail_when_a_worker_has_died(forest: Forest) -> None:
    pending = pending_of(forest)
    _, done = begun(pending, forest, "open", "done")
    forest.ack_trees([done])
    forest.incident()
    assert pending.has_news(0.0)
    assert outcomes(pending) == [("done", None), ("open", Reason(Cause.WORKER_DIED))]
    assert not pending.has_news(0.0)


def test_what_is_abandoned_is_heard_nothing_of(forest: Forest) -> None:
    pending = pending_of(forest)
    (first, _) = begun(pending, forest, 1, 2)
    pending.acked_at_once(3)
    assert pending.abandon() == 3
    forest.ack_trees([first])
    assert (outcomes(pending), len(pending), pending.room) == ([], 0, 3)


class TestTimes:
    """One tuple at a time is timed, from its emit until its ack is collected."""

    @pytest.fixture
    def times(self) -> TimeHistogram:
        return TimeHistogram()

    @pytest.fixture
    def pending(self, forest: Forest, clock: FakeClock, times: TimeHistogram) -> Pending:
        return Pending(forest, 0, ROOM, 10.0, times)

    def test_of_the_first_of_those_in_flight(
        self, pending: Pending, forest: Forest, clock: FakeClock, times: TimeHistogram
    ) -> None:
        first, second = begun(pending, forest, "a", "b")
        clock.now += 1.0
        forest.ack_trees([second])
        outcomes(pending)
        assert times.counts() == ()
        clock.now += 1.0
        forest.ack_trees([first])
        outcomes(pending)
        found = percentile_s(times.counts(), 0.5)
        assert found is not None and 2.0 <= found < 2.4 and len(times.counts()) == 1

    def test_the_next_one_is_timed_when_that_is_over(
        self, pending: Pending, forest: Forest, clock: FakeClock, times: TimeHistogram
    ) -> None:
        for _ in range(3):
            (tree,) = begun(pending, forest, "a")
            clock.now += 1.0
            forest.ack_trees([tree])
            outcomes(pending)
        assert sum(count for _, count in times.counts()) == 3

    def test_a_tuple_that_fails_has_no_time_and_stops_no_other(
        self, pending: Pending, forest: Forest, times: TimeHistogram
    ) -> None:
        (tree,) = begun(pending, forest, "a")
        forest.fail(tree, Reason(Cause.RAISED, 1).encode())
        outcomes(pending)
        assert times.counts() == ()
        (tree,) = begun(pending, forest, "b")
        forest.ack_trees([tree])
        outcomes(pending)
        assert sum(count for _, count in times.counts()) == 1

    def test_nor_has_one_that_times_out_or_is_abandoned(
        self, pending: Pending, forest: Forest, clock: FakeClock, times: TimeHistogram
    ) -> None:
        begun(pending, forest, "a")
        pending.abandon()
        (tree,) = begun(pending, forest, "b")
        forest.ack_trees([tree])
        outcomes(pending)
        assert sum(count for _, count in times.counts()) == 1
