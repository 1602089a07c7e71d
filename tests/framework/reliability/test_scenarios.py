"""Storm's other scenarios: several tasks, an inactive start, a component's configuration, system streams."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.errors import TopologyError
from tests.framework.reliability.pieces import Heard, chained, ending, passing, prepared, shaped, tracked
from tests.framework.runtime.pieces import FakeClock, bolt, polled, run_built, spout

WORDS = ["nathan", "bob", "joey", "nathan"]


@pytest.mark.parametrize("tasks", [1, 4])
def test_a_basic_topology(tasks: int) -> None:
    """Words are counted by word and all together, and all that was emitted is acked."""
    heard, counts, totals = Heard(), [], []

    def count(self: Any, tup: Any) -> None:
        self.counts = getattr(self, "counts", Counter())
        self.counts[tup.values[0]] += 1
        counts.append((tup.values[0], self.counts[tup.values[0]]))
        self.emit([tup.values[0]])

    def total(self: Any, tup: Any) -> None:
        self.total = getattr(self, "total", 0) + 1
        totals.append(self.total)

    builder = TopologyBuilder()
    builder.set_spout("source", tracked(heard, range(4), lambda n: [WORDS[n]]))
    builder.set_bolt("count", bolt(count), tasks).fields_grouping("source", "value")
    builder.set_bolt("all", ending(total)).global_grouping("source")
    builder.set_bolt("again", ending(total)).global_grouping("count")
    run_built(builder)
    assert sorted(counts) == [("bob", 1), ("joey", 1), ("nathan", 1), ("nathan", 2)]
    assert sorted(totals) == sorted([1, 2, 3, 4] * 2)
    assert sorted(heard.acked) == list(range(4))


def test_an_inactive_start() -> None:
    """Nothing is asked for until the spouts are activated; what was brought is answered when they are not."""
    log: list[str] = []

    def next_tuple(self: Any) -> None:
        log.append("asked")
        if log.count("asked") == 3:
            raise StopIteration
        self.emit([1], tup_id=len(log))
        run.deactivate()

    def rests(seconds: float) -> None:
        log.append("rest")
        run.activate()

    hooks = {name: lambda self, *_, name=name: log.append(name) for name in ("ack", "activate", "deactivate")}
    run = prepared(chained(polled(next_tuple, **hooks), ending()), {"inactive": True}, viper__slice__tuples=1)
    run._stop.wait = rests  # type: ignore[method-assign]
    run.execute()
    told = [word for word in log if word != "rest"]
    once = ["activate", "asked", "deactivate", "ack"]
    assert log[0] == "rest"
    assert [word for word in told if word != "ack"] == [
        *once[:3],
        *once[:3],
        "activate",
        "asked",
        "deactivate",
    ]
    assert told.count("ack") == 2


def test_configuration_of_a_component() -> None:
    """Its own keys and some of Storm's stand above those of the topology; others do not."""
    seen: list[Any] = []
    keys = ["fake.config", "topology.max.spout.pending", "topology.tick.tuple.freq.secs", "topology.name"]
    conf = {"fake.config": 123, "topology.max.spout.pending": 30, "topology.tick.tuple.freq.secs": 7}
    noting = ending(initialize=lambda self, conf, context: seen.append([conf.get(key) for key in keys]))
    builder = TopologyBuilder()
    builder.set_spout("source", tracked(Heard(), range(3)), config={"topology.max.spout.pending": 2})
    builder.set_bolt("b1", noting, config=conf).shuffle_grouping("source")
    run_built(builder, topology__max__spout__pending=40)
    assert seen == [[123, 30, 7, "tested"]]


def test_ticks_by_subscription(clock: FakeClock) -> None:
    """A bolt that subscribes to the system's ticks gets configured ones; they belong to no tree."""
    heard, ticks = Heard(), []

    def process_tick(self: Any, tup: Any) -> None:
        ticks.append((tup.component, tup.stream, tup.task))
        self.emit(["tick"], anchors=[tup])
        self.ack(tup)

    ticked = bolt(
        lambda self, tup: None, process_tick=process_tick, config={"topology.tick.tuple.freq.secs": 1}
    )
    builder = TopologyBuilder()
    builder.set_spout("source", tracked(heard, range(3)))
    declared = builder.set_bolt("ticked", ticked).shuffle_grouping("source")
    declared.shuffle_grouping("__system", stream="__tick")
    builder.set_bolt("end", ending(lambda self, tup: self.fail(tup), auto_ack=False)).shuffle_grouping(
        "ticked"
    )
    report = run_built(builder, {"stop": clock}, viper__answers="strict")
    assert set(ticks) == {("__system", "__tick", -1)}
    assert sorted(heard.acked) == [0, 1, 2]
    assert report.components["end"].failed == len(ticks)


WRONG: dict[str, Any] = {
    "nobody": lambda builder: builder.set_bolt("b", ending()).shuffle_grouping("nobody"),
    "no stream": lambda builder: builder.set_bolt("b", ending()).shuffle_grouping("source", "no stream"),
    "no field": lambda builder: builder.set_bolt("b", ending()).fields_grouping("source", "no field"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_subscribed_to_is_refused(name: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", spout(lambda self: iter(())))
    WRONG[name](builder)
    with pytest.raises(TopologyError, match=name):
        prepared(builder)


def test_all_that_a_tuple_leads_to_is_awaited() -> None:
    """Storm's branches: a tree of several levels, in which every way has another length."""
    heard, ends = Heard(), []
    end = ending(lambda self, tup: ends.append(tup.values[0]))
    builder = shaped(
        tracked(heard, range(5)),
        {
            "a": (passing(), "source"),
            "b": (passing(), "source", "a"),
            "c": (passing(), "a", "b"),
            "end": (end, "source", "a", "b", "c"),
        },
    )
    run_built(builder, topology__max__spout__pending=1)
    assert heard.acked == list(range(5))
    assert Counter(ends) == dict.fromkeys(range(5), 1 + 1 + 2 + 3)
