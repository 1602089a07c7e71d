"""Runs with ``topology.workers: auto``: bolts go from worker to worker, and the output stays the same."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, Stream, TopologyBuilder, run
from framework.operators.sinks import CollectingSink
from framework.operators.state import ValueState
from framework.planning import Plan, WorkerKind, placement
from framework.planning.routing import MOST_CHOSEN, TaskSet
from framework.runtime import RunReport
from framework.runtime.leading import rebalancing
from framework.runtime.rebalancing import Move, Rebalancer
from tests.framework.runtime.pieces import plan_of
from tests.framework.transactions.bank import Orders, Transfer

CORES = 3
MOVES = 12
LEAST = 600


class UntilThere(Spout):
    """As many numbers as come before a file is there, but not few."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._enough = Path(storm_conf["enough"])
        self._next = 0

    def next_tuple(self) -> None:
        if self._next % 64 == 0 and self._next >= LEAST and self._enough.exists():
            raise StopIteration
        self.emit([self._next])
        self._next += 1


class Pieces(Bolt):
    """Emits none to three pairs for a number."""

    outputs = ["number", "nth"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        for nth in range(tup.values[0] % 4):
            self.emit([tup.values[0], nth])


class Counted(Bolt):
    """Counts by the second field of a pair."""

    outputs = ["number", "nth", "count"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        self.emit([*tup.values, self.seen.value])


class Remembering(Bolt):
    """May remember anything, as it does not say that it does not."""

    outputs = ["number", "nth", "count"]

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values))


class Directing(Bolt):
    """Says to which task it emits, and emits nothing."""

    outputs = [Stream(fields=["number", "nth", "count"], direct=True)]

    def process(self, tup: Any) -> None:
        pass


def built() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", UntilThere)
    builder.set_bolt("pieces", Pieces).shuffle_grouping("source")
    builder.set_bolt("counted", Counted).fields_grouping("pieces", "nth")
    builder.set_bolt("sink", CollectingSink).global_grouping("counted")
    return builder


def expected(rows: int) -> list[tuple[int, int, int]]:
    """Compute the output for the numbers below one, by a loop."""
    counts: Counter[int] = Counter()
    found = []
    for number in range(rows):
        for nth in range(number % 4):
            counts[nth] += 1
            found.append((number, nth, counts[nth]))
    return found


@pytest.fixture
def several_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "usable_cores", lambda: CORES)


