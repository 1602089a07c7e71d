"""Worker processes that are killed at random moments, again and again: not a byte of the output changes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from framework import BatchingBolt, Bolt, Spout, TicklessBatchingBolt, TopologyBuilder
from framework.model.config import resolve
from framework.model.errors import ComponentError, TopologyError, WorkerError
from framework.operators.sinks import CollectingSink
from framework.planning.validation import validate
from framework.runtime import RunReport
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import Numbers as Forgetful
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.dying import AlwaysDies, die, first_time
from tests.framework.runtime.workers.killed import (
    CLAIM_PLANTS,
    KEY_CLAIM_PLANTS,
    PLANT,
    PLANTS,
    Batches,
    Count,
    CountByKey,
    Fan,
    Forward,
    Mortal,
    MortalPartitions,
    Numbers,
    Polled,
    Sorted,
    Ticking,
    Typed,
    Written,
)
from tests.portions import at_every_change

COUNT = 400
KILLS = 5
SPREAD = {"source": 1, "fan": [1, 2], "middle": [2, 3], "count": 3, "sink": 2}
CLAIMANTS = {"source": 1, "fan": [1, 2, 3], "middle": [1, 2, 3, 4], "count": [1, 4], "sink": 2}
"""Every component has a neighbour in another process."""
APART = {"source": 2, "middle": 1, "sink": 2}
TINY = {"viper__channel__jumbos": 1, "viper__channel__tuples": 1, "viper__jumbo__size": 1}
SHORT = {"viper__channel__tuples": 64, "viper__jumbo__size": 8}


def built(
    source: type[Spout] = Numbers, middle: type[Bolt] = Sorted, count: int = COUNT, many: int = 100
) -> TopologyBuilder:
    """A source after a shuffle, a partial key grouping and a fields grouping, and a file."""
    builder = TopologyBuilder()
    builder.set_spout("source", source, kwargs={"count": count})
    builder.set_bolt("fan", Fan, 2, kwargs={"many": many}).shuffle_grouping("source")
    builder.set_bolt("middle", middle, 2).partial_key_grouping("fan", "number")
    counting = builder.set_bolt("count", Count)
    for stream in ("even", "odd") if middle is Sorted else ("default",):
        counting.fields_grouping("middle", "number", stream=stream)
    builder.set_bolt("sink", Written).global_grouping("count")
    return builder


def claiming(
    source: type[Spout] = Numbers, middle: type[Bolt] = Sorted, count: int = COUNT, many: int = 100
) -> TopologyBuilder:
    """As above, with more tasks that claim their input, one bolt of them behind the other."""
    builder = TopologyBuilder()
    config = {"viper.stateless": True, "viper.sharing": "claims"}
    builder.set_spout("source", source, kwargs={"count": count})
    fan = builder.set_bolt("fan", Fan, 3, kwargs={"many": many}, config=config)
    fan.shuffle_grouping("source")
    builder.set_bolt("middle", middle, 4, config=config).shuffle_grouping("fan")
    counting = builder.set_bolt("count", Count, 2)
    for stream in ("even", "odd") if middle is Sorted else ("default",):
        counting.fields_grouping("middle", "number", stream=stream)
    builder.set_bolt("sink", Written).global_grouping("count")
    return builder


def claiming_keys(source: type[Spout] = Numbers, count: int = COUNT, many: int = 100) -> TopologyBuilder:
    """A bolt whose tasks claim its key groups, behind one whose tasks claim its tuples."""
    config = {"viper.stateless": True, "viper.sharing": "claims"}
    builder = TopologyBuilder()
    builder.set_spout("source", source, kwargs={"count": count})
    builder.set_bolt("fan", Fan, 2, kwargs={"many": many}, config=config).shuffle_grouping("source")
    counting = builder.set_bolt("count", CountByKey, 4, config={"viper.sharing": "claims"})
    counting.fields_grouping("fan", "number")
    builder.set_bolt("sink", Written).global_grouping("count")
    return builder


def deep(source: type[Spout] = Numbers, middle: type[Bolt] = Forward) -> TopologyBuilder:
    """So many hops that positions have no room for the last ones."""
    builder = TopologyBuilder()
    builder.set_spout("source", source, kwargs={"count": 60})
    builder.set_bolt("fan", Fan, 2, kwargs={"many": 50}).shuffle_grouping("source")
    before = "fan"
    for hop in range(14):
        builder.set_bolt(f"hop {hop}", middle).global_grouping(before)
        before = f"hop {hop}"
    builder.set_bolt("middle", Fan, 2).shuffle_grouping(before)
    builder.set_bolt("count", Count).fields_grouping("middle", "number")
    builder.set_bolt("sink", Written).global_grouping("count")
    return builder


def run(
    builder: TopologyBuilder, folder: Path, seed: int, *, kills: int = KILLS, **options: Any
) -> RunReport:
    """Run what was built, in worker processes that are killed so often."""
    marks = folder / "marks"
    marks.mkdir(exist_ok=True)
    for mark in marks.iterdir():
        mark.unlink()
    (folder / "written").unlink(missing_ok=True)
    chosen = {
        "viper__worker": "process",
        "topology__workers": 3,
        "viper__worker__restart__tries": 20,
        "viper__recovery": "exact",
        "topology__acker__executors": 0,
        "marks": str(marks),
        "written": str(folder / "written"),
        "kills": kills,
        "kill__seed": seed,
    }
    return run_built(builder, **{**chosen, **options})


def written(folder: Path) -> str:
    return (folder / "written").read_text()


def undisturbed(builder: TopologyBuilder, folder: Path) -> str:
    """Read the file of a run without a death."""
    run(builder, folder, 0, kills=0, viper__worker="inline", topology__workers=1)
    return written(folder)


CLAIMING = {"topology__workers": 4, "viper__placement": CLAIMANTS}
BY_KEY = {
    "topology__workers": 3,
    "viper__placement": {"source": 1, "fan": [1, 2], "count": [1, 2, 3, 1], "sink": 2},
}
CASES: dict[str, tuple[Callable[[], TopologyBuilder], dict[str, Any]]] = {
    "a generator spout": (built, {}),
    "a polled spout": (lambda: built(Polled), {}),
    "partitions and ticks": (lambda: built(MortalPartitions, Ticking), {}),
    "all tasks in one process": (built, {"topology__workers": 1, "viper__placement": "round-robin"}),
    "the tiniest channels": (lambda: built(count=150), {**TINY, "kill__bits": 12}),
    "long callbacks": (lambda: built(count=7, many=30_000), {"kill__bits": 6}),
    "typed streams": (lambda: built(middle=Typed), {}),
    "batches": (lambda: built(middle=Batches), {}),
    "positions without room": (deep, {"viper__placement": "round-robin", "kill__bits": 12}),
    "time of the wall clock": (built, {"viper__time": "ingest"}),
    "processes that stand by": (built, {"viper__standby__workers": 2}),
    "one that stands by for all": (lambda: built(MortalPartitions, Ticking), {"viper__standby__workers": 1}),
    "claims": (claiming, CLAIMING),
    "claims of partitions": (lambda: claiming(MortalPartitions, Typed), CLAIMING),
    "claims in the tiniest channels": (lambda: claiming(count=150), {**CLAIMING, **TINY, "kill__bits": 12}),
    "claims in short channels": (claiming, {**CLAIMING, **SHORT}),
    "claims of long callbacks": (lambda: claiming(count=7, many=30_000), {**CLAIMING, "kill__bits": 6}),
    "claims by key": (claiming_keys, BY_KEY),
    "claims by key, of partitions": (lambda: claiming_keys(MortalPartitions), BY_KEY),
    "claims by key in the tiniest channels": (
        lambda: claiming_keys(count=150),
        {**BY_KEY, **TINY, "kill__bits": 12},
    ),
    "claims by key in short channels": (claiming_keys, {**BY_KEY, **SHORT, "viper__key__groups": 8}),
    "claims by key in one process": (
        claiming_keys,
        {"topology__workers": 1, "viper__placement": "round-robin"},
    ),
    "claimants in one process": (claiming, {"topology__workers": 1, "viper__placement": "round-robin"}),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("seed, case", at_every_change(product((1, 2), CASES), len(CASES)))
def test_killed_workers_change_nothing(seed: int, case: str, tmp_path: Path) -> None:
    make, options = CASES[case]
    expected = undisturbed(make(), tmp_path)
    report = run(make(), tmp_path, seed, **{"viper__placement": SPREAD, **options})
    assert len(report.incidents) > 1
    assert all(incident.lost == 0 and not incident.state_lost for incident in report.incidents)
    found = written(tmp_path)
    if case == "time of the wall clock":  # each tuple comes once, and in which order is not said
        assert len(found.splitlines()) == len(expected.splitlines())
    else:
        assert found == expected


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_bug_is_found(plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = undisturbed(built(), tmp_path)
    monkeypatch.setenv(PLANT, plant)
    for seed in range(8):
        try:
            run(built(), tmp_path, seed, viper__placement=SPREAD, **SHORT)
        except (ComponentError, WorkerError):
            return
        if written(tmp_path) != expected:
            return
    pytest.fail("it changes nothing")


@pytest.mark.parametrize(
    "plant", at_every_change(["commit_before_the_flush", "skip_nothing", *CLAIM_PLANTS], 1)
)
def test_a_bug_of_claimants_is_found(plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = undisturbed(claiming(), tmp_path)
    monkeypatch.setenv(PLANT, plant)
    for seed in range(12):
        try:
            run(claiming(), tmp_path, seed, **CLAIMING, **SHORT)
        except (ComponentError, WorkerError):
            return
        if written(tmp_path) != expected:
            return
    pytest.fail("it changes nothing")


@pytest.mark.parametrize("plant", [*KEY_CLAIM_PLANTS, "commit_before_the_flush", "skip_nothing"])
def test_a_bug_of_claimants_of_keys_is_found(
    plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = undisturbed(claiming_keys(), tmp_path)
    monkeypatch.setenv(PLANT, plant)
    for seed in range(12):
        try:
            run(claiming_keys(), tmp_path, seed, **BY_KEY, **SHORT)
        except (ComponentError, WorkerError):
            return
        if written(tmp_path) != expected:
            return
    pytest.fail("it changes nothing")


class Changing(Bolt):
    """Emits more rows than may wait, and dies among them; its successor emits other ones."""

    outputs = ["number"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        sign = 1 if first_time(self, "first") else -1
        for number in range(20_000):
            self.emit([sign * number])
        if sign > 0:
            die()


class Dwindling(Changing):
    """Its successor emits nothing."""

    def process(self, tup: Any) -> None:
        if first_time(self, "another"):
            super().process(tup)


@pytest.mark.parametrize("middle, told", [(Changing, "had emitted"), (Dwindling, "tuples more for its")])
def test_what_cannot_be_repeated_ends_the_run_as_diverged(
    middle: type[Bolt], told: str, tmp_path: Path
) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": 1})
    builder.set_bolt("middle", middle).global_grouping("source")
    builder.set_bolt("sink", Written).global_grouping("middle")
    with pytest.raises(ComponentError, match=f"(?s)component 'middle'.*DivergedError: .*{told}"):
        run(builder, tmp_path, 0, kills=0, viper__placement=APART)


@pytest.mark.parametrize("claims", [False, True])
def test_a_tuple_that_always_kills_ends_the_run(claims: bool, tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": 30})
    config = {"viper.stateless": True, "viper.sharing": "claims" if claims else "dealt"}
    builder.set_bolt("middle", AlwaysDies, 1 + claims, config=config).shuffle_grouping("source")
    who = r"middle:[12] with the tuple \(\d+,\)" if claims else r"middle:1 with the tuple \(0,\)"
    told = f"2 restarts in a row have brought it no further; it died in {who}"
    with pytest.raises(WorkerError, match=told):
        apart = {"source": 2, "middle": [1, 3][: 1 + claims]}
        run(builder, tmp_path, 0, kills=0, viper__worker__restart__tries=2, viper__placement=apart)


class Allergic(Bolt):
    """Forwards numbers, but for one that kills its process."""

    outputs = ["number"]
    config = {"viper.stateless": True, "viper.on.error": "skip"}

    def process(self, tup: Any) -> None:
        if tup.values[0] == 17:
            die()
        self.emit(tup.values)


@pytest.mark.parametrize("claims", [False, True])
def test_it_is_left_out_where_exceptions_are_skipped(claims: bool, tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": 30})
    sharing = {**Allergic.config, "viper.sharing": "claims" if claims else "dealt"}
    builder.set_bolt("middle", Allergic, 1 + claims, config=sharing).shuffle_grouping("source")
    builder.set_bolt("sink", Written).global_grouping("middle")
    apart = {"source": 2, "middle": [1, 3][: 1 + claims], "sink": 2}
    run(builder, tmp_path, 0, kills=0, viper__worker__restart__tries=2, viper__placement=apart)
    assert written(tmp_path) == "".join(f"({number},)\n" for number in range(30) if number != 17)


def test_the_rows_of_a_sink_in_memory_are_told_to_be_lost(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": 500})
    builder.set_bolt("sink", CollectingSink, config={"viper.stateless": True}).global_grouping("source")
    report = run(builder, tmp_path, 3, kills=1, topology__workers=1, kill__bits=5)
    assert [list(incident.state_lost) for incident in report.incidents] == [["sink"]]


class Gathers(Mortal, BatchingBolt):
    """Emits how many numbers came between two ticks."""

    outputs = ["count"]
    config = {"topology.tick.tuple.freq.secs": 0.00005}

    def process_batch(self, key: Any, tups: Any) -> None:
        self.emit([len(tups)])


class GathersByTime(TicklessBatchingBolt):
    """Likewise, by the wall clock."""

    outputs = ["count"]

    def process_batch(self, key: Any, tups: Any) -> None:
        self.emit([len(tups)])


def test_without_exact_recovery_a_gathered_batch_is_told_to_be_lost(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions(3, 200))
    builder.set_bolt("gathers", Gathers).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("gathers")
    best = {"viper__recovery": "best", "kills": 1, "kill__bits": 7, "viper__slice__tuples": 8}
    report = run(builder, tmp_path, 1, viper__placement={"source": 1, "gathers": 2, "sink": 1}, **best)
    assert [list(incident.state_lost) for incident in report.incidents] == [["gathers"]]
    assert sum(count for (count,) in report.result("sink")) < 600


TICKS = {"viper.stateless": True, "topology.tick.tuple.freq.secs": 1}


class Remembering(Bolt):
    """Remembers what it has not declared."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.last = tup


