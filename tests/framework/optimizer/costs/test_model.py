"""The predicted costs of plans, with numbers that were worked out by hand."""

from __future__ import annotations

import pytest

from framework.optimizer.costs import Deployment, Machine, Profile, predict
from tests.framework.optimizer.costs.shapes import COSTS, WORDS

TWO = Machine.of_workers(2, 2)
JUMBO = 1.0
"""Nanoseconds for each tuple at either end."""
LINES, SPLIT, COUNT, SINK = (
    1000 + JUMBO,
    2000 + 10 * 10 + JUMBO + 10 * JUMBO,
    3000 + 10 * JUMBO + JUMBO,
    500 + JUMBO,
)


def test_all_in_one_place() -> None:
    found = predict(WORDS, COSTS, TWO, Deployment(dict.fromkeys(WORDS.names, (0,))))
    assert found.loads == {0: pytest.approx(LINES + SPLIT + COUNT + SINK)}
    assert found.rate == pytest.approx(1e9 / (LINES + SPLIT + COUNT + SINK))
    assert found.bottleneck == "place 1"
    assert found.rates == {"lines": 1, "split": 1, "count": 10, "sink": 1}


def test_tuples_that_go_to_another_process_cost_both() -> None:
    found = predict(
        WORDS, COSTS, TWO, Deployment({"lines": (0,), "split": (0,), "count": (1,), "sink": (1,)})
    )
    assert found.loads == {
        0: pytest.approx(LINES + SPLIT + 10 * 20),
        1: pytest.approx(COUNT + SINK + 10 * 30),
    }


def test_half_of_them_cross_where_both_have_a_task_in_each_place() -> None:
    plan = Deployment({"lines": (0,), "split": (0, 1), "count": (0, 1), "sink": (0,)})
    found = predict(WORDS, COSTS, TWO, plan)
    # Some of each line's ten words come to a counter but once in 1024: two lines are hardly ever one run.
    words, counts = found.runs[WORDS.flows[1]], found.runs[WORDS.flows[2]]
    assert words == pytest.approx(5.01, abs=0.01)
    second = SPLIT / 2 + COUNT / 2 + 100 + 2.5 * 20 + 2.5 * 30 + 0.5 * 40
    assert found.loads[1] == pytest.approx(second + 10 / words * 700 / 2)
    first = LINES + SPLIT / 2 + COUNT / 2 + SINK + 50 + 2.5 * 20 + 2.5 * 30 + 0.5 * 50
    assert found.loads[0] == pytest.approx(first + 10 / words * 700 / 2 + 700 / counts)
    assert found.bottleneck == "place 1"


def test_without_a_cost_of_runs_tasks_share_evenly() -> None:
    free = Profile(COSTS.components)
    one = predict(WORDS, free, TWO, Deployment(dict.fromkeys(WORDS.names, (0,))))
    plan = Deployment({"lines": (0,), "split": (0, 0), "count": (0, 0, 0), "sink": (0,)})
    assert predict(WORDS, free, TWO, plan).loads[0] == pytest.approx(one.loads[0])
    assert predict(WORDS, COSTS, TWO, plan).loads[0] > one.loads[0]


def test_more_places_than_cores_share_these() -> None:
    plan = Deployment({"lines": (0,), "split": (1,), "count": (2,), "sink": (3,)})
    four = predict(WORDS, COSTS, Machine.of_workers(4, 4), plan)
    one = predict(WORDS, COSTS, Machine.of_workers(4, 1), plan)
    assert four.bottleneck == "task 0 of count"
    assert one.bottleneck == "all cores"
    assert one.rate == pytest.approx(1e9 / sum(one.loads.values()))


def test_a_spout_that_brings_no_more() -> None:
    slow = Profile(COSTS.components, rates={"lines": 100.0})
    found = predict(WORDS, slow, TWO, Deployment(dict.fromkeys(WORDS.names, (0,))))
    assert found.rate == pytest.approx(100)
    assert found.bottleneck == "spout lines"


def test_a_socket_fetches_lines_of_memory_from_another() -> None:
    sockets = Machine(TWO.places, 2, fetch_ns=((0.0, 50.0), (70.0, 0.0)))
    costs = Profile(
        {
            name: type(cost)(
                cost.ns, {key: type(s)(s.selectivity, size=65) for key, s in cost.streams.items()}
            )
            for name, cost in COSTS.components.items()
        }
    )
    found = predict(
        WORDS, costs, sockets, Deployment({"lines": (0,), "split": (1,), "count": (1,), "sink": (0,)})
    )
    assert found.tasks["split", 0] == pytest.approx(2000 + 2 * 50)
    assert found.tasks["sink", 0] == pytest.approx(500 + 2 * 70)
