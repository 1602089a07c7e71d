"""The predicted speedup of another deployment, and how far that can be trusted."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from framework.optimizer.costs import ComponentCost, Deployment, Machine, Profile, Shape, StreamCost, predict
from framework.optimizer.profiling.accuracy import percentile
from framework.optimizer.profiling.fitting import fit
from framework.optimizer.profiling.samples import Sample

_TIMES = 20
_DOUBT = 0.3
"""Standard deviation of the logarithm of each guessed cost: an assumption, which nobody has measured."""


class Gain(NamedTuple):
    """Predicted rates of one deployment divided by those of another: what such a part of the fits exceeds."""

    low: float
    """The 5th percentile."""
    middle: float
    high: float
    """The 95th percentile."""


def gain(
    shape: Shape,
    samples: Sequence[Sample],
    machine: Machine,
    now: Deployment,
    then: Deployment,
    *,
    guess: Profile | None = None,
    seed: int = 0,
) -> Gain:
    """Predict how many times as fast a topology is with another deployment.

    The model is fitted again and again, each time to as many samples that are drawn from them (the
    bootstrap). It is drawn to a guess whose costs are each taken for somewhat more or less. So a cost of
    which samples say nothing is as uncertain as the guess is. A cost of which neither says anything, such as
    that of a crossing that no run had, is taken for 0 each time. It adds nothing to the spread, nor do
    effects that the model does not know of.

    Args:
        shape: the topology's.
        samples: of runs. One alone says nothing of how runs differ.
        machine: where it runs.
        now: the deployment that is compared with.
        then: the other one.
        guess: what costs are expected to be.
        seed: of what is drawn; the same one gives the same gain.

    Raises:
        ValueError: nothing was brought in any of the runs, or nothing costs anything.
    """
    ran = [sample for sample in samples if sample.brought]
    if not ran:
        raise ValueError("no spout has brought anything: expected runs with tuples")
    draw = random.Random(seed)
    ratios = []
    for _ in range(_TIMES):
        doubted = guess and _doubted(guess, draw)
        profile = fit(shape, draw.choices(ran, k=len(ran)), guess=doubted).profile
        before, after = (predict(shape, profile, machine, plan).rate for plan in (now, then))
        if math.isinf(before) or math.isinf(after):
            raise ValueError("no component costs anything: expected processor time in samples or guess")
        ratios.append(after / before)
    return Gain(*(percentile(ratios, part) for part in (0.05, 0.5, 0.95)))


def _doubted(guess: Profile, draw: random.Random) -> Profile:
    """A guess each of whose costs is taken for more or less; counts and sizes stay as they are."""

    def doubted(ns: float) -> float:
        return ns * math.exp(draw.gauss(0.0, _DOUBT))

    def streams(costs: Mapping[str, StreamCost]) -> dict[str, StreamCost]:
        return {
            name: replace(
                cost,
                ns=doubted(cost.ns),
                encode_ns=doubted(cost.encode_ns),
                decode_ns=doubted(cost.decode_ns),
            )
            for name, cost in costs.items()
        }

    def component(cost: ComponentCost) -> ComponentCost:
        inputs = {name: doubted(ns) for name, ns in cost.inputs.items()}
        return replace(cost, ns=doubted(cost.ns), streams=streams(cost.streams), inputs=inputs)

    components = {name: component(cost) for name, cost in guess.components.items()}
    return replace(guess, components=components, run_ns=doubted(guess.run_ns))
