"""Tuples whose keys an operator derives come in every mode to the same rows, at the same positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework import Bolt, OPlus, SideWindow, Stream, TopologyBuilder, Tuple
from framework.model.errors import ComponentError, TopologyError
from framework.operators.sinks import CollectingSink
from framework.planning.planner import key_input_problems
from framework.runtime.exchange.derived_keys import Address
from tests.framework.operators.windows.operators import (
    GROUPS,
    Keyed,
    Row,
    TellKeys,
    TellKeysSliding,
    drawn,
    expected,
)
from tests.framework.operators.windows.surviving import MortalLast
from tests.framework.operators.windows.test_against_brute_force import PLANS
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.test_recorded_runs import differences, taped
from tests.framework.runtime.workers.killed import MortalPartitions, Written
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.framework.runtime.workers.test_exact import run, undisturbed, written
from tests.portions import at_every_change, seeds_at_every_change

FORMS: tuple[dict[str, Any], ...] = ({"size": 30, "advance": 10}, {"size": 20}, {"gap": 6})
"""In microseconds, as there are between the rows of `Partitions`."""
SPREAD = {"source": [1, 2], "windows": [3, 2], "sink": 2}

MODES: tuple[dict[str, Any], ...] = (
    {},
    {"viper.keys": "producer"},
    {"viper.input": "copied"},
    {"viper.input": "copied", "viper.keys": "producer"},
    {"viper.input": "keyed"},
)

in_every_way = pytest.mark.parametrize(
    "mode, workers",
    [(mode, workers) for mode in MODES[1:] for workers in (INLINE, THREADS)]
    + at_every_change([(mode, PROCESSES) for mode in MODES[1:]], 1),
    ids=str,
)
every_other_mode = pytest.mark.parametrize("mode", MODES[1:], ids=lambda mode: "-".join(mode.values()))


class TwoStreams(Bolt):
    """Passes tuples on, by a stream for even ones and one for odd ones."""

    outputs = [Stream(list(Row._fields), name="even"), Stream(list(Row._fields), name="odd")]

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values), stream="odd" if tup.values.number % 2 else "even")


def topology(
    rows: Sequence[Row], operator: OPlus, par: int, mode: dict[str, Any], before: int = 1
) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[rows])
    builder.set_bolt("passed", TwoStreams, before).shuffle_grouping("source")
    windows = builder.set_bolt("windows", operator, par, config=mode)
    windows.all_grouping("passed", stream="even")
    windows.all_grouping("passed", stream="odd")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    return builder


def _is_as_expected(seed: int, most: int, workers: Workers, **options: Any) -> None:
    random = Random(seed)
    rows = drawn(random, random.randrange(1, most))
    cls = random.choice((TellKeys, TellKeysSliding))
    size, advance = random.choice(((10_000, 10_000), (10_000, 4000), (3000, 1000)))
    par, before, mode = random.randrange(1, 7), random.randrange(1, 4), random.choice(MODES)
    built = topology(rows, cls(size, advance), par, mode, before)
    found = workers.run(built, viper__key__groups=GROUPS, **options).result("sink")
    told = expected(rows, size, advance, several=True, single=cls is TellKeysSliding)
    assert found == told, f"seed {seed}: {cls.__name__}({size}, {advance}), {before} -> {par}, {mode}"


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(400), 25))
def test_windows_are_those_of_a_search(seeds: range) -> None:
    for seed in seeds:
        _is_as_expected(seed, 60, INLINE, **Random(seed).choice(PLANS))


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(7000, 7040), 2))
def test_on_several_workers(workers: Workers, seeds: range) -> None:
    for seed in seeds:
        _is_as_expected(seed, 200, workers, viper__jumbo__size=Random(seed).choice((1, 16, 1024)))


@pytest.mark.few(3)
@in_every_way
def test_positions_are_those_of_a_serial_run(mode: dict[str, Any], workers: Workers, tmp_path: Path) -> None:
    rows = drawn(Random(5), 120)
    serial, parallel = tmp_path / "serial", tmp_path / "parallel"
    taped(topology(rows, TellKeys(10_000, 4000), 1, {}), record=serial)
    built = topology(rows, TellKeys(10_000, 4000), 5, mode, 2)
    assert taped(built, record=parallel, **workers.options).result("sink")
    assert differences(serial, parallel) == []


@pytest.mark.parametrize("plant", ["skips too much", "foreign part", "other groups"])
def test_a_planted_mistake_is_found(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if plant == "skips too much":
        name = "framework.runtime.exchange.pieces.own_rows"
        monkeypatch.setattr(name, lambda rows, first, count, start, stop: [None] * count)
    elif plant == "foreign part":
        parts = Address.parts
        turned = lambda self, owners: parts(self, owners[::-1])  # noqa: E731
        monkeypatch.setattr(Address, "parts", turned)
    else:
        name = "framework.runtime.exchange.derived_keys.group_of_hash"
        monkeypatch.setattr(name, lambda hashed, groups: -hashed & (groups - 1))
    with pytest.raises((AssertionError, ComponentError)):
        test_windows_are_those_of_a_search(range(40))


class Late(TellKeys):
    """Has a stream for tuples that come too late."""

    outputs = [Stream(["key", "start", "end", "numbers"]), Stream(["tuple"], name="late")]


@every_other_mode
def test_a_late_tuple_is_told_once(mode: dict[str, Any]) -> None:
    """By the task that owns the first of its keys, which need not be in the lowest group."""

    def found(mode: dict[str, Any], par: int) -> tuple[Any, list[Row]]:
        keys = [f"key{number}" for number in range(9)]
        times = enumerate((0, 9, 40, 3, 8, 41, 2))
        rows = [Row(n, [*keys[n % 9 :], *keys[: n % 9]], "", time) for n, time in times]
        builder = TopologyBuilder()
        given = {"viper.timestamp.field": "time", "viper.timestamp.late": "admit"}
        builder.set_spout("source", Keyed, args=[rows], config=given)
        operator = Late("10ms").with_timestamp_field("time").with_late_tuple_stream("late")
        builder.set_bolt("windows", operator, par, config=mode).all_grouping("source")
        for name, stream in (("sink", "default"), ("late", "late")):
            builder.set_bolt(name, CollectingSink).global_grouping("windows", stream=stream)
        report = run_built(builder)
        return report.result("sink"), [late.values for (late,) in report.result("late")]

    serial = found({}, 1)
    assert [row.number for row in serial[1]] == [3, 4, 6]
    assert found(mode, 4) == serial


class Sides(OPlus):
    """Counts the tuples of each key by the input that they come by."""

    outputs = ["key", "end", "counts"]
    size = "10ms"
    inputs = 2

    def keys(self, tup: Tuple) -> list[str]:
        found: list[str] = tup.values.keys
        return found if tup.component == "left" else found[:1]

    def create(self) -> int:
        return 0

    def update(self, window: tuple[SideWindow, SideWindow], tup: Tuple, side: int = 0) -> None:
        window[side].state += 1

    def output(self, window: tuple[SideWindow, SideWindow]) -> Iterator[tuple[Any, ...]]:
        yield window[0].key, window[0].end, [one.state for one in window]


@every_other_mode
def test_two_inputs_are_told_apart(mode: dict[str, Any]) -> None:
    def found(mode: dict[str, Any], par: int) -> Any:
        builder = TopologyBuilder()
        for name, seed in (("left", 1), ("right", 2)):
            rows = [row._replace(time=row.number) for row in drawn(Random(seed), 60)]
            builder.set_spout(name, Keyed, args=[rows])
        windows = builder.set_bolt("windows", Sides(), par, config=mode)
        windows.all_grouping("left")
        windows.all_grouping("right")
        builder.set_bolt("sink", CollectingSink).global_grouping("windows")
        return run_built(builder, viper__jumbo__size=7).result("sink")

    serial = found({}, 1)
    assert serial and found(mode, 3) == serial


class Answered(Keyed):
    """Gives each tuple an id, and tells which were acked."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._acked: list[int] = []

    def tuples(self) -> Iterator[None]:  # type: ignore[override]
        for row in self._rows:
            self.emit(list(row), tup_id=row.number)
            yield None

    def ack(self, tup_id: Any) -> None:
        self._acked.append(tup_id)
        self.report_metric("acked", self._acked)


