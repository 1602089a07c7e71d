"""Topologies with edges that lead back."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime.exchange import destination
from tests.framework.runtime.pieces import bolt, drawn, listed, run_built
from tests.portions import seeds_at_every_change

OUTPUTS = [Stream(["n", "left"], name="again"), Stream(["n", "left"], name="done")]


def step(self: Any, tup: Any) -> None:
    """Counts down, round by round."""
    n, left = tup.values
    self.emit([n, left - 1], stream="again" if left > 1 else "done")


def looped(process: Any, rows: Any, par: int = 1) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", listed(*rows, outputs=["n", "left"]))
    entry = bolt(lambda self, tup: self.emit(list(tup.values)), ["n", "left"])
    builder.set_bolt("entry", entry, par).fields_grouping("source", "n").fields_grouping(
        "step", "n", stream="again"
    )
    builder.set_bolt("step", bolt(process, OUTPUTS), par).shuffle_grouping("entry")
    builder.set_bolt("sink", CollectingSink).global_grouping("step", stream="done")
    return builder


@pytest.mark.few(1)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(8), 2), ids=str)
@pytest.mark.parametrize("par", [1, 3])
def test_a_run_with_a_cycle_ends_when_nothing_is_in_flight(par: int, seeds: range) -> None:
    rows = [[n, n % 20 + 1] for n in range(300)]
    for seed in seeds:
        _, options = drawn(seed)
        report = run_built(looped(step, rows, par), **options)
        assert sorted(report.result("sink")) == [(n, 0) for n in range(300)], options
        assert report.components["entry"].processed == sum(left for _, left in rows)


def test_a_cycle_that_holds_more_than_its_channels_do() -> None:
    def multiply(self: Any, tup: Any) -> None:
        n, left = tup.values
        for _ in range(10 if left else 0):
            self.emit([n, left - 1], stream="again")
        if not left:
            self.emit([n, 0], stream="done")

    report = run_built(looped(multiply, [[1, 4]]), viper__channel__jumbos=1, viper__jumbo__size=8)
    assert report.result("sink") == [(1, 0)] * 10_000


def test_a_cycle_that_amplifies_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(destination, "MAX_WAITING", 10_000)

    def amplify(self: Any, tup: Any) -> None:
        self.emit(list(tup.values), stream="again")
        self.emit(list(tup.values), stream="again")

    with pytest.raises(
        ComponentError, match=r"'step', task 4, in emit: .*the cycle emits more than it can process"
    ):
        run_built(looped(amplify, [[1, 1]]))


def test_a_component_that_feeds_itself() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", listed(*([n, n + 1] for n in range(5)), outputs=["n", "left"]))
    declared = builder.set_bolt("step", bolt(step, OUTPUTS), 2).shuffle_grouping("source")
    declared.shuffle_grouping("step", stream="again")
    builder.set_bolt("sink", CollectingSink).global_grouping("step", stream="done")
    assert sorted(run_built(builder).result("sink")) == [(n, 0) for n in range(5)]


def test_two_cycles_in_a_row_and_what_they_say_at_their_end() -> None:
    def last(self: Any, tup: Any) -> None:
        self.emit([-1, 0], stream="done")

    builder = looped(step, [[n, 3] for n in range(10)])
    second = bolt(step, OUTPUTS, process_tick=last)
    declared = builder.set_bolt("second", second).shuffle_grouping("source")
    declared.shuffle_grouping("second", stream="again").shuffle_grouping("step", stream="done")
    builder.set_bolt("end", CollectingSink).global_grouping("second", stream="done")
    rows = run_built(builder, topology__tick__tuple__freq__secs=1000).result("end")
    assert sorted(rows) == sorted([(-1, 0)] + [(n, 0) for n in range(10)] + [(n, -1) for n in range(10)])


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(6), 1), ids=str)
@pytest.mark.parametrize("slots", [1, 64])
def test_long_cycles_of_several_tasks_lose_nothing(slots: int, seeds: range) -> None:
    """Tuples on their way round wait at every merge for tasks that do not know if anything comes back."""
    rows = [[n, n % 7 + 1] for n in range(100)]
    forward = bolt(lambda self, tup: self.emit(list(tup.values)), ["n", "left"])
    for seed in seeds:
        builder = looped(step, rows, 3)
        builder.set_bolt("way", forward, 2).shuffle_grouping("step", stream="again")
        builder.set_bolt("again", bolt(step, OUTPUTS), 3).fields_grouping("way", "n")
        builder.set_bolt("back", forward, 2).shuffle_grouping("again", stream="again")
        builder.set_bolt("more", bolt(step, OUTPUTS), 2).shuffle_grouping("back").shuffle_grouping("way")
        builder.set_bolt("end", CollectingSink).global_grouping("more", stream="done")
        _, options = drawn(seed)
        options["viper__channel__jumbos"] = slots
        report = run_built(builder, **options)
        assert sorted(report.result("sink")) == [(n, 0) for n in range(100)], options
        assert report.drained
