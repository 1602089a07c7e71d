"""Another strategy than the configured one decides counts and placement; the output stays the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.config import Settings, resolve
from framework.model.errors import InternalError
from framework.model.topology import Topology
from framework.operators.sinks import CollectingSink
from framework.planning import (
    AsConfigured,
    Draft,
    Executor,
    Placement,
    Plan,
    Strategy,
    TaskSpec,
    WorkerKind,
    make_plan,
)
from framework.runtime import run
from tests.framework.runtime.pieces import Forward, Numbers


def topology() -> Topology:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers(300))
    builder.set_bolt("copy", Forward(2)).fields_grouping("source", "number")
    builder.set_bolt("out", CollectingSink).global_grouping("copy")
    return builder.build("planned")


class Wide(AsConfigured):
    """As many tasks of the middle as it is made with, each on a thread of its own."""

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks

    def task_counts(self, draft: Draft) -> Mapping[str, int]:
        return {**super().task_counts(draft), "copy": self.tasks}

    def placement(self, draft: Draft, tasks: Sequence[TaskSpec]) -> Placement:
        return Placement(WorkerKind.THREAD, tuple(Executor(task.id, (task.id,)) for task in tasks))


def planned(strategy: Strategy | None = None) -> tuple[Plan, Settings]:
    made = topology()
    settings, problems = resolve(made)
    assert not problems
    return make_plan(made, settings, strategy), settings


def test_it_decides_how_many_tasks_there_are_and_where() -> None:
    plan, _ = planned(Wide(3))
    assert [task.component for task in plan.tasks] == ["copy"] * 3 + ["out", "source"]
    assert [channel.readers for channel in plan.channels] == [(1,), (2,), (3,), (4,)]
    assert [executor.worker for executor in plan.placement.executors] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("tasks", [1, 4])
def test_the_output_does_not_depend_on_it(tasks: int) -> None:
    expected = run(*planned()).result("out")
    assert len(expected) == 600
    assert run(*planned(Wide(tasks))).result("out") == expected


class Broken(AsConfigured):
    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def task_counts(self, draft: Draft) -> Mapping[str, int]:
        return {**super().task_counts(draft), **self.changes.get("counts", {})}

    def placement(self, draft: Draft, tasks: Sequence[TaskSpec]) -> Placement:
        found = super().placement(draft, tasks)
        return replace(found, executors=self.changes.get("executors", found.executors))


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (Broken(counts={"copy": 0}), "component 'copy' was planned with 0 tasks"),
        (Broken(executors=(Executor(1, (1, 3)),)), r"the tasks 1 to 3 .* were so: \[1, 3\]"),
        (Broken(executors=(Executor(1, (1, 2, 3, 3)),)), r"were so: \[1, 2, 3, 3\]"),
    ],
)
def test_a_strategy_that_forgets_tasks_is_found(strategy: Strategy, message: str) -> None:
    with pytest.raises(InternalError, match=message):
        planned(strategy)
