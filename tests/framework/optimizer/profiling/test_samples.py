"""The sample that is read from the report of a run, and compared with predictions."""

from __future__ import annotations

from typing import Any

import pytest

from framework.optimizer.costs import (
    ComponentCost,
    Deployment,
    Flow,
    Machine,
    Node,
    Profile,
    Shape,
    Spread,
    StreamCost,
)
from framework.optimizer.costs.profile import rounded
from framework.optimizer.profiling import Way, sample_of
from framework.optimizer.profiling.accuracy import compared, percentile
from framework.optimizer.profiling.samples import variation, variations_of
from framework.runtime.observation.counters import TimeHistogram

SHAPE = Shape(
    (Node("a", True, 1), Node("b", False, 2), Node("c", False, 1)),
    (Flow("a", "default", "b", Spread.TURNS), Flow("b", "default", "c", Spread.ONE)),
)


def given(task: str, tuples: int, runs: int, decoded: int = 0) -> dict[str, Any]:
    return {"task": task, "tuples": tuples, "runs": runs, "decoded": decoded}


def sent(task: str, tuples: int, jumbos: int, encoded: int = 0) -> dict[str, Any]:
    return {"tasks": [task], "tuples": tuples, "jumbos": jumbos, "encoded": encoded, "bytes": 10 * encoded}


def report() -> dict[str, Any]:
    """Task a:1 and b:2 on worker 1, b:3 and c:4 on worker 2; a brings 10, and each b gets 5 of them."""
    inputs = {
        2: [given("a:1", 5, 1)],
        3: [given("a:1", 5, 1, 5)],
        4: [given("b:2", 5, 4, 5), given("b:3", 5, 4)],
    }
    outputs = {
        1: [sent("b:2", 5, 1), sent("b:3", 5, 2, 5)],
        2: [sent("c:4", 5, 1, 5)],
        3: [sent("c:4", 5, 1)],
    }
    tasks = [
        {
            "component": name,
            "task": number,
            "worker": worker,
            "cpu_s": ns * 1e-9,
            "emitted": {"default": 10 if name == "a" else 5} if name != "c" else {},
            "inputs": inputs.get(number, []),
            "outputs": outputs.get(number, []),
        }
        for number, (name, worker, ns) in enumerate(
            (("a", 1, 1500), ("b", 1, 500), ("b", 2, 1000), ("c", 2, 0)), 1
        )
    ]
    return {"statistics": {"tasks": tasks}, "elapsed_s": 2.0}


def test_times_and_counts_of_tasks() -> None:
    found = sample_of(report())
    a, b, other, c = found.tasks.values()
    assert [round(task.cpu_ns) for task in found.tasks.values()] == [1500, 500, 1000, 0]
    assert found.brought == 10 and found.loads_ns() == pytest.approx({1: 200.0, 2: 100.0})
    assert (a.processed, b.processed, other.processed, c.processed) == (10, 5, 5, 10)
    assert (a.runs, b.runs, c.runs) == (0, 0, 8)
    assert dict(a.encoded) == {"a/b": 5} == dict(other.decoded) and not b.decoded
    assert dict(b.encoded) == {"b/c": 5} == dict(c.decoded) and not other.encoded
    assert found.lengths == {"c": 10 / 8}
    assert found.emitted == {"a/default": 10, "b/default": 10}
    assert found.ways == {"a/b": Way(10, 3, 50, 5), "b/c": Way(10, 2, 50, 5)}


def test_times_at_another_speed() -> None:
    assert sample_of(report()).at_speed(2.0).loads_ns() == pytest.approx({1: 400.0, 2: 200.0})


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


def counted(*times: tuple[float, int]) -> dict[int, int]:
    """A histogram of pairs of a time in seconds and the number of tuples."""
    histogram = TimeHistogram()
    for seconds, count in times:
        histogram.add(seconds, count)
    return dict(histogram.counts())


@pytest.mark.parametrize(
    ("times", "spread", "slow"),
    [
        ([(20e-6, 100)], 0.0, 0.0),
        ([(1e-3, 1), (3e-3, 1)], 0.5, 0.0),
        ([(20e-6, 5_000), (0.1, 1)], 35.4, 0.5),
        # As long as 500 others, or far longer than the others and yet short, is not slow.
        ([(1e-3, 500), (0.05, 1)], 2.0, 0.0),
        ([(20e-6, 5_000), (0.02, 5)], 15.8, 0.0),
    ],
)
def test_how_times_vary(times: list[tuple[float, int]], spread: float, slow: float) -> None:
    """Times are known within 19 %, as histograms have them."""
    found = variation(counted(*times))
    assert found.spread == pytest.approx(spread, rel=0.25)
    assert found.slow == pytest.approx(slow, rel=0.15)


def test_times_are_those_that_histograms_count() -> None:
    """A turn of 50 ms counts as slow, and one of 49 ms, which a bucket before it has, does not."""
    assert variation(counted((20e-6, 99), (50e-3, 1))).slow > 0.9
    assert variation(counted((20e-6, 99), (44e-3, 1))).slow == 0.0


def test_the_tasks_of_a_component_are_taken_together() -> None:
    executors = [
        {"tasks": ["a:1", "b:2"], "times": [[], [[20, 1]]]},
        {"tasks": ["b:3"], "times": [[[24, 1]]]},
    ]
    found = variations_of({"statistics": {"executors": executors}})
    assert found.keys() == {"b"}
    assert found["b"].spread == pytest.approx(1 / 3)
