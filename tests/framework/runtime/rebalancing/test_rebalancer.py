"""The moves of bolts: to where a run is faster, not often, and not to and fro. The runs are made up."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from itertools import pairwise

import pytest

from framework.optimizer.costs import ComponentCost, Deployment, Profile, StreamCost
from framework.planning.routing import TaskSet
from framework.runtime.rebalancing import LEAST_GAIN, Rebalancer, history, rebalancer
from tests.framework.runtime.rebalancing.world import World, costs

INTERVAL_S = 30.0
SEEDS = range(6)


def world_of(seed: int, **given: object) -> World:
    draw = random.Random(seed)
    return World(draw.choice((2, 2, 3)), costs(draw), seed, **given)  # type: ignore[arg-type]


def crossing(selectivity: float) -> StreamCost:
    return StreamCost(selectivity, ns=60.0, encode_ns=35.0, decode_ns=35.0)


APART = Profile(
    {
        "lines": ComponentCost(100.0, {"default": crossing(1.0)}),
        "split": ComponentCost(500.0, {"default": crossing(25.0)}),
        "count": ComponentCost(200.0, {"default": crossing(1.0)}),
        "sink": ComponentCost(20.0),
    },
    run_ns=50.0,
)
"""A word count that is the fastest with its splitter and its counter apart."""


def rebalancer_of(world: World) -> Rebalancer:
    return Rebalancer(world.movable, world.machine, INTERVAL_S)


def waits(deployment: Deployment) -> float:
    """Compute a share of waits that the model does not know: none for some deployments, always the same."""
    return 1.0 - 0.1 * (zlib.crc32(repr(deployment.key()).encode()) % 6)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", SEEDS)
def test_it_comes_to_where_nothing_is_much_faster(seed: int) -> None:
    world = world_of(seed)
    began = world.rate(world.sets)
    world.go_on(rebalancer_of(world), 200)
    reached = world.rate(world.sets)
    assert reached >= began
    assert reached >= world.best() / (LEAST_GAIN + 0.1)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", SEEDS)
def test_it_does_not_go_to_and_fro(seed: int) -> None:
    world = world_of(seed, waiting=waits)
    began = world.rate(world.sets)
    world.go_on(rebalancer_of(world), 600)
    _check_calm(world, 500)
    assert world.rate(world.sets) >= 0.97 * began


def _check_calm(world: World, by_s: float) -> None:
    """Nothing moves once all that promised something was tried, and nothing comes back but by going back."""
    times = [at_s for at_s, _, _ in world.moves]
    for (earlier, *_), (later, _, why) in pairwise(world.moves):
        assert later - earlier >= (rebalancer.LEAST_WINDOWS if "it was" in why else INTERVAL_S)
    assert not times or times[-1] <= by_s
    entered = Counter(str(sorted(sets.items())) for _, sets, why in world.moves if "predicted" in why)
    assert max(entered.values(), default=1) == 1


def on_one(deployment: Deployment) -> float:
    """Wait so long on two workers that share the work that this is slower than one."""
    spread = len(set(deployment.tasks["split"]) | set(deployment.tasks["count"])) > 1
    return 0.4 if spread else 1.0


@pytest.mark.slow(daily=True)
def test_what_was_slower_than_predicted_is_left_again() -> None:
    left = 0
    for seed in SEEDS:
        world = world_of(seed, waiting=on_one)
        began = world.rate(world.sets)
        world.go_on(rebalancer_of(world), 600)
        # It tries some that are slower, but ever more rarely.
        assert world.brought >= 0.8 * 600 * began
        left += any("it was" in why for _, _, why in world.moves)
    assert left


@pytest.mark.slow(daily=True)
def test_what_was_slower_is_left_as_soon_as_that_is_sure() -> None:
    back = []
    for seed in SEEDS:
        world = world_of(seed, waiting=on_one)
        world.go_on(rebalancer_of(world), 100)
        back += [
            later - earlier
            for (earlier, *_), (later, _, why) in pairwise(world.moves)
            if "it was" in why
        ]
    assert back and min(back) <= rebalancer.LEAST_WINDOWS + 1


@pytest.mark.parametrize("guesses", [True, False], ids=["guessed", "not guessed"])
def test_costs_that_are_guessed_well_let_it_lose_nothing(guesses: bool) -> None:
    """One deployment does not tell all costs: without a guess, crossings may be taken for all of them."""
    world = World(2, APART, 1)
    world.sets = {**world.sets, "count": TaskSet.of([1])}
    began = world.rate(world.sets)
    world.go_on(Rebalancer(world.movable, world.machine, INTERVAL_S, APART if guesses else None), 8)
    assert world.moves
    assert (world.rate(world.sets) >= began) is guesses


def test_a_run_that_gets_little_to_do_stays_as_it_is() -> None:
    world = world_of(3)
    world.most = 0.5 * world.rate(world.sets)
    world.go_on(rebalancer_of(world), 100)
    assert not world.moves
    world.most = float("inf")
    world.go_on(rebalancer_of(world), 100)
    assert world.moves


def test_it_follows_what_the_input_costs() -> None:
    """Once it has settled, what was cheap becomes dear."""
    world = world_of(5)
    deciding = rebalancer_of(world)
    world.go_on(deciding, 200)
    calm = len(world.moves)
    world.profile = costs(random.Random(42))
    world.go_on(deciding, 200)
    assert len(world.moves) > calm
    assert world.rate(world.sets) >= world.best() / (LEAST_GAIN + 0.1)


def test_it_waits_for_windows_and_for_the_interval() -> None:
    world = world_of(3)
    deciding = rebalancer_of(world)
    world.go_on(deciding, rebalancer.LEAST_WINDOWS - 1)
    assert not world.moves
    world.go_on(deciding, 1)
    assert len(world.moves) == 1
    world.go_on(deciding, int(INTERVAL_S) - 1)
    assert len(world.moves) == 1


def test_planted_without_memory_it_goes_to_and_fro(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history.History, "factor", lambda self, deployment: 1.0)
    monkeypatch.setattr(rebalancer, "MOST_DOUBLINGS", 0)
    assert any(_is_restless(world_of(seed, waiting=on_one)) for seed in SEEDS)


def test_planted_noise_that_counts_as_gain_moves_bolts_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebalancer, "LEAST_GAIN", 0.0)
    assert any(_is_restless(world_of(seed, waiting=waits)) for seed in SEEDS)


def _is_restless(world: World) -> bool:
    world.go_on(rebalancer_of(world), 600)
    try:
        _check_calm(world, 500)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("workers", [2, 3, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_climbing_comes_about_as_high_as_going_through_all(
    workers: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(workers, costs(random.Random(seed)), seed)
    monkeypatch.setattr(rebalancer, "MOST_GONE_THROUGH", 0)
    found = rebalancer.fastest(world.movable, world.sets, world.predicted, lambda deployment: 1.0)
    assert world.rate(found) >= 0.9 * world.best()
