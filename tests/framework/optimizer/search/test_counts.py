import random
from dataclasses import replace
from itertools import product

import pytest

from benchmarks.planner.server_a import server_a
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
from framework.optimizer.search import Problem, Rlas
from framework.optimizer.search.bounds import bound
from framework.optimizer.search.counts import Counts, _improved
from framework.optimizer.search.fetching import bound_with_fetches
from framework.optimizer.search.parts import local_tasks
from framework.optimizer.search.shares import Shares
from tests.framework.optimizer.search.problems import STREAM, best_rate, chain, drawn, placements, sockets


def words(machine: Machine) -> Problem:
    """The paper's word count: a sentence is ten words."""
    names = ("spout", "parser", "splitter", "counter")
    sizes = {"spout": (1, 192), "parser": (1, 192), "splitter": (10, 64)}
    costs = dict(zip(names, (400.0, 300.0, 1612.8, 612.3), strict=True))
    flows = (
        Flow("spout", STREAM, "parser", Spread.TURNS),
        Flow("parser", STREAM, "splitter", Spread.TURNS),
        Flow("splitter", STREAM, "counter", Spread.KEYS),
    )
    streams = {name: {STREAM: StreamCost(*of)} for name, of in sizes.items()}
    profile = Profile({name: ComponentCost(costs[name], streams.get(name, {})) for name in names})
    return Problem(Shape(tuple(Node(n, n == "spout", 500) for n in names), flows), profile, machine)


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(10))
def test_the_model_by_shares_is_the_model(seed: int) -> None:
    drawn_problem = drawn(seed, sockets(3, 2, 150.0))
    flows = tuple(
        flow if flow.spread in (Spread.TURNS, Spread.KEYS) else replace(flow, spread=Spread.TURNS)
        for flow in drawn_problem.shape.flows
    )
    problem = replace(drawn_problem, shape=Shape(drawn_problem.shape.nodes, flows))
    counts = {"spout": 2, "left": 3, "right": 1, "last": 2}
    tasks = local_tasks(problem, counts)
    model = Shares(problem, {name: sum(tasks[name, i] for i in range(counts[name])) for name in counts})
    for deployment in random.Random(seed).sample(list(placements(problem, counts)), 20):
        shares = {
            name: [of.count(place) / len(of) for place in range(3)] for name, of in deployment.tasks.items()
        }
        loads = problem.predicted(deployment).loads
        expected = [loads.get(place, 0.0) for place in range(3)]
        assert list(model.loads(shares).places) == pytest.approx(expected), seed


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(10))
def test_no_plan_exceeds_the_bound_that_knows_of_fetches(seed: int) -> None:
    problem = drawn(seed, sockets(2, 1, 60.0))
    counts = [dict(zip(problem.shape.names, each, strict=True)) for each in product((1, 2), repeat=4)]
    best = max(best_rate(problem, each) for each in counts)
    assert best <= bound_with_fetches(problem) * (1 + 1e-9) <= bound(problem) * (1 + 2e-9), seed


def test_fetches_that_no_plan_can_avoid_lower_the_bound() -> None:
    # Both sockets are needed for the bolt, and half of it is beside the spout at most.
    problem = chain({"spout": 0.001, "bolt": 1000}, sockets(2, 1, 1000.0))
    found = bound_with_fetches(problem)
    assert bound(problem) == pytest.approx(2e6, rel=1e-3)
    # One socket does it in a period T, the other one at double the cost: T / 1000 + T / 2000 = 1.
    assert found == pytest.approx(1e9 / (1000 * 2 / 3), rel=1e-3)
    assert Counts(fineness=(1, 2, 30)).best(problem).gap < 0.03


@pytest.mark.parametrize("seed", range(6))
def test_plans_are_nearly_as_good_as_any_of_their_counts(seed: int) -> None:
    problem = drawn(seed, sockets(2, 2, 60.0))
    found = Counts(fineness=(1,)).best(problem)
    counts = {name: found.deployment.count(name) for name in problem.shape.names}
    assert found.prediction.rate >= 0.85 * best_rate(problem, counts), seed


@pytest.mark.slow(daily=True)
@pytest.mark.parametrize("used", [1, 2, 3, 4])
def test_word_count_on_one_tray_of_server_a_is_within_a_twentieth_of_the_bound(used: int) -> None:
    assert Counts().best(words(server_a(used))).gap <= 0.05


def test_many_cores_are_planned_better_than_by_rlas() -> None:
    problem = words(server_a(5))
    by_counts = Counts(fineness=(1,)).best(problem)
    by_rlas = Rlas(limit=20).best(problem)
    assert by_counts.prediction.rate > by_rlas.prediction.rate
    assert by_counts.considered < 5_000
    assert by_counts.prediction.rate <= by_counts.bound


def test_numbers_that_are_fixed_and_components_that_are_together_are_kept() -> None:
    problem = replace(
        chain({"spout": 100, "bolt": 500, "last": 300}, sockets(3, 2, 20.0)),
        fixed={"bolt": 4},
        together=(frozenset({"spout", "last"}),),
    )
    tasks = Counts().best(problem).deployment.tasks
    assert len(tasks["bolt"]) == 4
    assert len({*tasks["spout"], *tasks["last"]}) == 1


def test_a_stream_that_goes_to_one_task_is_not_given_more() -> None:
    problem = drawn(0, sockets(2, 2, 60.0))
    flows = tuple(replace(flow, spread=Spread.ONE) for flow in problem.shape.flows)
    found = Counts().best(replace(problem, shape=Shape(problem.shape.nodes, flows)))
    assert {found.deployment.count(name) for name in ("left", "right", "last")} == {1}


def test_a_component_without_tasks_is_refused() -> None:
    with pytest.raises(ValueError, match="bolt may have 0 tasks"):
        Counts().best(replace(chain({"spout": 1, "bolt": 1}, sockets(1, 1, 0.0)), fixed={"bolt": 0}))


@pytest.mark.parametrize("seed", range(6))
def test_exchanges_find_what_single_moves_cannot(seed: int) -> None:
    # Each component has a socket, and all is fetched. A task that goes to the other socket alone costs more
    # than its fetches, so two have to change places.
    draw = random.Random(seed)
    ns = draw.uniform(50, 1000)
    problem = chain({"spout": ns, "bolt": ns}, sockets(2, 1, ns * draw.uniform(0.1, 0.4)))
    model = Shares(problem, {"spout": ns, "bolt": ns})
    apart = {"spout": [2, 0], "bolt": [0, 2]}
    table, _ = _improved(model, apart, 100)
    plan = Deployment({name: (0,) * row[0] + (1,) * row[1] for name, row in table.items()})
    counts = {"spout": 2, "bolt": 2}
    assert problem.predicted(plan).rate == pytest.approx(best_rate(problem, counts)), seed
