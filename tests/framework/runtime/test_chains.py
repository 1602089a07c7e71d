"""Chained tasks: nothing but the channel between them differs from tasks that are not chained."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from framework import BatchBolt, Bolt, Rows, Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.recording import Recording
from framework.recording.comparing import compare
from framework.runtime import RunReport, run
from framework.runtime.exchange.destination import LinkedDestination
from tests.framework.runtime.pieces import (
    Count,
    Forward,
    Keep,
    Numbers,
    Timed,
    bolt,
    built,
    listed,
    plan_of,
    run_built,
    spout,
)
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers

SMALLEST = {"viper__jumbo__size": 1, "viper__channel__tuples": 1, "viper__channel__jumbos": 1}


def line() -> TopologyBuilder:
    """Some pass, and each of these several times."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[300])
    builder.set_bolt("kept", Keep, 2, args=[2, 3]).fields_grouping("source", "number")
    builder.set_bolt("copied", Forward, args=[3]).global_grouping("kept")
    builder.set_bolt("counted", Count).global_grouping("copied")
    builder.set_bolt("sink", CollectingSink).global_grouping("counted")
    return builder


class Ticked(Bolt):
    """Says at each tick how many tuples came before."""

    outputs = ["source", "number"]
    config = {"topology.tick.tuple.freq.secs": 0.005}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._seen = 0

    def process(self, tup: Any) -> None:
        self._seen += 1

    def process_tick(self, tup: Any) -> None:
        self.emit(["ticks", self._seen])


def ticked() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Timed, args=[200])
    builder.set_bolt("first", Ticked).global_grouping("source")
    builder.set_bolt("second", Ticked).global_grouping("first")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    return builder


class Splits(Bolt):
    """Two streams in turn, of which one names its receiver."""

    outputs = [Stream(["value"], name="plain"), Stream(["value"], name="to", direct=True)]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._target = next(int(t) for t, name in context["task->component"].items() if name == "both")

    def process(self, tup: Any) -> None:
        (value,) = tup.values
        self.emit([f"{value} plain"], stream="plain")
        self.emit([f"{value} direct"], stream="to", direct_task=self._target)


class Says(Bolt):
    """Says on which stream each tuple came."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit([f"{tup.stream}: {tup.values[0]}"])


class Changes(Bolt):
    """Changes the list that it receives."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        tup.values[0].append(len(tup.values[0]))
        self.emit([tup.values[0]])


class Lists(Spout):
    """Emits lists of one number each, or the numbers alone."""

    outputs = ["value"]

    def __init__(self, count: int, wrapped: bool) -> None:
        super().__init__()
        self._rows = [[[n]] if wrapped else [n] for n in range(count)]

    def tuples(self) -> Any:
        yield from self._rows


def streams() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Lists, args=[50, False])
    builder.set_bolt("split", Splits).global_grouping("source")
    both = builder.set_bolt("both", Says)
    both.global_grouping("split", "plain").direct_grouping("split", "to")
    builder.set_bolt("sink", CollectingSink).global_grouping("both")
    return builder


def mutated() -> TopologyBuilder:
    """Values that one bolt changes, while another gets them, too."""
    builder = TopologyBuilder()
    builder.set_spout("source", Lists, args=[40, True])
    builder.set_bolt("changes", Changes).global_grouping("source")
    builder.set_bolt("beside", CollectingSink).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("changes")
    return builder


ROOMS: dict[str, dict[str, Any]] = {"large": {}, "small": SMALLEST, "slow": {"viper__slice__tuples": 1}}
SHAPES = {"line": line, "ticked": ticked, "streams": streams, "mutated": mutated}


CASES = [
    *itertools.product(SHAPES, ROOMS, [INLINE, Workers("thread")]),
    *itertools.product(SHAPES, ["large"], [PROCESSES]),  # where nothing is chained
]


