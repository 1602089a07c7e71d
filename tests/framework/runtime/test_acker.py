"""The answers of a bolt's task, with a small forest and no bolt."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import pytest

from framework.model.errors import AnswerError
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.order.tracking.answers import Mistakes, Unanswered
from framework.runtime.order.tracking.reasons import Cause, Reason
from viper.arena import Arena
from viper.forest import Forest, Trees
from viper.position import Position, Positions

ROOM = 8


class Tup(NamedTuple):
    """A tuple with an id and no more."""

    id: str


class FakeInbox:
    """Hands tuples 1, 2, ... out when it is told to."""

    def __init__(self) -> None:
        self.last_id = self.handed = 0
        self.open = False

    def hand(self) -> Tup:
        """The next tuple."""
        self.last_id += 1
        self.handed += 1
        self.open = True
        return Tup(str(self.last_id))


class Bench:
    """Answers of one task to tuples of trees that begin here."""

    def __init__(self, strict: bool = False, automatic: bool = True) -> None:
        arena = Arena.private(Forest.size(2, ROOM, ROOM) + 4096)
        self.forest = Forest.create(arena, 2, trees=ROOM, links=ROOM)
        self.roots: Trees = self.forest.table(0)
        self.inbox: Any = FakeInbox()
        self.counters = TaskCounters()
        logger = logging.getLogger("tested")
        self.unanswered = Unanswered()
        mistakes = Mistakes(self.counters, logger, strict=strict)
        self.acker = Acker(self.forest, 7, 1, self.inbox, self.unanswered, mistakes)
        self.acker.automatic = automatic

    def slice(self, count: int) -> list[int]:
        """So many tuples come, each of a tree of its own; returns the trees."""
        trees = list(self.roots.begin(count))
        self.receives(trees)
        return trees

    def receives(self, trees: list[int]) -> bool:
        """Tuples of these trees come; the tuple keeps the tree open."""
        positions = Positions()
        for index, tree in enumerate(trees):
            positions.append(Position(index, 0, 0))
            positions.set_tree(index, tree)
        self.inbox.handed = 0
        acker = self.acker
        return acker.begin(positions, automatic=acker.automatic, anchors_itself=acker.anchors_itself)

    def hand(self) -> Tup:
        """The next tuple is in process."""
        tup: Tup = self.inbox.hand()
        if not (self.acker.automatic or self.acker.receive(tup)):
            self.unanswered.receive(tup)
        return tup

    def end(self) -> None:
        """The slice is over, and everything emitted has been counted."""
        self.inbox.open = False
        self.acker.give(self.acker.take())
        self.acker.end()

    def done(self) -> list[tuple[int, Reason | None]]:
        """The trees that have ended, and why."""
        return [(tree, Reason.decode(why) if why else None) for tree, why in self.roots.take()]


def test_all_are_acked_at_the_end_of_the_slice() -> None:
    bench = Bench()
    trees = bench.slice(3)
    for _ in trees:
        bench.hand()
    assert bench.done() == []
    bench.end()
    assert bench.done() == [(tree, None) for tree in trees]


def test_what_failed_or_raised_is_not_acked() -> None:
    bench = Bench()
    trees = bench.slice(4)
    bench.hand()
    assert bench.acker.fail(bench.hand())
    bench.hand()
    assert bench.acker.raised(fails=True)
    bench.hand()
    bench.end()
    expected = {1: Reason(Cause.FAILED, 7), 2: Reason(Cause.RAISED, 7)}
    assert dict(bench.done()) == {tree: expected.get(index) for index, tree in enumerate(trees)}


def test_what_raised_without_failing_is_held() -> None:
    bench = Bench()
    (tree, other) = bench.slice(2)
    tup = bench.hand()
    bench.acker.raised(fails=False)
    bench.hand()
    bench.end()
    assert bench.done() == [(other, None)]
    assert bench.acker.held == 1
    assert bench.acker.ack(tup)
    bench.acker.give(bench.acker.take())
    assert bench.done() == [(tree, None)]


@pytest.mark.parametrize("first", ["ack", "fail"])
def test_an_answer_before_an_error_counts(first: str) -> None:
    bench = Bench(automatic=False)
    (tree,) = bench.slice(1)
    getattr(bench.acker, first)(bench.hand())
    bench.acker.raised(fails=True)
    bench.end()
    assert bench.done() == [(tree, None if first == "ack" else Reason(Cause.FAILED, 7))]


def test_an_ack_takes_effect_when_it_is_given() -> None:
    bench = Bench(automatic=False)
    (tree,) = bench.slice(1)
    assert bench.acker.ack(bench.hand())
    assert bench.acker.waiting
    given = bench.acker.take()
    assert not bench.acker.waiting
    assert bench.done() == []
    bench.acker.give(given)
    assert bench.done() == [(tree, None)]


def test_what_is_not_answered_is_held_and_may_expire() -> None:
    bench = Bench(automatic=False)
    trees = bench.slice(2)
    kept, other = bench.hand(), bench.hand()
    bench.acker.ack(other)
    bench.end()
    assert (bench.done(), bench.acker.held, bench.acker._has_new_holds) == ([(trees[1], None)], 1, True)
    assert (bench.roots.expire(), bench.roots.expire()) == ([], [trees[0]])
    assert bench.acker.ack(kept)  # too late
    bench.acker.give(bench.acker.take())
    assert bench.done() == []


def test_second_answers_are_counted_and_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(automatic=False)
    bench.slice(1)
    tup = bench.hand()
    assert bench.acker.ack(tup)
    assert not bench.acker.fail(tup.id)
    assert not bench.acker.ack(tup)
    assert bench.counters.second_answers == 2
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "fails tuple 1, which has been answered before" in caplog.text


def test_second_answers_are_errors_where_answers_are_strict() -> None:
    bench = Bench(strict=True, automatic=False)
    bench.slice(1)
    tup = bench.hand()
    bench.acker.ack(tup)
    with pytest.raises(AnswerError, match="acks tuple 1"):
        bench.acker.ack(tup)
    bench.inbox.open = False
    with pytest.raises(AnswerError, match="anchors to tuple 1"):
        bench.acker.note_for([tup])


def test_answers_to_ticks_mean_nothing() -> None:
    bench = Bench(strict=True, automatic=False)
    bench.slice(1)
    assert not bench.acker.ack(Tup("tick-1"))
    assert bench.acker.note_for(["tick-1"]) == 0


def test_untracked_tuples_are_not_remembered() -> None:
    bench = Bench(automatic=False)
    assert not bench.receives([0, 0])
    assert bench.acker.ack(bench.hand())
    assert bench.acker.fail(bench.hand())
    assert (bench.acker.held, bench.counters.second_answers, bench.acker.untracked_fails) == (0, 0, 1)


# -- anchors


def test_which_tree_an_emit_belongs_to() -> None:
    bench = Bench(automatic=False)
    first, second = bench.slice(2)
    a = bench.hand()
    assert bench.acker.note_for(None) is None
    assert bench.acker.note_for([]) == 0
    assert bench.acker.note_for([a, a.id, a]) == first
    b = bench.hand()
    joint = bench.acker.note_for([a, b])
    assert joint not in (None, 0, first, second)
    assert bench.acker.note_for([a, b]) == joint  # most anchor several emits to the same tuples
    bench.acker.ack(a)
    assert bench.acker.note_for([a]) == 0
    bench.acker.anchors_itself = False
    assert bench.acker.note_for(None) == 0


def test_a_joint_keeps_its_parents_open_until_it_is_released_and_acked() -> None:
    bench = Bench(automatic=False)
    trees = bench.slice(2)
    a, b = bench.hand(), bench.hand()
    joint = bench.acker.note_for([a, b])
    bench.acker.ack(a)
    bench.acker.ack(b)
    positions = Positions()
    positions.append(Position(1, 0, 0))
    positions.set_tree(0, joint or 0)
    given = bench.acker.take()
    bench.forest.add(positions, 0, 1, 1)
    bench.acker.give(given)
    bench.acker.end()
    assert bench.done() == []
    bench.forest.ack(positions, 0, 1)
    assert sorted(bench.done()) == sorted((tree, None) for tree in trees)


# -- a restart


def test_all_that_is_not_answered_fails_when_the_component_is_gone() -> None:
    bench = Bench(automatic=False)
    held, answered = bench.slice(2)
    bench.hand()
    bench.acker.ack(bench.hand())
    bench.end()
    (fresh,) = bench.slice(1)
    bench.hand()
    assert bench.acker.fail_all(Cause.RESTARTED) == 2
    bench.end()
    reason = Reason(Cause.RESTARTED, 7)
    assert dict(bench.done()) == {held: reason, answered: None, fresh: reason}


def test_held_tuples_that_have_failed_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(automatic=False)
    bench.acker._most_held = 2
    for tree in bench.slice(3):
        bench.hand()
        bench.forest.fail(tree, 1 << 24)
    bench.end()
    assert bench.acker.held == 0
