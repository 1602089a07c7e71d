import random
from dataclasses import replace
from itertools import permutations, product

import pytest

from benchmarks.planner.server_a import server_a
from framework.optimizer.costs import ComponentCost, Place, Spread, StreamCost
from framework.optimizer.search import Problem
from framework.optimizer.search.alike import alike
from framework.optimizer.search.bounds import least_work
from framework.optimizer.search.box import Box
from framework.optimizer.search.boxes import bound_by_boxes
from framework.optimizer.search.fetching import bound_with_fetches
from framework.optimizer.search.pair import Pair
from framework.optimizer.search.shares import Shares
from tests.framework.optimizer.search.problems import best_rate, chain, drawn, sockets
from tests.portions import at_every_change


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(10))
def test_no_plan_exceeds_the_bound(seed: int) -> None:
    problem = drawn(seed, sockets(2, 1, 60.0))
    counts = [dict(zip(problem.shape.names, each, strict=True)) for each in product((1, 2), repeat=4)]
    best = max(best_rate(problem, each) for each in counts)
    found = bound_by_boxes(problem, best / 2, boxes=2_000)
    assert best <= found * (1 + 1e-9), seed


@pytest.mark.few(1)
@pytest.mark.parametrize("places", [2, 3])
def test_no_plan_of_a_pair_exceeds_the_bound(places: int) -> None:
    problem = chain({"spout": 300, "bolt": 700}, sockets(places, 1, 250.0))
    counts = [{"spout": one, "bolt": other} for one, other in product((1, 2, 3, 4), repeat=2)]
    best = max(best_rate(problem, each) for each in counts)
    assert best <= bound_by_boxes(problem, best / 2, boxes=3_000) * (1 + 1e-9)


def test_a_producer_takes_room_from_its_consumer() -> None:
    problem = chain({"spout": 300, "bolt": 700}, sockets(2, 1, 250.0))
    assert bound_by_boxes(problem, 1e5) < 0.97 * bound_with_fetches(problem)


def test_more_boxes_give_no_worse_a_bound() -> None:
    problem = chain({"spout": 3000, "bolt": 7000}, sockets(4, 1, 2500.0))
    few, many = (bound_by_boxes(problem, 2e5, boxes) for boxes in (2, 2_000))
    assert many < few <= bound_with_fetches(problem)


@pytest.mark.parametrize("seed", range(8))
def test_no_shares_of_a_pair_do_more_than_a_box_allows(seed: int) -> None:
    draw = random.Random(seed)
    problem = chain({"spout": draw.uniform(100, 500), "bolt": draw.uniform(300, 900)}, server_a(8))
    shares = Shares(problem, least_work(problem))
    pair = Pair(shares, "bolt", shares.inflows["bolt"][0])
    period = sum(shares.work.values()) / problem.machine.cores * 1.2
    budget = period * problem.machine.cores - shares.work["spout"]
    for _ in range(50):
        drawn_share = [draw.random() ** 2 for _ in range(8)]
        share = [each / sum(drawn_share) for each in drawn_share]
        if max(share) > period * 18 / shares.work["spout"]:
            continue
        width = draw.uniform(0, 0.2)
        most = period * 18 / shares.work["spout"]
        box = Box(
            tuple(max(0.0, each - draw.uniform(0, width)) for each in share),
            tuple(min(1.0, most, each + draw.uniform(0, width)) for each in share),
        )
        costs = shares.cost("bolt", {"spout": share})
        rooms = [period * 18 - shares.work["spout"] * each for each in share]
        reached = sum(room / cost for room, cost in zip(rooms, costs, strict=True))
        price = draw.choice([0.0, draw.uniform(0, 1 / min(costs))])
        assert reached <= pair.within(box).by_planes(period, budget, price) * (1 + 1e-9), seed


def fed(feeding: float) -> Problem:
    """A chain of three, of whose first stream so much of a line has to be fetched for each tuple."""
    problem = chain({"spout": 1, "middle": 1000, "bolt": 1000}, sockets(2, 1, 250.0))
    costs = dict(problem.profile.components)
    costs["spout"] = ComponentCost(1, {"default": StreamCost(1, 64 * feeding)})
    costs["middle"] = ComponentCost(1000, {"default": StreamCost(1, 128)})
    return replace(problem, profile=replace(problem.profile, components=costs))


