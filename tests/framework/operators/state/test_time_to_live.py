"""State that is forgotten by time: the same on all workers, and as a dictionary with times has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from framework import (
    AggregatingState,
    Bolt,
    ListState,
    MapState,
    ReducingState,
    Spout,
    TableState,
    TopologyBuilder,
    ValueState,
)
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import Workers, every_kind

COUNT = 300
TTL_S = 3
KEYS = 7


class Timed(Spout):
    """Emits keys in event time, with breaks of some seconds now and then."""

    outputs = ["key", "at"]
    config = {"viper.timestamp.field": "at", "viper.timestamp.unit": "s"}

    def tuples(self) -> Iterator[list[Any]]:
        at = 0
        for number in range(COUNT):
            at += number * 7919 % 3 == 0
            yield [f"key {number * 31 % KEYS if number % 5 else 0}", at]


class Forgets(Bolt):
    """Emits what states of all kinds remember of a key."""

    outputs = ["key", "held"]
    seen = ValueState("int64", default=0, ttl=TTL_S)
    table = TableState({"count": "int64", "name": "string"}, ttl=TTL_S)
    most = ReducingState("int64", max, ttl=TTL_S)
    total = AggregatingState("int64", create=int, add=lambda total, value: total + value, ttl=TTL_S)
    times = ListState("int64", ttl=TTL_S)
    names = MapState("int64", "string", ttl=TTL_S)
    always = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        key, at = tup.values
        self.always.value += 1
        self.seen.value += 1
        self.table.count += 1
        self.table.name += "x"
        self.most.add(self.seen.value)
        self.total.add(1)
        self.times.add(at)
        self.names.put(self.seen.value, "x")
        held = [self.seen.value, self.table.count, len(self.table.name), self.most.value, self.total.value]
        held += [len(self.times), len(self.names)]
        if at % 20 == 19 and self.always.value % 3 == 0:
            raise ValueError("forget that")
        self.emit([key, (self.always.value, *held)])


def expected() -> list[tuple[Any, Any]]:
    """Compute the output of `Forgets`: it remembers what changed within the time to live, nothing else."""
    made = []
    always: dict[str, int] = {}
    last: dict[str, tuple[int, int]] = {}
    for key, at in Timed().tuples():
        changed, seen = last.get(key, (at, 0))
        seen = 1 if at - changed >= TTL_S else seen + 1
        if at % 20 == 19 and (always.get(key, 0) + 1) % 3 == 0:
            continue
        always[key] = always.get(key, 0) + 1
        last[key] = at, seen
        made.append((key, (always[key], *[seen] * 7)))
    return made


def topology(par: int, bolt: type[Bolt] = Forgets) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("timed", Timed)
    builder.set_bolt("bolt", Forgets, par, config={"viper.on.error": "skip"}).fields_grouping(
        "timed", ["key"]
    )
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return builder


def output(report: RunReport) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = report.result("sink")
    return found


def test_the_times_are_such_that_keys_are_forgotten() -> None:
    held = [held[1] for _, held in expected()]
    assert sum(seen == 1 for seen in held) > 2 * KEYS and max(held) > 10
    assert len(expected()) < COUNT


@every_kind
@pytest.mark.parametrize("par", [1, 3])
def test_what_is_remembered_does_not_depend_on_the_workers(par: int, workers: Workers) -> None:
    assert output(workers.run(topology(par), topology__acker__executors=0)) == expected()


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_it_does_not_depend_on_slices(size: int) -> None:
    options = {"viper__slice__tuples": size, "viper__jumbo__size": size, "topology__acker__executors": 0}
    assert output(run_built(topology(2), **options)) == expected()


class Ticked(Forgets):
    """Gets ticks, which divide slices."""

    def process_tick(self, tup: Any) -> None:
        self.log("tick")


@pytest.mark.parametrize("seed", range(4))
def test_it_does_not_depend_on_the_schedule_nor_on_ticks(seed: int) -> None:
    options = {"viper__scheduling": "random", "viper__seed": seed, "viper__slice__tuples": 4096}
    options |= {"topology__tick__tuple__freq__secs": 7, "topology__acker__executors": 0}
    report = run_built(topology(1 + seed % 3, Ticked), **options)
    assert report.components["bolt"].ticks > 0
    assert output(report) == expected()


def test_the_plan_tells_that_there_is_one() -> None:
    spec = Forgets.seen.spec
    assert (spec.types, spec.codes) == ("int64, with a time to live", ("@q",))
    assert Forgets.names.spec.codes == ("@{s",) and Forgets.table.spec.codes == ("@qs",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ValueState("int64", ttl=0), "ttl=0: expected seconds, from 0.000001 to"),
        (lambda: ListState("int64", ttl=float("nan")), "ttl=nan: expected seconds"),
        (lambda: MapState("int64", "int64", ttl=1, per="task"), "only state by key can be forgotten by time"),
        (lambda: ValueState(ttl=1), "ttl=1 of any values: expected a type"),
        (lambda: ListState(ttl=1), "ttl=1 of any values: expected a type"),
        (lambda: MapState("string", ttl=1), "ttl=1 of any values: expected a type"),
        (lambda: ReducingState(None, max, ttl=1), "ttl=1 of any values: expected a type"),
        (lambda: AggregatingState(create=int, add=max, ttl=1), "ttl=1 of any values: expected a type"),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