def outcome(report: RunReport) -> Any:
    """All that a run has come to, but for what depends on time."""
    counts = {
        name: (found.emitted, found.processed, found.ticks, found.acked, found.failed)
        for name, found in report.components.items()
    }
    return report.results, counts


@pytest.mark.few(4)
@pytest.mark.parametrize(("shape", "room", "workers"), CASES)
def test_a_run_with_chains_comes_to_the_same(shape: str, room: str, workers: Workers) -> None:
    make, options = SHAPES[shape], ROOMS[room]
    without = workers.run(make(), viper__chains=False, **options)
    assert outcome(workers.run(make(), **options)) == outcome(without)
    assert without.result("sink")


def test_a_recording_does_not_tell_whether_tasks_were_chained(tmp_path: Path) -> None:
    for name, chains in (("with", True), ("without", False)):
        plan, settings = plan_of(line(), viper__chains=chains)
        run(plan, settings, record=tmp_path / name)
    expect_same(tmp_path / "with", tmp_path / "without")


def expect_same(one: Path, other: Path) -> None:
    """Two recordings have the same tuples at the same positions."""
    with Recording(one) as ours, Recording(other) as theirs:
        assert ours.header == theirs.header
        for component in ours.header.components:
            for stream in component.streams:
                assert compare(ours, theirs, component.id, stream.name).first is None


BURST = 600
"""Tuples that one callback emits."""


class Bursts(Bolt):
    """Emits nothing for most tuples, and very many for some, one by one."""

    outputs = ["source", "number"]

    def process(self, tup: Any) -> None:
        source, number = tup.values
        for copy in range(BURST if number % 10 == 3 else 0):
            self.emit([source, number * BURST + copy])


class BurstsOfRows(BatchBolt):
    """Likewise, in one emit, after rows that have one output."""

    outputs = ["source", "number"]

    def process_rows(self, rows: Rows) -> None:
        counts = [BURST // 100 if number % (10 * BURST) == 0 else 1 for _, number in rows]
        made = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
        self.emit_rows(made, ends=list(itertools.accumulate(counts)))


class BurstsAtTheEnd(Bolt):
    """Emits all at its only tick, which is the last."""

    outputs = ["number", "seen"]
    config = {"topology.tick.tuple.freq.secs": 1_000_000}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._seen = 0

    def process(self, tup: Any) -> None:
        self._seen += 1

    def process_tick(self, tup: Any) -> None:
        for number in range(BURST):
            self.emit([number, self._seen])


def bursts() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[30])
    builder.set_bolt("bursts", Bursts).global_grouping("source")
    builder.set_bolt("rows", BurstsOfRows).global_grouping("bursts")
    builder.set_bolt("counted", Count).global_grouping("rows")
    builder.set_bolt("end", BurstsAtTheEnd).global_grouping("counted")
    builder.set_bolt("last", Forward).global_grouping("end")
    builder.set_bolt("sink", CollectingSink).global_grouping("last")
    builder.set_bolt("beside", CollectingSink).global_grouping("counted")
    return builder


LEAST: dict[str, dict[str, Any]] = {
    "all": {**SMALLEST, "viper__slice__tuples": 1},
    "jumbos": {"viper__channel__jumbos": 1},
    "tuples": {"viper__jumbo__size": 1, "viper__channel__tuples": 1},
}


@pytest.mark.few(1, daily=True)
@pytest.mark.parametrize("bounds", LEAST)
@pytest.mark.parametrize("workers", [INLINE, Workers("thread"), Workers("thread", 2)], ids=str)
def test_what_one_callback_emits_may_be_far_more_than_a_channel_holds(
    bounds: str, workers: Workers, tmp_path: Path
) -> None:
    reports = {}
    for chains in (True, False):
        plan, settings = plan_of(bursts(), viper__chains=chains, **workers.options, **LEAST[bounds])
        if workers.number == 1:
            assert any(channel.chained for channel in plan.channels) is chains
        reports[chains] = outcome(run(plan, settings, record=tmp_path / str(chains)))
    assert reports[True] == reports[False]
    expect_same(tmp_path / "True", tmp_path / "False")
    results, counts = reports[True]
    assert counts["bursts"][0] == 3 * BURST
    assert len(results["sink"][0]) == BURST


