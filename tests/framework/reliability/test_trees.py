"""Trees of tuples, as Storm's own scenarios have them: what keeps a root open, and what fails it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from framework import Stream, TopologyBuilder
from tests.framework.reliability.pieces import (
    Heard,
    chained,
    ending,
    passing,
    run_in_turns,
    shaped,
    tracked,
)
from tests.framework.runtime.pieces import bolt, listed, run_built

IDS = range(1, 8)
Fails = Callable[[Any], bool]


def holding(log: list[Any], last: int) -> Any:
    """A bolt that acks each tuple when the next one has come, and the last one at once."""

    def process(self: Any, tup: Any) -> None:
        before, self.before = getattr(self, "before", None), tup
        for held in (before, tup if tup.values[0] == last else None):
            if held is not None:
                log.append(("done", held.values[0]))
                self.ack(held)

    return ending(process, auto_ack=False)


def failing(fails: Fails) -> Any:
    """A bolt that fails some tuples, and says no more about them."""
    return ending(lambda self, tup: self.fail(tup) if fails(tup.values[0]) else None)


def test_every_root_is_acked_once_when_all_of_its_tree_has_been_processed() -> None:
    heard = Heard()
    builder = shaped(
        tracked(heard, IDS),
        {"left": (passing(), "source"), "right": (passing(), "source"), "end": (ending(), "left", "right")},
    )
    report = run_built(builder)
    assert sorted(heard.acked) == list(IDS)
    assert heard.failed == []
    source = report.components["source"]
    assert (source.tracked, source.acked, source.failed, source.unanswered) == (7, 7, 0, 0)
    assert source.reasons == {}


def test_a_tuple_in_flight_keeps_its_root_open() -> None:
    log: list[Any] = []

    def make() -> TopologyBuilder:
        log.clear()
        noting = {"ack": lambda self, tup_id: log.append(("acked", tup_id))}
        return chained(tracked(Heard(), IDS, **noting), passing(), holding(log, last=7))

    for _ in run_in_turns(make):
        assert sorted(log) == sorted((what, n) for what in ("acked", "done") for n in IDS)
        assert all(log.index(("done", n)) < log.index(("acked", n)) for n in IDS), log


def test_roots_are_told_apart() -> None:
    heard = Heard()
    run_built(chained(tracked(heard, IDS), passing(), failing(lambda n: n % 3 == 0)))
    assert (sorted(heard.acked), sorted(heard.failed)) == ([1, 2, 4, 5, 7], [3, 6])
    assert heard.reasons == ["failed by b2:2"] * 2


@pytest.mark.parametrize("branch", ["left", "right", "end"])
def test_one_branch_that_fails_is_enough(branch: str) -> None:
    def failing_there(name: str, emits: bool) -> Any:
        def process(self: Any, tup: Any) -> None:
            if emits:
                self.emit([tup.values[0]])
            if name == branch and tup.values[0] == 4:
                self.fail(tup)

        return bolt(process, ["value"] if emits else None)

    heard = Heard()

    def make() -> TopologyBuilder:
        heard.acked.clear()
        heard.failed.clear()
        return shaped(
            tracked(heard, IDS),
            {
                "left": (failing_there("left", True), "source"),
                "right": (failing_there("right", True), "source"),
                "end": (failing_there("end", False), "left", "right"),
            },
        )

    for report in run_in_turns(make):
        assert (sorted(heard.acked), heard.failed) == ([1, 2, 3, 5, 6, 7], [4])
        (reason,) = report.components["source"].reasons
        assert reason.startswith(f"failed by {branch}:")


# -- anchors


def joining(anchors: Callable[[Any, Any], Any], fails: Fails = lambda pair: False) -> Any:
    """Two spouts whose tuples are joined in pairs, and what becomes of the pairs."""

    def process(self: Any, tup: Any) -> None:
        self.waiting = getattr(self, "waiting", {})
        number = abs(tup.values[0])
        other = self.waiting.pop(number, None)
        if other is None:
            self.waiting[number] = tup
            return
        self.emit([number], anchors=anchors(other, tup))
        self.ack(other)
        self.ack(tup)

    return bolt(process, auto_ack=False), failing(fails)


def joined(first: Heard, second: Heard, anchors: Any, fails: Fails) -> TopologyBuilder:
    joint, end = joining(anchors, fails)
    builder = TopologyBuilder()
    builder.set_spout("first", tracked(first, IDS))
    builder.set_spout("second", tracked(second, [-n for n in IDS]))
    builder.set_bolt("join", joint).shuffle_grouping("first").shuffle_grouping("second")
    builder.set_bolt("end", end).shuffle_grouping("join")
    return builder


def test_what_is_anchored_to_tuples_of_two_spouts_fails_for_both() -> None:
    for seed in range(4):
        first, second = Heard(), Heard()
        builder = joined(first, second, lambda a, b: [a, b], lambda n: n in (2, 5))
        run_built(builder, viper__scheduling="random", viper__seed=seed, viper__slice__tuples=1)
        assert (sorted(first.acked), sorted(first.failed)) == ([1, 3, 4, 6, 7], [2, 5])
        assert (sorted(second.acked), sorted(second.failed)) == ([-7, -6, -4, -3, -1], [-5, -2])


def test_anchors_may_be_ids_and_name_a_tuple_twice() -> None:
    first, second = Heard(), Heard()
    run_built(joined(first, second, lambda a, b: [a.id, a, a.id, b.id], lambda n: n == 3))
    assert (len(first.acked), first.failed) == (6, [3])
    assert (len(second.acked), second.failed) == (6, [-3])


def test_what_is_anchored_to_one_of_two_tuples_fails_for_that_one() -> None:
    first, second = Heard(), Heard()
    run_built(joined(first, second, lambda a, b: [a if a.values[0] > 0 else b], lambda n: n == 3))
    assert (len(first.acked), first.failed) == (6, [3])
    assert (len(second.acked), second.failed) == (7, [])


def test_what_is_anchored_to_nothing_belongs_to_no_tree() -> None:
    heard = Heard()
    unanchored = bolt(lambda self, tup: self.emit([tup.values[0]], anchors=[]))
    report = run_built(chained(tracked(heard, IDS), unanchored, failing(lambda n: True)))
    assert (sorted(heard.acked), heard.failed) == (list(IDS), [])
    assert report.components["b2"].failed == 7


def test_an_anchor_beside_the_tuple_in_process_replaces_it() -> None:
    """A tuple emitted for one, but anchored to an earlier one that is still open, belongs to that one."""

    def process(self: Any, tup: Any) -> None:
        if not hasattr(self, "first"):
            self.first = tup
            return
        self.emit([tup.values[0]], anchors=[self.first])
        self.ack(tup)
        if tup.values[0] == 7:
            self.ack(self.first)

    heard = Heard()
    end = failing(lambda n: n == 6)
    run_built(chained(tracked(heard, IDS), bolt(process, auto_ack=False), end))
    assert (sorted(heard.acked), heard.failed) == ([2, 3, 4, 5, 6, 7], [1])


@pytest.mark.parametrize("fails", [False, True])
def test_two_tuples_of_one_tree_join_again(fails: bool) -> None:
    """A tuple that is anchored to two tuples of the same root, or to one of them twice, counts once."""
    heard = Heard()

    def process(self: Any, tup: Any) -> None:
        self.seen = getattr(self, "seen", [])
        self.seen.append(tup)
        if len(self.seen) == 2:
            a, b = self.seen
            self.emit(["joined"], anchors=[a, a, b, a])
            self.ack(a)
            self.ack(b)
            self.seen.clear()

    end = failing(lambda value: fails)
    builder = shaped(
        tracked(heard, IDS),
        {
            "left": (passing(), "source"),
            "right": (passing(), "source"),
            "join": (bolt(process, auto_ack=False), "left", "right"),
            "end": (end, "join"),
        },
    )
    run_built(builder)
    assert sorted(heard.failed if fails else heard.acked) == list(IDS)
    assert len(heard.failed) + len(heard.acked) == 7


def test_joints_of_joints_reach_the_roots() -> None:
    """Tuples are joined in pairs again and again; one failure at the end fails all eight roots."""
    heard = Heard()

    def process(self: Any, tup: Any) -> None:
        before, self.before = getattr(self, "before", None), tup
        if before is None:
            return
        self.before = None
        self.emit([before.values[0] + tup.values[0]], anchors=[before, tup])
        self.ack(before)
        self.ack(tup)

    pairing = bolt(process, auto_ack=False)
    end = failing(lambda total: total == sum(range(8, 16)))
    run_built(chained(tracked(heard, range(16)), pairing, pairing, pairing, end))
    assert (sorted(heard.acked), sorted(heard.failed)) == (list(range(8)), list(range(8, 16)))


def test_a_joint_that_nobody_receives_keeps_nothing_open() -> None:
    first, second = Heard(), Heard()
    joint, _ = joining(lambda a, b: [a, b])
    builder = TopologyBuilder()
    builder.set_spout("first", tracked(first, IDS))
    builder.set_spout("second", tracked(second, [-n for n in IDS]))
    builder.set_bolt("join", joint).shuffle_grouping("first").shuffle_grouping("second")
    run_built(builder)
    assert (len(first.acked), len(second.acked)) == (7, 7)


def test_untracked_tuples_join_tracked_ones() -> None:
    heard = Heard()
    joint, end = joining(lambda a, b: [a, b], lambda n: n == 5)
    builder = TopologyBuilder()
    builder.set_spout("first", tracked(heard, IDS))
    builder.set_spout("second", listed(*([-n] for n in IDS)))
    builder.set_bolt("join", joint).shuffle_grouping("first").shuffle_grouping("second")
    builder.set_bolt("end", end).shuffle_grouping("join")
    report = run_built(builder)
    assert (len(heard.acked), heard.failed) == (6, [5])
    assert report.components["second"].tracked == 0


# -- cycles


def round_trip(fails: Fails) -> tuple[Heard, TopologyBuilder]:
    """Tuples go round as often as their number says."""

    def process(self: Any, tup: Any) -> None:
        number, left = tup.values
        if left > 0:
            self.emit([number, left - 1], stream="again")
        elif fails(number):
            self.fail(tup)

    heard = Heard()
    builder = TopologyBuilder()
    builder.set_spout("source", tracked(heard, IDS, lambda n: [n, n], outputs=["number", "left"]))
    going = bolt(process, [Stream(["number", "left"], name="again")])
    builder.set_bolt("step", going, 2).shuffle_grouping("source").shuffle_grouping("step", stream="again")
    return heard, builder


@pytest.mark.parametrize("size", [1, 256])
def test_a_tree_grows_round_by_round_in_a_cycle(size: int) -> None:
    heard, builder = round_trip(lambda number: number in (3, 7))
    report = run_built(builder, viper__jumbo__size=size, viper__slice__tuples=size)
    assert (sorted(heard.acked), sorted(heard.failed)) == ([1, 2, 4, 5, 6], [3, 7])
    assert report.components["step"].processed == sum(n + 1 for n in IDS)


def test_a_tuple_in_a_cycle_keeps_its_root_open() -> None:
    log: list[Any] = []

    def process(self: Any, tup: Any) -> None:
        log.append(tup.values[0])
        if tup.values[1] > 0:
            self.emit([tup.values[0], tup.values[1] - 1], stream="again")

    def make() -> TopologyBuilder:
        log.clear()
        hooks = {"ack": lambda self, tup_id: log.append(("acked", tup_id)), "outputs": ["number", "left"]}
        builder = TopologyBuilder()
        builder.set_spout("source", tracked(Heard(), IDS, lambda n: [n, 4], **hooks))
        going = bolt(process, [Stream(["number", "left"], name="again")])
        builder.set_bolt("step", going, 2).shuffle_grouping("source").shuffle_grouping("step", stream="again")
        return builder

    for _ in run_in_turns(make):
        assert all(log[: log.index(("acked", n))].count(n) == 5 for n in IDS), log
