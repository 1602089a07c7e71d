"""What is taken from the report of a run, and compared with predictions."""

from __future__ import annotations

from typing import Any

import pytest

from framework.costs import ComponentCost, Deployment, Flow, Machine, Node, Profile, Shape, Spread, StreamCost
from framework.profiling import sample_of
from framework.profiling.accuracy import compared, percentile
from framework.profiling.rounding import rounded

SHAPE = Shape(
    (Node("a", True, 1), Node("b", False, 2), Node("c", False, 1)),
    (Flow("a", "default", "b", Spread.TURNS), Flow("b", "default", "c", Spread.ONE)),
)


def source(task: str, tuples: int, jumbos: int, size: int = 0) -> dict[str, Any]:
    return {"task": task, "tuples": tuples, "jumbos": jumbos, "payload_bytes": size}


def report(**of_statistics: Any) -> dict[str, Any]:
    """Task a:1 and b:2 on worker 1, b:3 and c:4 on worker 2; a brings 10, and each b gets 5 of them."""
    channels = [
        {"sources": [source("a:1", 5, 1)], "readers": [{"task": "b:2", "delivered": 5, "runs": 1}]},
        {"sources": [source("a:1", 5, 2, 50)], "readers": [{"task": "b:3", "delivered": 5, "runs": 1}]},
        {
            "sources": [source("b:2", 5, 1, 20), source("b:3", 5, 1)],
            "readers": [{"task": "c:4", "delivered": 10, "runs": 8}],
        },
    ]
    executors = [
        {"worker": 1, "tasks": ["a:1", "b:2"], "busy_s": [3e-6, 1e-6], "cpu_s": 2e-6},
        {"worker": 2, "tasks": ["b:3", "c:4"], "busy_s": [1e-6, 0.0], "cpu_s": 1e-6},
    ]
    counts = {name: {"emitted": 10, "processed": 0 if name == "a" else 10} for name in ("a", "b", "c")}
    statistics = {"channels": channels, "executors": executors, **of_statistics}
    return {"components": counts, "statistics": statistics, "elapsed_s": 2.0}


def test_the_time_of_an_executor_is_divided_by_turns() -> None:
    found = sample_of(report())
    assert {name: round(task.cpu_ns) for name, task in found.tasks.items()} == {
        "a:1": 1500,
        "b:2": 500,
        "b:3": 1000,
        "c:4": 0,
    }
    assert found.brought == 10 and found.loads_ns() == pytest.approx({1: 200.0, 2: 100.0})


def test_the_time_of_tasks_is_taken_where_it_is_known() -> None:
    measured = [
        {"component": name, "task": number, "cpu_s": number * 1e-6}
        for number, name in enumerate(("a", "b", "b", "c"), 1)
    ]
    found = sample_of(report(tasks=measured))
    assert [round(task.cpu_ns) for task in found.tasks.values()] == [1000, 2000, 3000, 4000]


def test_counts_of_tasks() -> None:
    found = sample_of(report())
    a, b, other, c = found.tasks.values()
    assert (a.processed, b.processed, other.processed, c.processed) == (10, 5, 5, 10)
    assert (a.runs, b.runs, c.runs) == (0, 0, 8)
    assert (a.jumbos, b.jumbos, other.jumbos, c.jumbos) == (3, 2, 3, 2)
    assert dict(a.encoded) == {"a/b": 5} == dict(other.decoded) and not b.decoded
    assert dict(b.encoded) == {"b/c": 5} == dict(c.decoded) and not other.encoded
    assert found.lengths == {"c": 10 / 8}


def test_a_prediction_is_compared_with_what_was_measured() -> None:
    costs = {
        "a": ComponentCost(100.0, {"default": StreamCost(1.0)}),
        "b": ComponentCost(80.0, {"default": StreamCost(1.0)}),
        "c": ComponentCost(0.0),
    }
    plan = Deployment({"a": (0,), "b": (0, 1), "c": (1,)})
    found = compared(SHAPE, Profile(costs), Machine.of_workers(2, 2), plan, [sample_of(report())])
    assert (found.predicted_ns, found.measured_ns) == pytest.approx((140.0, 200.0))
    assert found.load_error == pytest.approx(0.3) and found.measured_rate == 5.0
    assert found.lengths["c"][1] == 10 / 8


def test_percentiles() -> None:
    assert [percentile([3.0, 1.0, 2.0, 4.0], part) for part in (0.0, 0.5, 0.9, 1.0)] == [1.0, 2.0, 4.0, 4.0]


def test_a_rounded_profile_has_so_many_digits() -> None:
    cost = ComponentCost(1234.567, {"s": StreamCost(1 / 3, 9.999, 0.0, 10.04, 5e-7 / 3)}, share=2 / 3)
    found = rounded(Profile({"a": cost}, run_ns=1.23456, rates={"a": 98765.0}), 3)
    assert found == Profile(
        {"a": ComponentCost(1230.0, {"s": StreamCost(0.333, 10.0, 0.0, 10.0, 1.67e-7)}, share=0.667)},
        run_ns=1.23,
        rates={"a": 98800.0},
    )