class Tracked(Spout):
    """Emits tuples with ids, and says what became of them."""

    outputs = ["value"]
    config = {"topology.max.spout.pending": 7}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._todo = list(range(100))[::-1]
        self._open: set[int] = set()

    def next_tuple(self) -> None:
        if self._todo:
            number = self._todo.pop()
            self._open.add(number)
            self.emit([number], tup_id=number)
        elif not self._open:
            raise StopIteration

    def ack(self, tup_id: int) -> None:
        self._open.remove(tup_id)

    def fail(self, tup_id: int) -> None:
        self._open.remove(tup_id)


def fails_some(self: Any, tup: Any) -> None:
    if tup.values[0] % 10 == 0:
        self.fail(tup)
    else:
        self.emit([tup.values[0]])
        self.emit([-tup.values[0]])
        self.ack(tup)


@pytest.mark.parametrize("chains", [True, False])
def test_tracked_tuples_are_answered(chains: bool) -> None:
    report = run_built(
        built(Tracked, bolt(lambda self, tup: self.emit([tup.values[0]])), bolt(fails_some, auto_ack=False)),
        viper__chains=chains,
    )
    source = report.components["source"]
    assert (source.tracked, source.acked, source.failed) == (100, 90, 10)
    assert len(report.result("sink")) == 2 * 90


def test_a_task_waits_for_room_in_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spout that never pauses is ahead of its consumer by the room of a channel and one slice."""
    put, most = LinkedDestination.put, 0

    def watched(self: LinkedDestination, *given: Any) -> None:
        nonlocal most
        put(self, *given)
        most = max(most, self._link.waiting_tuples())

    monkeypatch.setattr(LinkedDestination, "put", watched)
    source = spout(lambda self: iter([n] for n in range(5000)))
    report = run_built(
        built(source, bolt(lambda self, tup: self.emit([tup.values[0]]))),
        **{**SMALLEST, "viper__channel__tuples": 64, "viper__channel__jumbos": 64},
        viper__slice__tuples=16,
        viper__scheduling="random",
        viper__seed=3,
    )
    assert [value for (value,) in report.result("sink")] == list(range(5000))
    assert 64 < most <= 64 + 16


def test_channels_say_the_same_of_themselves() -> None:
    def of(chains: bool) -> list[Any]:
        channels = run_built(line(), viper__chains=chains).statistics.channels
        return [
            ([(source.task, source.tuples) for source in channel.sources], reader.task, reader.delivered)
            for channel in channels
            for reader in channel.readers
        ]

    assert of(True) == of(False)


@pytest.mark.parametrize("chains", [True, False])
def test_an_error_names_the_task_that_raised(chains: bool) -> None:
    def raises(self: Any, tup: Any) -> None:
        raise ValueError("planted")

    with pytest.raises(ComponentError, match="planted") as error:
        run_built(
            built(listed([1]), bolt(lambda self, tup: self.emit([1])), bolt(raises)), viper__chains=chains
        )
    assert error.value.component == "b2"


@pytest.mark.parametrize("chains", [True, False])
def test_a_component_that_is_made_anew_goes_on_with_what_waits(chains: bool) -> None:
    def raises_once_in_ten(self: Any, tup: Any) -> None:
        if tup.values[0] % 10 == 3:
            raise ValueError("planted")
        self.emit([tup.values[0]])

    again = bolt(raises_once_in_ten, config={"viper.on.error": "restart"})
    report = run_built(built(listed(*([n] for n in range(40))), again), viper__chains=chains)
    assert [n for (n,) in report.result("sink")] == [n for n in range(40) if n % 10 != 3]
    assert report.components["b1"].restarts == 4