@pytest.fixture
def restless(several_cores: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Moves bolts to workers that are drawn, again and again, and says which moved."""
    draw, moved = random.Random(11), list[str]()

    def move(self: Rebalancer, now_s: float, sets: Any) -> Move | None:
        if len(moved) >= MOVES:
            (tmp_path / "enough").touch()
            return None
        name = draw.choice(("pieces", "counted"))
        some = TaskSet.of(draw.sample(range(CORES), draw.randint(1, CORES)))
        moved.append(name)
        return Move({name: some}, 2.0, 1.9)

    monkeypatch.setattr(Rebalancer, "move", move)
    monkeypatch.setattr(rebalancing, "_LEAST_WINDOW_S", 0.005)
    return moved


def ran(folder: Path, **options: Any) -> RunReport:
    conf = {"enough": str(folder / "enough"), "viper.rebalance.interval.secs": 0.001, **options}
    return run(built(), workers="auto", conf=conf)


def test_the_output_is_that_of_a_loop_wherever_bolts_go(restless: list[str], tmp_path: Path) -> None:
    report = ran(tmp_path)
    rows = report.result("sink")
    brought = sum(t.emitted["default"] for t in report.statistics.tasks if t.component == "source")
    assert [tuple(row) for row in rows] == expected(brought)
    changes = report.statistics.scaled
    assert {change.component for change in changes} == {"pieces", "counted"}
    assert any(change.chosen is not None for change in changes)
    assert all(change.by.startswith("rebalancing: predicted 2.00 times as fast") for change in changes)
    assert len({t.worker for t in report.statistics.tasks if t.component == "counted" and t.tuples_in}) > 1


def test_what_fails_while_it_decides_does_not_end_the_run(
    several_cores: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    def failing(self: Rebalancer, now_s: float, sets: Any) -> None:
        (tmp_path / "enough").touch()
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(Rebalancer, "move", failing)
    monkeypatch.setattr(rebalancing, "_LEAST_WINDOW_S", 0.005)
    report = ran(tmp_path)
    assert report.result("sink") and not report.statistics.scaled
    assert caplog.text.count("bolts stay where they are from now on: planted") == 1


def test_a_bolt_has_no_more_tasks_than_can_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "usable_cores", lambda: 200)
    plan = plan_with()
    assert [len(plan.tasks_of(name)) for name in ("pieces", "counted")] == [MOST_CHOSEN, MOST_CHOSEN]


def plan_with(**options: Any) -> Plan:
    plan, _ = plan_of(
        built(), **{"enough": "", "topology__workers": "auto", "viper__worker": None, **options}
    )
    return plan


def test_each_worker_has_a_task_of_what_can_be_moved(several_cores: None) -> None:
    plan = plan_with()
    assert plan.placement.kind is WorkerKind.PROCESS
    assert plan.movable == {"pieces", "counted"}
    for name in plan.movable:
        placed = [
            plan.placement.executors[plan.placement.executor_of(t.id)].worker for t in plan.tasks_of(name)
        ]
        assert placed == [1, 2, 3] and plan.scalable[name] == TaskSet.first(1)
    assert [len(plan.tasks_of(name)) for name in ("source", "sink")] == [1, 1]


def test_components_see_how_many_workers_there_are(several_cores: None) -> None:
    assert plan_with().confs["pieces"]["topology.workers"] == CORES


@pytest.mark.parametrize(
    ("options", "movable"),
    [
        ({"viper__worker": "inline"}, []),
        ({"viper__worker": "thread"}, []),
        ({"viper__merge__layer": "operator"}, []),
        ({"viper__controller": "thresholds"}, []),
        ({"viper__key__groups": 1}, []),
        ({"viper__key__groups": 2}, ["counted", "pieces"]),
    ],
    ids=repr,
)
def test_what_may_not_move_stays(several_cores: None, options: Any, movable: list[str]) -> None:
    plan = plan_with(**options)
    assert sorted(plan.movable) == movable
    assert all(len(plan.tasks_of(name)) <= 2 for name in ("counted",) if options.get("viper__key__groups"))


def test_a_bolt_that_may_have_one_task_stays(several_cores: None) -> None:
    builder = built()
    builder.set_bolt("one", Pieces).shuffle_grouping("source").add_configuration("viper.parallelism.max", 1)
    plan, _ = plan_of(builder, enough="", topology__workers="auto", viper__worker=None)
    assert plan.movable == plan.scalable.keys() == {"pieces", "counted"}


def test_a_bolt_with_transactions_stays_though_it_is_stateless(several_cores: None) -> None:
    builder = TopologyBuilder()
    builder.set_spout("orders", Orders([]))
    transfer = builder.set_bolt("transfer", Transfer).shuffle_grouping("orders")
    transfer.add_configuration("viper.stateless", True)
    plan, _ = plan_of(builder, topology__workers="auto", viper__worker=None)
    assert not plan.movable and len(plan.tasks_of("transfer")) == 1


def test_one_core_has_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "usable_cores", lambda: 1)
    plan = plan_with()
    assert plan.placement.kind is WorkerKind.INLINE and not plan.movable


def test_what_remembers_in_its_own_way_is_dealt_out_and_stays(several_cores: None) -> None:
    builder = built()
    builder.set_bolt("own", Remembering).shuffle_grouping("counted")
    plan, _ = plan_of(builder, enough="", topology__workers="auto")
    assert "own" not in plan.movable and len(plan.tasks_of("own")) == 1


def test_a_plan_without_a_model_stays_and_says_so(
    several_cores: None, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    builder = built()
    builder.set_bolt("directing", Directing).shuffle_grouping("counted")
    builder.set_bolt("direct", Remembering).direct_grouping("directing")
    (tmp_path / "enough").touch()
    run(builder, workers="auto", conf={"enough": str(tmp_path / "enough")})
    assert "bolts stay where they are" in caplog.text and "DIRECT grouping" in caplog.text
