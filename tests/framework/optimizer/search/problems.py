"""Small problems, and all of their placements, for planners to be compared with."""

import random
from collections.abc import Iterator, Mapping
from itertools import pairwise, product

from framework.optimizer.costs import (
    ComponentCost,
    Deployment,
    Flow,
    Machine,
    Node,
    Place,
    Profile,
    Shape,
    Spread,
    StreamCost,
)
from framework.optimizer.search import Problem

STREAM = "default"


def chain(costs: Mapping[str, float], machine: Machine, size: float = 64, most: int = 64) -> Problem:
    """A spout and the bolts after each other, each of which emits a tuple for each one that it gets.

    Args:
        costs: nanoseconds for each tuple, by name; the first one is the spout.
        machine: where it runs.
        size: bytes of each tuple.
        most: tasks of each component.
    """
    names = list(costs)
    nodes = tuple(Node(name, name == names[0], most) for name in names)
    flows = tuple(Flow(source, STREAM, target, Spread.TURNS) for source, target in pairwise(names))
    profile = Profile(
        {name: ComponentCost(costs[name], {STREAM: StreamCost(1, size)}) for name in names},
    )
    return Problem(Shape(nodes, flows), profile, machine)


def sockets(number: int, cores: int, fetch_ns: float) -> Machine:
    """Sockets that are all alike, and equally far from each other."""
    fetch = tuple(tuple(0.0 if i == j else fetch_ns for j in range(number)) for i in range(number))
    return Machine((Place(cores),) * number, number * cores, fetch)


def drawn(seed: int, machine: Machine) -> Problem:
    """A chain with a branch, of drawn costs and groupings."""
    draw = random.Random(seed)
    names = ["spout", "left", "right", "last"]
    spreads = [Spread.TURNS, Spread.KEYS, Spread.ONE, Spread.ALL]
    ways = [("spout", "left"), ("spout", "right"), ("left", "last"), ("right", "last")]
    flows = tuple(Flow(source, STREAM, target, draw.choice(spreads)) for source, target in ways)
    costs = {
        name: ComponentCost(
            draw.uniform(50, 1000),
            {
                STREAM: StreamCost(
                    draw.choice([0.5, 1.0, 2.0]),
                    draw.choice([64.0, 200.0]),
                    encode_ns=draw.choice([0.0, 40.0]),
                    decode_ns=draw.choice([0.0, 70.0]),
                )
            },
        )
        for name in names
    }
    shape = Shape(tuple(Node(name, name == "spout", 4) for name in names), flows)
    return Problem(shape, Profile(costs, run_ns=10.0, jumbo_ns=50.0, jumbo_tuples=10.0), machine)


def placements(problem: Problem, counts: Mapping[str, int]) -> Iterator[Deployment]:
    """Every placement of so many tasks."""
    names = problem.shape.names
    places = range(len(problem.machine.places))
    for chosen in product(*(product(places, repeat=counts[name]) for name in names)):
        yield Deployment(dict(zip(names, chosen, strict=True)))


def best_rate(problem: Problem, counts: Mapping[str, int]) -> float:
    """The best one's rate."""
    return max(problem.predicted(each).rate for each in placements(problem, counts))