class Turns:
    """A custom grouping with a memory of its own."""

    copies = False

    def prepare(self, context: Any, component: str, stream: str, targets: Any) -> None:
        self.targets = targets

    def choose_tasks(self, values: Any) -> Any:
        return self.targets[:1]


def refused(builder: TopologyBuilder, **options: Any) -> str:
    """Make a plan that is refused, and return the message."""
    with pytest.raises(TopologyError) as found:
        plan_of(builder, viper__recovery="exact", **options)
    return str(found.value)


def one_bolt(bolt: type[Bolt], source: type[Spout] = Numbers, **config: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", source, kwargs={"count": 1})
    builder.set_bolt("bolt", bolt, config=config or None).global_grouping("source")
    return builder


class TestRefusals:
    def test_attributes_that_are_not_declared(self) -> None:
        assert "declares state nor is stateless" in refused(one_bolt(Remembering))

    def test_a_spout_that_does_not_say_where_it_is(self) -> None:
        assert "derive it from SeekableSpout or PartitionedSpout" in refused(one_bolt(Forward, Forgetful))

    def test_batches_by_the_wall_clock(self) -> None:
        assert "a timer processes its batches, by the wall clock" in refused(one_bolt(GathersByTime))
        by_ticks = one_bolt(Gathers, **{"topology.tick.tuple.freq.secs": 1})
        assert "its ticks follow the wall clock" in refused(by_ticks, viper__time="logical")

    def test_ticks_by_the_wall_clock(self) -> None:
        builder = one_bolt(Ticking, **TICKS)
        told = refused(builder, viper__time="ingest")
        assert "its ticks follow the wall clock, as viper.time is ingest" in told

    def test_custom_groupings(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("source", Numbers, kwargs={"count": 1})
        builder.set_bolt("bolt", Forward).custom_grouping("source", Turns)
        assert "say stateless = True in the grouping's class" in refused(builder)

    def test_a_spout_that_is_made_anew(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("source", Numbers, kwargs={"count": 1}, config={"viper.on.error": "restart"})
        builder.set_bolt("sink", Written).global_grouping("source")
        assert "set viper.on.error to stop or skip" in refused(builder)

    def test_validation_says_so_too(self) -> None:
        topology = one_bolt(Remembering).build("tested")
        settings, _ = resolve(topology, options={"viper.recovery": "exact"})
        told = [problem.message for problem in validate(topology, settings)]
        assert any("cannot be repeated exactly" in message for message in told), told
