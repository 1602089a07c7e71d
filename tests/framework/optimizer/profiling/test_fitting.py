"""Fits: costs that were made up are found again, from tasks whose time they make."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from framework.optimizer.costs import (
    ComponentCost,
    Deployment,
    Flow,
    Node,
    Profile,
    Shape,
    Spread,
    StreamCost,
)
from framework.optimizer.profiling import Sample, TaskSample, Way, deployments, fit
from tests.framework.optimizer.costs.shapes import COSTS, WORDS

RUN, ENCODE, DECODE = 700.0, 90.0, 40.0

EMITTED = {"lines/default": 10_000, "split/default": 100_000, "count/default": 10_000}


def run_of(plan: Deployment, draw: random.Random, noise: float) -> Sample:
    """Make a sample of the word count, whose tasks take exactly what they cost, or about."""
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


def test_runs_without_tuples_are_no_samples() -> None:
    with pytest.raises(ValueError, match="no spout has brought anything"):
        fit(WORDS, [Sample({}, {}, {"lines": 0}, {}, {}, {}, 1.0)])


INLINE = Deployment({name: (0,) for name in WORDS.names})
CUT = Deployment({"lines": (0,), "split": (0,), "count": (1,), "sink": (1,)})
GUESS = Profile(
    {
        "lines": ComponentCost(900.0, {"default": StreamCost(3.0, 50.0, encode_ns=60.0, decode_ns=30.0)}),
        "split": ComponentCost(1500.0, {"default": StreamCost(5.0, 20.0, encode_ns=70.0, decode_ns=45.0)}),
        "count": ComponentCost(400.0, {"default": StreamCost(0.5, 30.0, encode_ns=80.0, decode_ns=40.0)}),
        "sink": ComponentCost(600.0, memory=64.0),
    },
    run_ns=500.0,
    jumbo_tuples=100.0,
    rates={"lines": 1e6},
)


def test_a_guess_stands_for_what_no_sample_has() -> None:
    found = fit(WORDS, [run_of(INLINE, random.Random(7), 0.0)], guess=GUESS).profile
    for name in ("lines", "split", "count"):
        fitted, guessed = (one.components[name].streams["default"] for one in (found, GUESS))
        assert (fitted.size, fitted.encode_ns, fitted.decode_ns) == (
            guessed.size,
            guessed.encode_ns,
            guessed.decode_ns,
        )
    assert found.run_ns == GUESS.run_ns
    assert (found.rates, found.components["sink"].memory) == (GUESS.rates, 64.0)
    assert found.components["split"].streams["default"].selectivity == 10, "what was seen is as it was seen"
    assert found.jumbo_tuples == pytest.approx(500)


def test_a_guess_stands_for_a_component_that_has_processed_nothing() -> None:
    full = run_of(INLINE, random.Random(7), 0.0)
    idle = {
        name: replace(task, processed=0) if name == "count:0" else task for name, task in full.tasks.items()
    }
    sample = replace(full, tasks=idle, processed={**full.processed, "count": 0}, ways={})
    found = fit(WORDS, [sample], guess=GUESS).profile
    assert found.components["count"].ns == GUESS.components["count"].ns
    assert found.components["count"].streams["default"].selectivity == 0.5
    assert found.jumbo_tuples == GUESS.jumbo_tuples


def test_one_run_of_one_plan_outweighs_a_guess_that_is_far_off() -> None:
    wrong = Profile({name: ComponentCost(10 * cost.ns) for name, cost in COSTS.components.items()})
    found = fit(WORDS, [run_of(INLINE, random.Random(7), 0.0)], guess=wrong).profile
    for name, cost in COSTS.components.items():
        assert found.components[name].ns == pytest.approx(cost.ns, rel=0.02)


def test_costs_that_always_come_together_keep_the_proportions_of_the_guess() -> None:
    sample = run_of(CUT, random.Random(7), 0.0)
    cost = fit(WORDS, [sample], guess=GUESS).profile.components["split"]
    together = COSTS.components["split"].ns + 10 * ENCODE
    guessed = GUESS.components["split"]
    assert cost.ns + 10 * cost.streams["default"].encode_ns == pytest.approx(together, rel=0.01)
    assert cost.streams["default"].encode_ns / cost.ns == pytest.approx(
        guessed.streams["default"].encode_ns / guessed.ns, rel=1e-6
    )


def test_a_fit_without_runs_takes_no_cost_of_them_from_a_guess() -> None:
    found = fit(WORDS, [run_of(INLINE, random.Random(7), 0.0)], with_runs=False, guess=GUESS)
    assert found.profile.run_ns == 0


def test_a_guess_of_single_streams_and_inputs_is_one_of_a_tuple_that_is_taken_in() -> None:
    split = ComponentCost(9.0, {"default": StreamCost(5.0, ns=20.0)}, inputs={"lines/default": 1400.0})
    fitted = fit(WORDS, [_without("split")], guess=Profile({"split": split})).profile
    assert fitted.components["split"].ns == 1400.0 + 5 * 20.0


def _without(name: str) -> Sample:
    full = run_of(INLINE, random.Random(7), 0.0)
    rest = {key: task for key, task in full.tasks.items() if task.component != name}
    return replace(full, tasks=rest, processed={**full.processed, name: 0})


def test_a_stream_costs_what_its_crossings_to_all_consumers_cost_on_the_average() -> None:
    fan = Shape(
        (Node("lines", True, 1), Node("left", False, 1), Node("right", False, 1)),
        tuple(Flow("lines", "default", name, Spread.ONE) for name in ("left", "right")),
    )
    lines = TaskSample("lines", 1e6, 1000, encoded={"lines/left": 1000})
    left = TaskSample("left", 3e5, 1000, decoded={"lines/left": 1000})
    right = TaskSample("right", 2e5, 1000)
    ways = {"lines/left": Way(1000, 2, 9000, 1000), "lines/right": Way(1000, 2, 0, 0)}
    counts = {"lines": 1000, "left": 1000, "right": 1000}
    tasks = {"lines:0": lines, "left:0": left, "right:0": right}
    places = {"lines:0": 0, "left:0": 1, "right:0": 0}
    sample = Sample(tasks, places, counts, {"lines/default": 1000}, ways, {}, 1.0)
    stream = fit(fan, [sample]).profile.components["lines"].streams["default"]
    assert stream.size == 9
    assert stream.encode_ns == pytest.approx(500, rel=0.01), "the half of what it shares with lines"
    assert stream.decode_ns == pytest.approx(150, rel=0.01)


def test_samples_without_processor_time_need_a_guess() -> None:
    full = run_of(INLINE, random.Random(7), 0.0)
    idle = replace(full, tasks={name: replace(task, cpu_ns=0.0) for name, task in full.tasks.items()})
    with pytest.raises(ValueError, match="no task has taken processor time"):
        fit(WORDS, [idle])
    found = fit(WORDS, [idle], guess=GUESS)
    assert found.profile.components["lines"].ns == 900
    assert found.median_error == 0
