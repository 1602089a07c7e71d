"""Bolts get more tasks and fewer while they run, on workers of every kind: the output stays the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import ScaleError, TopologyError
from framework.operators.sinks import CollectingSink
from framework.operators.state import ValueState
from framework.planning.validation import validate
from framework.runtime import Run, RunReport
from framework.runtime.tasks.emitter import Emitter
from tests.framework.runtime.pieces import Numbers, plan_of
from tests.framework.runtime.scaled import MOST, Asking, Change, Pieces, built, drawn, received
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import at_every_change
from viper.position import Position

SMALL = {"viper__slice__tuples": 8, "viper__jumbo__size": 4, "viper__channel__tuples": 16}


def run(
    builder: TopologyBuilder, workers: Workers, folder: Path, *changes: Change, **options: Any
) -> RunReport:
    asked = {"control": str(folder / "control"), "changes": changes}
    return workers.run(builder, {"control": folder / "control"}, **SMALL, **asked, **options)


def rows(report: RunReport) -> Any:
    return report.result("sink")


@pytest.mark.few(2)
@every_kind
def test_the_output_stays_the_same(workers: Workers, tmp_path: Path) -> None:
    expected = rows(run(built(), INLINE, tmp_path))
    for seed in range(2):
        print(f"seed {seed}")
        assert rows(run(built(), workers, tmp_path, *drawn(seed, 6))) == expected


@pytest.mark.few(2)
@every_kind
@pytest.mark.parametrize("name", ["pieces", "tripled"])
def test_tasks_that_stood_by_get_tuples(workers: Workers, name: str, tmp_path: Path) -> None:
    before = received(run(built(), workers, tmp_path), name)
    assert all(before[:2]) and not any(before[2:])
    after = received(run(built(), workers, tmp_path, (300, name, MOST)), name)
    assert all(after)
    assert after[2] < before[0]


def test_a_single_task_is_left(tmp_path: Path) -> None:
    first, *others = received(run(built(), INLINE, tmp_path, (0, "pieces", 1)), "pieces")
    assert first > 500 and sum(others) <= 16


def test_a_change_before_the_run_begins(tmp_path: Path) -> None:
    plan, settings = plan_of(built(), control=str(tmp_path), changes=[])
    running = Run(plan, settings)
    assert running.scale({"pieces": 3, "tripled": 1}) == {"pieces": 3, "tripled": 1}
    report = running.execute()
    assert [bool(count) for count in received(report, "pieces")] == [True, True, True, False]
    assert [bool(count) for count in received(report, "tripled")] == [True, False, False, False]


@pytest.mark.parametrize(
    "tasks, told",
    [
        ({"piece": 3}, "unknown component 'piece'"),
        ({"sink": 2}, r"bolt 'sink' keeps its tasks while it runs \(1 now\): it declares no state by key"),
        ({"sink": 9}, r"config: \{viper\.parallelism\.max: 9\} .*'viper\.tasks=\{sink: 9\}'\)"),
        ({"sink": [0, 5, 6]}, r"next start \(viper run -o 'viper\.tasks=\{sink: 3\}'\)"),
        ({"sink": 0}, r"next start \(viper run -o 'viper\.tasks=\{sink: 4\}'\)"),
        ({"source": 2}, r"next start \(viper run -o 'viper\.tasks=\{source: 2\}'\)"),
        ({"source": 2}, r"spout 'source' keeps its tasks while it runs \(. now\): it is a spout,"),
        ({"pieces": 5}, "pieces=5: expected 1 to 4 tasks, as .*max at .* says; to have 5, set it to 5 there"),
        ({"pieces": 0}, "pieces=0: expected 1 to 4 tasks, as .* says$"),
        ({"pieces": True}, "pieces=True: expected 1 to 4 tasks"),
        ({"tripled": 3, "pieces": "2"}, "pieces='2': expected 1 to 4 tasks"),
    ],
)
def test_what_a_run_refuses(tasks: dict[str, Any], told: str) -> None:
    running = Run(*plan_of(built()))
    with pytest.raises(ScaleError, match=told):
        running.scale(tasks)
    assert running.scale({}) == {"pieces": 2, "tripled": 2}


@pytest.mark.parametrize(
    "left, published, is_scaled",
    [(0, 26, False), (0, 27, True), (1, 27, False), (1, 28, False), (0, 28, True)],
)
def test_a_successor_goes_beyond_what_was_told_and_emitted_before_it_divides_anew(
    left: int, published: int, is_scaled: bool
) -> None:
    """A task that was told of a time by the process that died must get no row below it."""
    commits, output = MagicMock(left=left), MagicMock()
    emitter = Emitter(MagicMock(), output, MagicMock(), commits=commits)
    emitter.repeat(Position(27, 0, 0))
    emitter.publish(Position(published, 0, 0))
    (ahead_of_commit,) = commits.call_ahead.call_args.args
    ahead_of_commit()
    assert output.scale.called is is_scaled


class Remembering(Pieces):
    config = {"viper.parallelism.max": MOST}
    seen = ValueState("int64", default=0)


class OfTasks(Pieces):
    config = {"viper.parallelism.max": MOST}
    seen = ValueState("int64", default=0, per="task")


class Undeclared(Pieces):
    config = {"viper.parallelism.max": MOST}


class Ticking(Pieces):
    config = {**Pieces.config, "topology.tick.tuple.freq.secs": 1}


def between(cls: type[Bolt], group: str, **config: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    named = {key.replace("__", "."): value for key, value in config.items()}
    middle = builder.set_bolt("middle", cls, 2, config=named or None)
    by_number = group in ("fields_grouping", "partial_key_grouping")
    getattr(middle, group)("source", *(["number"] if by_number else []))
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    return builder


@pytest.mark.parametrize(
    "cls, group, config, told",
    [
        (Remembering, "shuffle_grouping", {}, "has SHUFFLE grouping: expected fields grouping"),
        (OfTasks, "fields_grouping", {}, r"it declares state of its tasks \(seen\)"),
        (Undeclared, "shuffle_grouping", {}, "it declares no state by key, nor that it is stateless"),
        (Ticking, "shuffle_grouping", {}, "each of its tasks would answer them"),
        (Pieces, "all_grouping", {}, "its input from 'source' has ALL grouping"),
        (Pieces, "partial_key_grouping", {}, "has PARTIAL_KEY grouping"),
        (Pieces, "shuffle_grouping", {"viper__parallelism__max": 1}, "it begins with 2 tasks"),
    ],
)
def test_what_cannot_be_scaled_is_refused_before_anything_starts(
    cls: type[Bolt], group: str, config: dict[str, Any], told: str
) -> None:
    with pytest.raises(TopologyError, match=told):
        plan_of(between(cls, group, **config))
    problems = [str(problem) for problem in validate(between(cls, group, **config).build("refused"))]
    assert any("cannot be scaled while it runs, as viper.parallelism.max=" in told for told in problems)


def test_what_keeps_state_from_being_handed_over() -> None:
    with pytest.raises(TopologyError, match="says not how far it is while it blocks"):
        plan_of(between(Remembering, "fields_grouping"), viper__blocking=True)


def test_a_spout_cannot_be_scaled() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, args=[1], config={"viper.parallelism.max": 2})
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    with pytest.raises(TopologyError, match="it is a spout"):
        plan_of(builder)


@pytest.mark.parametrize("seed", at_every_change(range(50), 3))
def test_twenty_changes_of_a_run_with_random_turns(seed: int, tmp_path: Path) -> None:
    expected = rows(run(built(), INLINE, tmp_path))
    random = {"viper__scheduling": "random", "viper__seed": seed}
    assert rows(run(built(), INLINE, tmp_path, *drawn(seed, 20), **random)) == expected


@pytest.mark.few(1)
@every_kind
def test_changes_amid_checkpoints(workers: Workers, tmp_path: Path) -> None:
    """And a run with another parallelism resumes from the first of them."""
    expected = rows(run(built(), INLINE, tmp_path))
    kept = tmp_path / "kept"
    often = {"viper__checkpoint__secs": 0.001, "viper__checkpoint__keep": 1000}
    asked = {"control": str(kept), "changes": drawn(1, 12)}
    report = workers.run(built(), {"checkpoints": kept}, **SMALL, **asked, **often)
    assert rows(report) == expected and report.checkpoints
    first = min(kept.glob("*/manifest.json")).parent
    others = workers.run(built(tasks=3), {"start": first}, **SMALL, **asked)
    assert rows(others) == expected[len(expected) - len(rows(others)) :]
