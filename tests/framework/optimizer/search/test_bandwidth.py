"""Memories and the ways between places hold a plan back, and planners know it."""

import random
from dataclasses import replace

import pytest

from framework.optimizer.costs import ComponentCost, Deployment, Machine, Profile
from framework.optimizer.search import Heuristics, Problem, Rlas
from framework.optimizer.search.counts import Counts
from framework.optimizer.search.parts import parts_of
from framework.optimizer.search.placing import Placing
from tests.framework.optimizer.search.problems import best_rate, chain, drawn, sockets

EXACT = Heuristics(best_fit=False)


def narrow(machine: Machine, memory: float, way: float) -> Machine:
    """The same machine with these bandwidths, in bytes a second."""
    places = range(len(machine.places))
    bandwidth = tuple(tuple(memory if one == other else way for other in places) for one in places)
    return replace(machine, bandwidth=bandwidth)


def reading(problem: Problem, memory: float) -> Problem:
    """The same problem, each of whose components reads so many bytes of memory for a tuple."""
    components: dict[str, ComponentCost] = {
        name: replace(cost, memory=memory) for name, cost in problem.profile.components.items()
    }
    profile: Profile = replace(problem.profile, components=components)
    return replace(problem, profile=profile)


def test_a_way_between_places_is_used_up() -> None:
    problem = chain({"spout": 100, "bolt": 100}, narrow(sockets(2, 1, 0.0), 1e12, 64e6))
    apart = problem.predicted(Deployment({"spout": (0,), "bolt": (1,)}))
    assert (apart.rate, apart.bottleneck) == (pytest.approx(1e6), "way 1 to 2")
    together = problem.predicted(Deployment({"spout": (0,), "bolt": (0,)}))
    assert (together.rate, together.bottleneck) == (pytest.approx(5e6), "place 1")


def test_the_memory_of_a_place_is_used_up() -> None:
    problem = reading(chain({"spout": 100, "bolt": 100}, narrow(sockets(2, 2, 0.0), 100e6, 1e12)), 50)
    together = problem.predicted(Deployment({"spout": (1,), "bolt": (1,)}))
    assert (together.rate, together.bottleneck) == (pytest.approx(1e6), "memory of place 2")
    assert problem.predicted(Deployment({"spout": (0,), "bolt": (1,)})).rate == pytest.approx(2e6)


def test_a_planner_stays_where_the_way_is_too_narrow() -> None:
    wide, thin = (
        chain({"spout": 100, "bolt": 100}, narrow(sockets(2, 1, 0.0), 1e12, way)) for way in (1e12, 1e8)
    )
    assert len(Rlas(ratio=1).best(wide).deployment.places_used()) == 2
    assert len(Rlas(ratio=1).best(thin).deployment.places_used()) == 1


@pytest.mark.few(6, daily=True)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "heuristics", [EXACT, replace(EXACT, collocation=False), replace(EXACT, redundancy=False)]
)
def test_a_search_without_best_fit_finds_the_optimum(seed: int, heuristics: Heuristics) -> None:
    draw = random.Random(seed)
    machine = narrow(sockets(3, 1, 60.0), draw.choice([2e8, 1e9]), draw.choice([5e7, 2e8]))
    problem = reading(drawn(seed, machine), draw.choice([0.0, 100.0]))
    counts = {name: draw.choice([1, 2]) for name in problem.shape.names}
    placed = Placing(parts_of(problem, counts), heuristics, limit=1_000_000).best()
    assert placed.complete
    assert problem.predicted(placed.deployment).rate == pytest.approx(best_rate(problem, counts)), seed


@pytest.mark.parametrize("planner", [Rlas(), Rlas(ratio=1), Counts()])
@pytest.mark.parametrize("seed", range(6))
def test_no_plan_breaks_a_constraint_at_its_rate(planner: Rlas | Counts, seed: int) -> None:
    machine = narrow(sockets(2, 3, 60.0), 1e9, 1e8)
    problem = reading(drawn(seed, machine), 100.0)
    found = planner.best(problem)
    rate = found.prediction.rate
    for place, ns in found.prediction.loads.items():
        assert ns * rate <= machine.places[place].cores * 1e9 * (1 + 1e-9), seed
    for (place, other), size in _moved(problem, found.deployment).items():
        assert size * rate <= machine.bandwidth[place][other] * (1 + 1e-9), seed


def _moved(problem: Problem, deployment: Deployment) -> dict[tuple[int, int], float]:
    """Bytes for each tuple of a spout, counted from the parts of single replicas."""
    parts = parts_of(problem, {name: deployment.count(name) for name in problem.shape.names})
    places = [deployment.tasks[part.component][part.tasks[0]] for part in parts.parts]
    moved: dict[tuple[int, int], float] = {}
    for part, place in zip(parts.parts, places, strict=True):
        moved[place, place] = moved.get((place, place), 0.0) + part.memory
    for way in parts.ways:
        pair = places[way.source], places[way.target]
        if pair[0] != pair[1]:
            moved[pair] = moved.get(pair, 0.0) + way.number * way.size
    return moved