def test_what_feeds_the_producer_counts_as_well() -> None:
    found, free = (bound_by_boxes(fed(lines), 5e5) for lines in (1, 0))
    assert found < 0.97 * free
    counts = [{"spout": 1, "middle": one, "bolt": other} for one, other in product((1, 2, 3, 4), repeat=2)]
    assert max(best_rate(fed(1), each) for each in counts) <= found * (1 + 1e-9)


@pytest.mark.parametrize("fetch_ns", [250.0, 2000.0])
@pytest.mark.parametrize("sizes", [(192, 256), (64, 64)])
def test_what_only_the_first_task_gets_is_not_fetched_by_shares(
    sizes: tuple[int, int], fetch_ns: float
) -> None:
    problem = chain({"spout": 1, "middle": 1000, "bolt": 1000}, sockets(2, 1, fetch_ns), most=4)
    first, second = problem.shape.flows
    shape = replace(problem.shape, flows=(replace(first, spread=Spread.ONE), second))
    costs = dict(problem.profile.components)
    for name, size in zip(("spout", "middle"), sizes, strict=True):
        costs[name] = ComponentCost(costs[name].ns, {"default": StreamCost(1, size)})
    problem = replace(problem, shape=shape, profile=replace(problem.profile, components=costs))
    counts = [{"spout": 1, "middle": one, "bolt": other} for one, other in product((1, 2, 3), repeat=2)]
    best = max(best_rate(problem, each) for each in counts)
    assert best <= bound_with_fetches(problem) * (1 + 1e-9)
    assert best <= bound_by_boxes(problem, best * 0.7) * (1 + 1e-9)


@pytest.mark.parametrize("seed", at_every_change(range(6), 2))
def test_no_plan_on_unequal_places_exceeds_the_bound(seed: int) -> None:
    """On three sockets of a tray, whose exchanges are not those of any three."""
    draw = random.Random(seed)
    machine = replace(server_a(3), places=(Place(1),) * 3, cores=3, bandwidth=())
    costs = {name: draw.uniform(100, 900) for name in ("spout", "middle", "bolt")}
    problem = chain(costs, machine, size=64 * draw.randint(1, 4))
    counts = [dict(zip(costs, each, strict=True)) for each in product((1, 2, 3), repeat=3)]
    best = max(best_rate(problem, each) for each in counts)
    assert best <= bound_by_boxes(problem, best * 0.8) * (1 + 1e-9), seed


@pytest.mark.parametrize("reached", [0.0, 1e12])
def test_a_rate_that_tells_nothing_leaves_the_bound_as_it_is(reached: float) -> None:
    problem = chain({"spout": 300, "bolt": 700}, sockets(2, 1, 250.0))
    assert bound_by_boxes(problem, reached) == bound_with_fetches(problem)


def test_places_of_server_a_that_can_be_exchanged() -> None:
    machine = server_a(8)
    kinds = machine.places
    assert alike([machine.fetch_ns], kinds) == {0: [1, 2, 3, 4, 5, 6, 7], 4: [5]}
    assert alike([sockets(4, 1, 9.0).fetch_ns], kinds[:4]) == {0: [1, 2, 3], 1: [2, 3], 2: [3]}
    assert alike([((0.0, 1.0, 2.0), (1.0, 0.0, 3.0), (2.0, 3.0, 0.0))], kinds[:3]) == {}
    assert alike([sockets(3, 1, 9.0).fetch_ns], (1, 2, 1)) == {0: [2]}


@pytest.mark.parametrize("seed", range(20))
def test_places_are_alike_where_a_permutation_says_so(seed: int) -> None:
    """Against all permutations; a matrix of few values has some that change nothing."""
    draw, size = random.Random(seed), 5
    matrix = [[draw.choice((1.0, 2.0)) if i != j else 0.0 for j in range(size)] for i in range(size)]
    kinds = [draw.random() < 0.8 for _ in range(size)]
    same = [
        way
        for way in permutations(range(size))
        if all(kinds[way[i]] == kinds[i] for i in range(size))
        and all(matrix[way[i]][way[j]] == matrix[i][j] for i in range(size) for j in range(size))
    ]
    expected = {
        place: sorted({way[place] for way in same if way[:place] == tuple(range(place))} - {place})
        for place in range(size)
    }
    assert alike([matrix], kinds) == {place: others for place, others in expected.items() if others}, seed
