"""Gains of other deployments: right where samples tell them, and wide where nobody knows."""

from __future__ import annotations

import random

import pytest

from framework.optimizer.costs import ComponentCost, Deployment, Machine, Profile, StreamCost, predict
from framework.optimizer.profiling import Sample, deployments, fit, gain
from tests.framework.optimizer.costs.shapes import COSTS, WORDS
from tests.framework.optimizer.profiling.test_fitting import CUT, INLINE, run_of

MACHINE = Machine.of_workers(2, 2)
PLANS = deployments(WORDS, {"lines": 1, "sink": 1}, 2, 8, seed=3)
GUESS = Profile(
    {
        name: ComponentCost(cost.ns, {"default": StreamCost(1.0, encode_ns=90.0, decode_ns=40.0)})
        for name, cost in COSTS.components.items()
    }
)


def samples(noise: float, seed: int, plans: list[Deployment] = PLANS, times: int = 2) -> list[Sample]:
    draw = random.Random(seed)
    return [run_of(plan, draw, noise) for plan in plans for _ in range(times)]


def width(found: tuple[float, float, float]) -> float:
    return found[2] / found[0]


def test_without_noise_the_gain_is_that_of_the_model() -> None:
    exact = samples(0.0, 1)
    profile = fit(WORDS, exact).profile
    rates = [predict(WORDS, profile, MACHINE, plan).rate for plan in (INLINE, CUT)]
    found = gain(WORDS, exact, MACHINE, INLINE, CUT)
    assert found.low <= found.middle <= found.high
    assert found.middle == pytest.approx(rates[1] / rates[0], rel=0.02)
    assert width(found) < 1.05


def test_noise_makes_it_wide() -> None:
    quiet, busy = (gain(WORDS, samples(noise, 1), MACHINE, INLINE, CUT) for noise in (0.02, 0.3))
    assert width(busy) > 2 * (width(quiet) - 1) + 1


def test_the_true_gain_lies_within_mostly() -> None:
    exact = fit(WORDS, samples(0.0, 1)).profile
    now, then = (predict(WORDS, exact, MACHINE, plan).rate for plan in (INLINE, CUT))
    inside = 0
    for seed in range(20):
        found = gain(WORDS, samples(0.1, seed), MACHINE, INLINE, CUT, seed=seed)
        inside += found.low * 0.98 <= then / now <= found.high * 1.02
    print(f"seeds 0 to 19: the true gain lay within {inside} of 20 times")
    assert inside >= 13


def test_what_no_sample_tells_is_as_uncertain_as_the_guess() -> None:
    inline = samples(0.02, 1, [INLINE], 5)
    guessed = gain(WORDS, inline, MACHINE, INLINE, CUT, guess=GUESS)
    seen = gain(WORDS, samples(0.02, 1), MACHINE, INLINE, CUT, guess=GUESS)
    assert width(guessed) - 1 > 2 * (width(seen) - 1)


def test_the_seed_decides() -> None:
    noisy = samples(0.2, 1)
    first, again, other = (
        gain(WORDS, noisy, MACHINE, INLINE, CUT, guess=GUESS, seed=seed) for seed in (5, 5, 6)
    )
    assert first == again
    assert first != other


def test_the_same_deployment_gains_nothing() -> None:
    assert gain(WORDS, samples(0.2, 1), MACHINE, CUT, CUT) == (1.0, 1.0, 1.0)


def test_nothing_brought_is_refused() -> None:
    with pytest.raises(ValueError, match="no spout has brought anything"):
        gain(WORDS, [Sample({}, {}, {"lines": 0}, {}, {}, {}, 1.0)], MACHINE, INLINE, CUT)


def test_runs_that_brought_nothing_are_left_out() -> None:
    noisy = samples(0.2, 1)
    empty = [Sample({}, {}, {"lines": 0}, {}, {}, {}, 1.0)] * 3
    assert gain(WORDS, noisy + empty, MACHINE, INLINE, CUT) == gain(WORDS, noisy, MACHINE, INLINE, CUT)
