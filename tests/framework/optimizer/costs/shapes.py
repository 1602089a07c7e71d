"""Shapes and costs for tests: a word count by hand, and topologies that are drawn."""

from __future__ import annotations

import random

from framework.optimizer.costs import ComponentCost, Flow, Machine, Node, Profile, Shape, Spread, StreamCost
from framework.optimizer.search import Problem

WORDS = Shape(
    (Node("lines", True, 1), Node("split", False, 4), Node("count", False, 4), Node("sink", False, 1)),
    (
        Flow("lines", "default", "split", Spread.TURNS),
        Flow("split", "default", "count", Spread.KEYS),
        Flow("count", "default", "sink", Spread.ONE),
    ),
)
COSTS = Profile(
    {
        "lines": ComponentCost(1000.0, {"default": StreamCost(1.0, encode_ns=100.0, decode_ns=200.0)}),
        "split": ComponentCost(
            2000.0, {"default": StreamCost(10.0, ns=10.0, encode_ns=20.0, decode_ns=30.0)}
        ),
        "count": ComponentCost(300.0, {"default": StreamCost(0.1, encode_ns=40.0, decode_ns=50.0)}),
        "sink": ComponentCost(500.0),
    },
    run_ns=700.0,
    jumbo_ns=2000.0,
    jumbo_tuples=1000.0,
)


def drawn(seed: int, most_components: int, workers: int, most_tasks: int) -> Problem:
    """A random topology without cycles, with random costs, on so many workers of as many cores."""
    draw = random.Random(seed)
    count = draw.randint(2, most_components)
    nodes, flows, costs = [], [], {}
    for at in range(count):
        is_spout = at == 0 or (at == 1 and count > 3 and draw.random() < 0.3)
        nodes.append(Node(f"c{at}", is_spout, 1 if is_spout else draw.randint(1, most_tasks)))
        for source in draw.sample(range(at), draw.randint(1, min(2, at))) if not is_spout else ():
            # Components that get all of a stream keep their number of tasks.
            everywhere = (Spread.ALL,) if nodes[at].most == 1 else ()
            spreads = (Spread.TURNS, Spread.KEYS, Spread.KEYS, *everywhere)
            spread = draw.choice(spreads)
            flows.append(Flow(f"c{source}", "s", f"c{at}", spread, draw.choice((1, 8))))
    for node in nodes:
        stream = StreamCost(
            draw.choice((0.1, 1.0, 5.0)),
            size=draw.randint(8, 300),
            ns=draw.uniform(0, 50),
            encode_ns=draw.uniform(0, 300),
            decode_ns=draw.uniform(0, 300),
        )
        costs[node.name] = ComponentCost(draw.uniform(50, 3000), {"s": stream}, share=draw.uniform(0.5, 2))
    profile = Profile(costs, run_ns=draw.uniform(0, 800), jumbo_ns=draw.uniform(0, 4000), jumbo_tuples=500.0)
    return Problem(Shape(tuple(nodes), tuple(flows)), profile, Machine.of_workers(workers, workers))
