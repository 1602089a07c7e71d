import random
from itertools import product

import pytest

from framework.optimizing.bounds import least_work
from framework.optimizing.boxes import _Box, _Pair, bound_by_boxes
from framework.optimizing.fetching import bound_with_fetches
from framework.optimizing.machines import server_a
from framework.optimizing.shares import Shares
from tests.framework.optimizing.problems import best_rate, chain, drawn, sockets


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(10))
def test_no_plan_exceeds_the_bound(seed: int) -> None:
    problem = drawn(seed, sockets(2, 1, 60.0))
    counts = [dict(zip(problem.shape.names, each, strict=True)) for each in product((1, 2), repeat=4)]
    best = max(best_rate(problem, each) for each in counts)
    found = bound_by_boxes(problem, best / 2, boxes=2_000, steps=12)
    assert best <= found * (1 + 1e-9), seed


@pytest.mark.few(1)
@pytest.mark.parametrize("places", [2, 3])
def test_no_plan_of_a_pair_exceeds_the_bound(places: int) -> None:
    problem = chain({"spout": 300, "bolt": 700}, sockets(places, 1, 250.0))
    counts = [{"spout": one, "bolt": other} for one, other in product((1, 2, 3, 4), repeat=2)]
    best = max(best_rate(problem, each) for each in counts)
    assert best <= bound_by_boxes(problem, best / 2, boxes=3_000, steps=12) * (1 + 1e-9)


def test_a_producer_takes_room_from_its_consumer() -> None:
    problem = chain({"spout": 300, "bolt": 700}, sockets(2, 1, 250.0))
    assert bound_by_boxes(problem, 1e5, steps=10) < 0.97 * bound_with_fetches(problem)


def test_more_boxes_give_no_worse_a_bound() -> None:
    problem = chain({"spout": 3000, "bolt": 7000}, sockets(4, 1, 2500.0))
    few, many = (bound_by_boxes(problem, 1e4, boxes, steps=12) for boxes in (2, 2_000))
    assert many < few <= bound_with_fetches(problem)


@pytest.mark.parametrize("seed", range(8))
def test_no_shares_of_a_pair_do_more_than_a_box_allows(seed: int) -> None:
    draw = random.Random(seed)
    problem = chain({"spout": draw.uniform(100, 500), "bolt": draw.uniform(300, 900)}, server_a(8))
    shares = Shares(problem, least_work(problem))
    pair = _Pair(shares, "bolt", shares.inflows["bolt"][0])
    period = sum(shares.work.values()) / problem.machine.cores * 1.2
    budget = period * problem.machine.cores - shares.work["spout"]
    for _ in range(50):
        drawn_share = [draw.random() ** 2 for _ in range(8)]
        share = [each / sum(drawn_share) for each in drawn_share]
        if max(share) > period * 18 / shares.work["spout"]:
            continue
        width = draw.uniform(0, 0.2)
        most = period * 18 / shares.work["spout"]
        box = _Box(
            tuple(max(0.0, each - draw.uniform(0, width)) for each in share),
            tuple(min(1.0, most, each + draw.uniform(0, width)) for each in share),
        )
        costs = shares.cost("bolt", {"spout": share})
        rooms = [period * 18 - shares.work["spout"] * each for each in share]
        reached = sum(room / cost for room, cost in zip(rooms, costs, strict=True))
        price = draw.choice([0.0, draw.uniform(0, 1 / min(costs))])
        assert reached <= pair._by_planes(box, period, budget, price) * (1 + 1e-9), seed
