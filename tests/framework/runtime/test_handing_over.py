"""Bolts with state by key get more tasks and fewer while they run: the output stays the same."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import Block, PartitionedSpout, Spout, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunReport
from framework.runtime.coordination import route_switch
from framework.runtime.coordination.commands import ask
from framework.runtime.coordination.reconfiguring import NotChangedError, Reconfiguring
from framework.runtime.tasks.bolt_cut import HandOver
from tests.framework.runtime.handing_over import (
    MOST,
    SHAPES,
    Asking,
    Change,
    Counted,
    Polled,
    chain,
    drawn,
    row_of,
)
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.scaled import received
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import at_every_change

SMALL = {"viper__slice__tuples": 8, "viper__jumbo__size": 4, "viper__channel__tuples": 16}
QUICK = {**SMALL, "viper__poll__pause__max__ms": 1}


def run(
    builder: TopologyBuilder, workers: Workers, folder: Path, changes: Sequence[Change] = (), **options: Any
) -> RunReport:
    asked = {"control": str(folder), "changes": [tuple(change) for change in changes]}
    return workers.run(builder, {"checkpoints": folder}, **QUICK, **asked, **options)


def rows(report: RunReport) -> Any:
    return report.result("sink")


@pytest.mark.few(1)
@every_kind
@pytest.mark.parametrize("shape", SHAPES)
def test_the_output_stays_the_same(workers: Workers, shape: str, tmp_path: Path) -> None:
    built = SHAPES[shape]
    expected = rows(run(built(), INLINE, tmp_path))
    for seed in range(2):
        print(f"seed {seed}")
        assert rows(run(built(), workers, tmp_path, drawn(seed, 8))) == expected


@pytest.mark.few(1)
@every_kind
def test_a_run_without_checkpoints(workers: Workers, tmp_path: Path) -> None:
    asked = {**QUICK, "control": str(tmp_path), "changes": []}
    expected = rows(run(chain(), INLINE, tmp_path))
    for seed in range(2):
        print(f"seed {seed}")
        asked["changes"] = [tuple(change) for change in drawn(seed, 8)]
        report = workers.run(chain(spout=Polled), {"control": tmp_path}, **asked)
        assert rows(report) == expected and not report.checkpoints


@pytest.mark.few(1)
@every_kind
@pytest.mark.parametrize("spout", [Asking, Polled])
def test_a_live_run(workers: Workers, spout: type[Spout], tmp_path: Path) -> None:
    expected = rows(run(chain(), INLINE, tmp_path))
    for seed in range(2):
        print(f"seed {seed}")
        live = {"viper__time": "ingest", "viper__checkpoint__secs": None if spout is Polled else 0.01}
        folder = "control" if spout is Polled else "checkpoints"
        changes = [tuple(change) for change in drawn(seed, 8)]
        asked = {**QUICK, "control": str(tmp_path), "changes": changes, **live}
        assert rows(workers.run(chain(spout=spout), {folder: tmp_path}, **asked)) == expected


def test_a_change_before_the_run_begins(tmp_path: Path) -> None:
    plan, settings = plan_of(chain(), control=str(tmp_path), changes=[])
    running = Run(plan, settings)
    assert running.scale({"first": 3}) == {"first": 3, "second": 2}
    assert [bool(count) for count in received(running.execute(), "first")] == [True] * 3 + [False] * 2


@pytest.mark.few(2)
@every_kind
def test_tasks_that_stood_by_get_keys(workers: Workers, tmp_path: Path) -> None:
    before = received(run(chain(), workers, tmp_path), "first")
    assert all(before[:2]) and not any(before[2:])
    report = run(chain(), workers, tmp_path, [Change(100, {"first": MOST}, 0)])
    after = received(report, "first")
    assert all(after)
    assert after[0] < before[0]
    (change,) = report.statistics.scaled
    assert (change.component, change.before, change.tasks) == ("first", 2, MOST)


class AskingPartition(PartitionedSpout):
    """One partition, which asks for a change in the middle, and takes its time until that is carried out."""

    outputs = ["number", "key", "at"]
    partitions = 1

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        folder = Path(self.storm_conf["control"])
        is_under_way = False
        for number in range(5000):
            if number == 100:
                ask(folder, "scale", tasks={"first": MOST})
                is_under_way = True
            if is_under_way:
                told = ask(folder, "scale", tasks={})
                is_under_way = told["tasks"] != told["now"]
                yield None
            row = row_of(number)
            yield Block(array("q", row[2:]), [tuple(row)])


@pytest.mark.few(1)
@every_kind
def test_tasks_of_a_spout_may_have_ended_whose_rows_are_not_tracked(workers: Workers, tmp_path: Path) -> None:
    """A task without a partition ends at once."""
    builder = TopologyBuilder()
    builder.set_spout("source", AskingPartition, 2)
    builder.set_bolt("first", Counted, 2).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("first")
    report = run(builder, workers, tmp_path)
    assert [row[0] for row in rows(report)] == list(range(5000))
    assert [(change.before, change.tasks) for change in report.statistics.scaled] == [(2, MOST)]


def test_a_spout_that_nobody_reads_comes_to_the_cut_by_itself(tmp_path: Path) -> None:
    def built() -> TopologyBuilder:
        builder = chain()
        builder.set_spout("unread", Asking, kwargs={"count": 10})
        return builder

    expected = rows(run(built(), INLINE, tmp_path))
    assert rows(run(built(), INLINE, tmp_path, [Change(100, {"first": 3}, 0)])) == expected


def test_what_comes_too_late_was_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Reconfiguring, tasks: Any) -> None:
        raise NotChangedError("planted")

    monkeypatch.setattr(Reconfiguring, "_refuse_at_end", refuse)
    report = run(chain(), INLINE, tmp_path, [Change(100, {"first": MOST}, 0)])
    assert not report.statistics.scaled and not any(received(report, "first")[2:])


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(100), 4))
def test_changes_of_a_run_with_random_turns(seed: int, tmp_path: Path) -> None:
    shape = sorted(SHAPES)[seed % len(SHAPES)]
    tasks = 1 + seed % MOST
    expected = rows(run(SHAPES[shape](count=600), INLINE, tmp_path))
    random = {"viper__scheduling": "random", "viper__seed": seed}
    changes = drawn(seed, 20, count=600, within=50)
    assert rows(run(SHAPES[shape](tasks, 600), INLINE, tmp_path, changes, **random)) == expected


def take_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks take key groups over that siblings have not committed, as these have not come to the cut."""
    monkeypatch.setattr(HandOver, "can_take", True)


def switch_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Producers divide again from the call after that with the first tuple after the cut."""
    monkeypatch.setattr(route_switch, "_first_from", lambda positions, place: len(positions))


@pytest.mark.parametrize("plant", [take_at_once, switch_late], ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rows(run(chain(count=1500), INLINE, tmp_path))
    plant(monkeypatch)
    for seed in range(20):
        random = {"viper__scheduling": "random", "viper__seed": seed}
        try:
            changes = drawn(seed, 12, count=1500, within=100)
            if rows(run(chain(count=1500), INLINE, tmp_path, changes, **random)) != expected:
                return
        except ComponentError:
            return
    pytest.fail("it changes nothing")