@pytest.mark.few(8)
@in_every_way
def test_tuples_are_acked_also_by_tasks_that_skip_them(mode: dict[str, Any], workers: Workers) -> None:
    rows = drawn(Random(2), 60)
    builder = TopologyBuilder()
    builder.set_spout("source", Answered, args=[rows])
    builder.set_bolt("windows", TellKeys(10_000), 4, config=mode).all_grouping("source")
    report = workers.run(builder, viper__key__groups=GROUPS)
    assert sorted(report.components["source"].metrics["acked"]) == [row.number for row in rows]


def killed(form: dict[str, Any], mode: dict[str, Any]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", MortalPartitions, 2, kwargs={"count": 900})
    builder.set_bolt("windows", MortalLast(**form), 2, config=mode).all_grouping("source")
    builder.set_bolt("sink", Written).global_grouping("windows")
    return builder


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "mode, form, seed", at_every_change([(m, f, s) for s in range(3) for m in MODES[1:] for f in FORMS], 2)
)
def test_killed_workers_change_nothing(
    mode: dict[str, Any], form: dict[str, Any], seed: int, tmp_path: Path
) -> None:
    before = undisturbed(killed(form, {}), tmp_path)
    report = run(killed(form, mode), tmp_path, seed, viper__placement=SPREAD, viper__slice__tuples=16)
    assert len(report.incidents) > 1
    assert written(tmp_path) == before


