"""Fits: costs that were made up are found again, from tasks whose time they make."""

from __future__ import annotations

import random

import pytest

from framework.costs import Deployment
from framework.profiling import Sample, TaskSample, Way, deployments, fit
from framework.profiling.fitting import least_squares
from tests.framework.costs.shapes import COSTS, WORDS

RUN, ENCODE, DECODE = 700.0, 90.0, 40.0

EMITTED = {"lines/default": 10_000, "split/default": 100_000, "count/default": 10_000}


def run_of(plan: Deployment, draw: random.Random, noise: float) -> Sample:
    """What a run of the word count would tell, whose tasks take exactly what they cost, or about."""
    lines, tasks, places, ways = 10_000, {}, {}, {}
    amounts = {"lines": lines, "split": lines, "count": 10 * lines, "sink": lines}
    for name, placed in plan.tasks.items():
        for index, place in enumerate(placed):
            task = TaskSample(name, 0.0, amounts[name] // len(placed))
            tasks[f"{name}:{index}"], places[f"{name}:{index}"] = task, place
    for flow in WORDS.flows:
        way = f"{flow.source}/{flow.target}"
        sources, targets = plan.tasks[flow.source], plan.tasks[flow.target]
        each = amounts[flow.target] // len(sources) // len(targets)
        crossed = 0
        for source, place in enumerate(sources):
            for target, reached in enumerate(targets):
                giver, taker = tasks[f"{flow.source}:{source}"], tasks[f"{flow.target}:{target}"]
                taker.runs += each // 7 if len(sources) > 1 else 0
                if place != reached:
                    giver.encoded[way] += each
                    taker.decoded[way] += each
                    crossed += each
        ways[way] = Way(amounts[flow.target], amounts[flow.target] // 500, 9 * crossed, crossed)
    for task in tasks.values():
        exact = COSTS.components[task.component].ns * task.processed + RUN * task.runs
        exact += ENCODE * sum(task.encoded.values()) + DECODE * sum(task.decoded.values())
        task.cpu_ns = exact * draw.uniform(1 - noise, 1 + noise)
    return Sample(tasks, places, amounts, EMITTED, ways, {}, 1.0)


@pytest.mark.parametrize(("noise", "within"), [(0.0, 0.02), (0.05, 0.1)])
def test_costs_are_found_again(noise: float, within: float) -> None:
    draw = random.Random(7)
    plans = deployments(WORDS, {"lines": 1, "sink": 1}, 2, 10, seed=3)
    found = fit(WORDS, [run_of(plan, draw, noise) for plan in plans for _ in range(3)]).profile
    for name in ("lines", "split", "count", "sink"):
        assert found.components[name].ns == pytest.approx(COSTS.components[name].ns, rel=within)
    assert found.run_ns == pytest.approx(RUN, rel=3 * within)
    words = found.components["split"].streams["default"]
    assert words.selectivity == 10
    assert words.encode_ns == pytest.approx(ENCODE, rel=3 * within)
    assert words.decode_ns == pytest.approx(DECODE, rel=3 * within)
    assert words.size == 9
    assert found.jumbo_tuples == pytest.approx(500)


def test_without_runs_their_cost_is_taken_for_that_of_others() -> None:
    draw = random.Random(7)
    plans = deployments(WORDS, {"lines": 1, "sink": 1}, 2, 10, seed=3)
    samples = [run_of(plan, draw, 0.0) for plan in plans]
    assert fit(WORDS, samples).median_error < 0.01
    without = fit(WORDS, samples, with_runs=False)
    assert without.median_error > 0.02
    assert without.profile.run_ns == 0


def test_no_cost_is_negative() -> None:
    rows = [({"a": 10.0}, 100.0), ({"a": 10.0, "b": 5.0}, 90.0)]
    cost = least_squares(rows)
    assert cost["b"] == 0
    assert cost["a"] == pytest.approx(9.4, abs=0.2)


def test_runs_without_tuples_are_no_samples() -> None:
    with pytest.raises(ValueError, match="no spout has brought anything"):
        fit(WORDS, [Sample({}, {}, {"lines": 0}, {}, {}, {}, 1.0)])
