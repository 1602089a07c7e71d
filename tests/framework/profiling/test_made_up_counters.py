"""Fits of made-up counters, whose coefficients are known."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from framework.costs import Deployment, Flow, Node, Shape, Spread
from framework.profiling import Sample, TaskSample, deployments, fit
from framework.profiling.fitting import least_squares

SHAPE = Shape(
    (Node("lines", True, 1), Node("split", False, 2), Node("count", False, 2)),
    (Flow("lines", "default", "split", Spread.TURNS), Flow("split", "default", "count", Spread.KEYS)),
)
TRUE: Mapping[str, float] = {"lines": 1500.0, "split": 2600.0, "count": 350.0}
RUN, JUMBO, ENCODE, DECODE = 700.0, 2000.0, 150.0, 100.0
LINES, WORDS = 20_000, 25


def made_up(plan: Deployment, draw: random.Random, noise: float) -> Sample:
    """What a run of a plan would tell if tuples, runs and jumbo tuples took what they should, or nearly."""
    tasks: dict[str, TaskSample] = {}
    places: dict[str, int] = {}
    for name, own in plan.tasks.items():
        for index, place in enumerate(own):
            tasks[f"{name}:{index}"], places[f"{name}:{index}"] = TaskSample(name, 0.0), place + 1
    sent: dict[str, tuple[int, int, int]] = {}
    crossed: dict[str, int] = {}
    for flow in SHAPE.flows:
        tuples = LINES * (WORDS if flow.source == "split" else 1)
        sources, targets = plan.tasks[flow.source], plan.tasks[flow.target]
        part, way = tuples // len(sources) // len(targets), f"{flow.source}/{flow.target}"
        jumbos = max(1, part // draw.randint(20, 1000))
        for at, place in enumerate(sources):
            for other, reached in enumerate(targets):
                giver, taker = tasks[f"{flow.source}:{at}"], tasks[f"{flow.target}:{other}"]
                taker.processed += part
                taker.runs += part // draw.randint(1, 9) if len(sources) > 1 else 0
                giver.jumbos += jumbos
                taker.jumbos += jumbos
                if place != reached:
                    giver.encoded[way] += part
                    taker.decoded[way] += part
                    crossed[way] = crossed.get(way, 0) + part
        sent[way] = tuples, jumbos * len(sources) * len(targets), 10 * crossed.get(way, 0)
    tasks["lines:0"].processed = LINES
    for task in tasks.values():
        crossing = ENCODE * sum(task.encoded.values()) + DECODE * sum(task.decoded.values())
        whole = TRUE[task.component] * task.processed + RUN * task.runs + JUMBO * task.jumbos + crossing
        task.cpu_ns = whole * draw.gauss(1.0, noise)
    processed = {"lines": LINES, "split": LINES, "count": LINES * WORDS}
    return Sample(tasks, places, processed, processed, sent, crossed, {}, 1.0)


@pytest.mark.parametrize(("noise", "tolerance"), [(0.0, 0.02), (0.03, 0.15)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_coefficients_are_found_again(seed: int, noise: float, tolerance: float) -> None:
    print(f"seed {seed}")
    draw = random.Random(seed)
    plans = deployments(SHAPE, {"lines": 1}, 2, 10, seed)
    found = fit(SHAPE, [made_up(plan, draw, noise) for plan in plans for _ in range(5)])
    components = found.profile.components
    for name, ns in TRUE.items():
        assert components[name].ns == pytest.approx(ns, rel=tolerance), name
    assert found.profile.run_ns == pytest.approx(RUN, rel=tolerance)
    words = components["split"].streams["default"]
    assert words.selectivity == WORDS and words.size == 10
    assert words.encode_ns == pytest.approx(ENCODE, rel=0.05 + 4 * noise)
    assert words.decode_ns == pytest.approx(DECODE, rel=0.05 + 10 * noise)
    assert found.median_error == pytest.approx(noise, abs=0.02)


def test_a_fit_without_a_term_for_runs_is_worse() -> None:
    draw = random.Random(1)
    samples = [made_up(plan, draw, 0.0) for plan in deployments(SHAPE, {"lines": 1}, 2, 10, 1)]
    without = fit(SHAPE, samples, with_runs=False)
    assert without.profile.run_ns == 0
    assert without.median_error > 4 * fit(SHAPE, samples).median_error


def test_no_coefficient_is_negative() -> None:
    # The plain least squares would be a = 3, b = -1.
    found = least_squares([({"a": 1, "b": 1}, 2.0), ({"a": 1, "b": 2}, 1.0), ({"a": 2, "b": 1}, 5.0)])
    assert found["b"] == 0 and found["a"] > 0


def test_terms_that_always_come_together_share() -> None:
    found = least_squares([({"a": 1, "b": 1}, 2.0), ({"a": 3, "b": 3}, 6.0)])
    assert found["a"] + found["b"] == pytest.approx(2.0, rel=0.01)


def test_runs_without_tuples_are_refused() -> None:
    empty = Sample({}, {}, {}, {}, {}, {}, {}, 1.0)
    with pytest.raises(ValueError, match="no spout has brought anything"):
        fit(SHAPE, [empty])
