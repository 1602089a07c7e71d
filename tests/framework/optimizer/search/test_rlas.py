from dataclasses import replace
from itertools import product

import pytest

from framework.optimizer.costs import Machine, Place, Profile
from framework.optimizer.search import Rlas
from framework.optimizer.search.bounds import bound
from tests.framework.optimizer.search.problems import best_rate, chain, drawn, sockets


def test_an_overfed_bolt_gets_the_replicas_that_its_producer_calls_for() -> None:
    problem = chain({"spout": 100, "bolt": 450}, sockets(1, 6, 0.0), most=6)
    found = Rlas(ratio=1).best(replace(problem, fixed={"spout": 1}))
    assert {name: found.deployment.count(name) for name in ("spout", "bolt")} == {"spout": 1, "bolt": 5}
    assert found.prediction.rate == pytest.approx(1e9 / 100)


def test_all_that_is_overfed_is_scaled() -> None:
    problem = chain({"spout": 100, "bolt": 200, "last": 400}, sockets(1, 7, 0.0))
    found = Rlas(ratio=1).best(problem)
    assert {name: found.deployment.count(name) for name in found.deployment.tasks} == {
        "spout": 1,
        "bolt": 2,
        "last": 4,
    }
    assert found.gap == pytest.approx(0.0)


def test_no_component_takes_replicas_for_tuples_that_cannot_come() -> None:
    # For as much as six cores could process without a rest, the bolt would take four of them.
    problem = chain({"spout": 100, "bolt": 900, "last": 700}, sockets(1, 6, 0.0))
    found = Rlas(ratio=1).best(problem)
    assert [found.deployment.count(name) for name in ("spout", "bolt", "last")] == [1, 3, 2]
    assert found.prediction.rate == pytest.approx(1e9 / 350)


def test_the_last_replica_goes_to_the_overfed_component_behind() -> None:
    problem = chain({"spout": 100, "bolt": 200, "last": 400}, sockets(1, 7, 0.0))
    found = Rlas(ratio=1, replicas=4).best(problem)
    assert [found.deployment.count(name) for name in ("spout", "bolt", "last")] == [1, 1, 2]


def test_spouts_are_scaled_when_nothing_else_is_overfed() -> None:
    problem = chain({"spout": 400, "bolt": 100}, sockets(1, 5, 0.0))
    found = Rlas(ratio=1).best(problem)
    assert (found.deployment.count("spout"), found.deployment.count("bolt")) == (4, 1)


def test_spouts_are_not_scaled_beyond_what_comes_in() -> None:
    problem = chain({"spout": 400, "bolt": 100}, sockets(1, 5, 0.0))
    rates = {"spout": 5e6}
    found = Rlas(ratio=1).best(replace(problem, profile=Profile(problem.profile.components, rates=rates)))
    assert (found.deployment.count("spout"), found.deployment.count("bolt")) == (2, 1)
    assert found.prediction.rate == pytest.approx(5e6)
    assert found.gap == pytest.approx(0.0)


def test_no_more_replicas_than_cores() -> None:
    found = Rlas().best(chain({"spout": 10, "bolt": 1000, "last": 700}, sockets(2, 4, 30.0)))
    assert sum(map(len, found.deployment.tasks.values())) <= 8


def test_where_fetches_cost_more_than_they_give_one_socket_is_used() -> None:
    costs = {"spout": 100, "bolt": 110}
    near, far = (Rlas(ratio=1).best(chain(costs, sockets(2, 1, ns))) for ns in (1.0, 1000.0))
    assert len(near.deployment.places_used()) == 2
    assert len(far.deployment.places_used()) == 1


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(10))
def test_no_plan_exceeds_the_bound(seed: int) -> None:
    problem = drawn(seed, sockets(2, 1, 60.0))
    counts = [dict(zip(problem.shape.names, each, strict=True)) for each in product((1, 2), repeat=4)]
    best = max(best_rate(problem, each) for each in counts)
    assert best <= bound(problem) * (1 + 1e-9), seed
    found = Rlas(ratio=1).best(problem)
    assert 0 < found.prediction.rate <= found.bound * (1 + 1e-9)
    assert found.considered > 0


def test_the_bound_is_reached_where_it_can_be() -> None:
    assert bound(chain({"spout": 100, "bolt": 300}, sockets(1, 4, 0.0))) == pytest.approx(1e7)
    assert bound(chain({"spout": 100, "bolt": 300}, sockets(1, 8, 0.0), most=1)) == pytest.approx(1e9 / 300)


def test_workers_of_one_thread_are_places_too() -> None:
    problem = chain({"spout": 500, "bolt": 500}, Machine.of_workers(2, 2))
    assert problem.machine.places == (Place(), Place())
    assert Rlas(ratio=1).best(problem).prediction.rate == pytest.approx(2e6)


def test_a_component_without_tasks_is_refused() -> None:
    with pytest.raises(ValueError, match="bolt may have 0 tasks"):
        Rlas().best(replace(chain({"spout": 1, "bolt": 1}, sockets(1, 1, 0.0)), fixed={"bolt": 0}))