class ManyRows(Keyed):
    """Emits values that only pickle carries, which its consumers may change."""

    def tuples(self) -> Iterator[Row]:
        for row in self._rows:
            yield row._replace(keys=[*row.keys], key={"key": row.key})  # type: ignore[arg-type]


class Spoils(TellKeys):
    """Changes what it gets."""

    def update(self, window: Any, tup: Tuple, side: int = 0) -> list[tuple[Any, ...]] | None:
        found = super().update(window, tup, side)
        tup.values.keys.clear()
        return found

    def keys(self, tup: Tuple) -> list[str]:
        return [*tup.values.keys]


@in_every_way
def test_what_one_task_changes_no_other_sees(mode: dict[str, Any], workers: Workers) -> None:
    rows = drawn(Random(4), 80)

    def found(mode: dict[str, Any], par: int, workers: Workers = INLINE) -> Any:
        builder = TopologyBuilder()
        builder.set_spout("source", ManyRows, args=[rows])
        builder.set_bolt("windows", Spoils(10_000), par, config=mode).all_grouping("source")
        builder.set_bolt("sink", CollectingSink).global_grouping("windows")
        return workers.run(builder, viper__key__groups=GROUPS).result("sink")

    assert found(mode, 3, workers) == found({}, 1)


class Raises(TellKeys):
    """Cannot tell the keys of one tuple."""

    def keys(self, tup: Tuple) -> list[Any]:
        return [object()] if tup.values.number == 5 else []


def test_a_producer_says_whose_keys_it_cannot_tell() -> None:
    with pytest.raises(ComponentError, match=r"to 'windows'.*keys\(\) raised TypeError for \(5, "):
        run_built(topology(drawn(Random(1), 9), Raises(10_000), 2, MODES[1]))


class OneKey(OPlus):
    """Has the key of its grouping."""

    outputs = ["key"]
    size = "1s"


@pytest.mark.parametrize(
    "operator, config, says",
    [
        (TellKeys(10), {"viper.input": "keyed", "viper.keys": "instance"}, "must derive the keys"),
        (OneKey(), {"viper.input": "copied"}, "viper.input: copied, which is for operators"),
        (OneKey(), {"viper.keys": "producer"}, "viper.keys: producer, which is for operators"),
    ],
)
def test_what_cannot_be_had_is_refused(operator: OPlus, config: dict[str, Any], says: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[[]])
    windows = builder.set_bolt("windows", operator, 2, config=config)
    windows.all_grouping("source") if operator.derives_keys else windows.fields_grouping("source", ["key"])
    with pytest.raises(TopologyError, match=says):
        plan_of(builder)


def test_copies_are_for_tasks_that_do_not_change() -> None:
    for mode in MODES:
        plan, _ = plan_of(topology([], TellKeys(10), 3, mode))
        confs = {**plan.confs, "windows": {**plan.confs["windows"], "viper.parallelism.max": 4}}
        said = [problem.message for problem in key_input_problems(plan.topology, confs, plan.traits)]
        expects = ["viper.input: shared" in message for message in said]
        assert expects == ([True] if "viper.input" in mode else [])


def test_the_plan_has_a_channel_for_all_tasks_only_where_input_is_shared() -> None:
    plans = [plan_of(topology([], TellKeys(10), 3, mode))[0] for mode in MODES]
    windows = [{task.id for task in plan.tasks_of("windows")} for plan in plans]
    reading = [
        [len(channel.readers) for channel in plan.channels if tasks.issuperset(channel.readers)]
        for plan, tasks in zip(plans, windows, strict=True)
    ]
    assert reading == [[3], [3], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
