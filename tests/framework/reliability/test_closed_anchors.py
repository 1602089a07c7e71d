"""Anchors that are not open, at which Storm ends the worker: counted, told of once, or errors (strict)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import streamparse

import framework
from framework.model.errors import ComponentError
from tests.framework.reliability.pieces import Heard, chained, tracked
from tests.framework.runtime.pieces import bolt, listed, run_built

COUNT = 4
TICKS = {"topology.tick.tuple.freq.secs": 1}


def anchors_to_the_first(self: Any, tup: Any) -> None:
    """The tuple before was acked when its `process` had returned, or by itself."""
    if hasattr(self, "first"):
        self.emit([0], anchors=[self.first, tup])
    self.first = tup
    if not self.auto_ack:
        self.ack(tup)


def acks_before(self: Any, tup: Any) -> None:
    self.ack(tup)
    self.emit([0], anchors=[tup])


def stranger(self: Any, tup: Any) -> None:
    self.emit([0], anchors=["123456789", tup.id])
    if not self.auto_ack:
        self.ack(tup)


WRONG: list[tuple[Callable[..., None], bool, int]] = [
    (anchors_to_the_first, True, COUNT - 1),
    (anchors_to_the_first, False, COUNT - 1),
    (acks_before, False, COUNT),
    (stranger, True, COUNT),
    (stranger, False, COUNT),
]
SOURCES = {
    "tracked": (lambda: tracked(Heard(), range(COUNT)), {}),
    "untracked": (lambda: listed(*([number] for number in range(COUNT))), {}),
    "no ackers": (lambda: tracked(Heard(), range(COUNT)), {"topology__acker__executors": 0}),
}


# Nothing knows the tuples of a bolt that acks all of them in a run that tracks none.
CASES = [(source, *wrong) for source in SOURCES for wrong in WRONG if source != "no ackers" or not wrong[1]]


@pytest.mark.parametrize(("source", "process", "auto_ack", "count"), CASES)
def test_an_anchor_that_is_not_open_is_counted_and_told_of_once(
    source: str, process: Any, auto_ack: bool, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    make, options = SOURCES[source]
    builder = chained(make(), bolt(process, auto_ack=auto_ack))
    report = run_built(builder, **options)
    counters = report.components["b1"]
    assert (counters.closed_anchors, counters.errors, counters.restarts) == (count, 0, 0)
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    (told,) = [warning for warning in warnings if "anchors to tuple" in warning]
    named = "123456789" if process is stranger else "1"
    assert f"anchors to tuple {named}, which has been answered before, or was never received" in told
    with pytest.raises(ComponentError, match=rf"anchors to tuple {named}, which"):
        run_built(builder, viper__answers="strict", **options)


def test_the_other_anchors_hold() -> None:
    """A failure there fails the tuple in process, and nothing fails the one that was acked before."""
    heard = Heard()
    failing = bolt(lambda self, tup: self.fail(tup), ())
    report = run_built(chained(tracked(heard, range(COUNT)), bolt(anchors_to_the_first), failing))
    assert sorted(heard.acked) == [0]  # whose emit there was none
    assert sorted(heard.failed) == [1, 2, 3]
    assert report.components["b1"].closed_anchors == COUNT - 1


def open_ones(base: Any) -> dict[str, Any]:
    """Bolts whose anchors are all open."""

    def thrice(self: Any, tup: Any) -> None:
        self.emit([0], anchors=[tup, tup.id, tup])
        self.ack(tup)

    def gathers(self: Any, tup: Any) -> None:
        self.kept = [*getattr(self, "kept", ()), tup]
        if len(self.kept) == COUNT:
            self.emit([0], anchors=self.kept)
            for one in self.kept:
                self.ack(one)

    def process_tick(self: Any, tick: Any) -> None:
        self.emit([0], anchors=[tick])
        self.ack(tick)

    def process_batch(self: Any, key: Any, tups: Any) -> None:
        self.emit([len(tups)])
        self.emit([len(tups)], anchors=tups)

    own: dict[str, Any] = {"outputs": ["value"], "config": TICKS}
    itself = {"auto_ack": False, **own}
    return {
        "thrice": type("Thrice", (base.Bolt,), {"process": thrice, **itself}),
        "gathered": type("Gathered", (base.Bolt,), {"process": gathers, **itself}),
        "tick": type(
            "Tick",
            (base.Bolt,),
            {"process": lambda self, tup: self.ack(tup), "process_tick": process_tick, **itself},
        ),
        "batch": type("Batch", (base.BatchingBolt,), {"process_batch": process_batch, **own}),
        "timer": type(
            "Timer", (base.TicklessBatchingBolt,), {"process_batch": process_batch, "outputs": ["value"]}
        ),
        "automatic": type(
            "Automatic", (base.Bolt,), {"process": lambda self, tup: self.emit([0], anchors=[tup]), **own}
        ),
    }


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("base", [framework, streamparse], ids=["framework", "streamparse"])
@pytest.mark.parametrize("kind", ["thrice", "gathered", "tick", "batch", "timer", "automatic"])
def test_anchors_that_are_open_are_no_mistake(source: str, base: Any, kind: str) -> None:
    make, options = SOURCES[source]
    report = run_built(
        chained(make(), open_ones(base)[kind]), viper__answers="strict", viper__on__error="stop", **options
    )
    counters = report.components["b1"]
    assert (counters.closed_anchors, counters.second_answers, counters.processed) == (0, 0, COUNT)
    assert counters.emitted > 0


def test_a_tuple_that_was_left_open_when_the_bolt_raised_may_be_answered_later() -> None:
    """It continues after exceptions, and fails nothing by itself."""

    def process(self: Any, tup: Any) -> None:
        if not hasattr(self, "left"):
            self.left = tup
            raise ValueError("as told")
        self.emit([0], anchors=[self.left])
        self.ack(self.left)

    own = {"auto_ack": False, "auto_fail": False, "exit_on_exception": False}
    report = run_built(chained(listed([1], [2]), bolt(process, **own)))
    counters = report.components["b1"]
    assert (counters.closed_anchors, counters.second_answers, counters.errors) == (0, 0, 1)
