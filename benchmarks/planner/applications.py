"""BriskStream's four applications as problems for planners, with costs as far as they are published.

Published are the times of word count's splitter and counter, selectivities, and how many replicas some
operators had in plans by hand, which shows how their work compares. Everything else is chosen so that RLAS is
predicted about the throughput on eight sockets that the paper predicts. So the level of a prediction means
nothing but for word count; how it changes with sockets and planners does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.planner.server_a import server_a
from framework.optimizer.costs import ComponentCost, Flow, Node, Profile, Shape, Spread, StreamCost
from framework.optimizer.search import Problem

STREAM = "default"
MOST = 200
"""Replicas of an operator: no more than the cores allow is of use."""
LINE = 64.0
SENTENCE = 3 * LINE
"""Bytes: the paper's estimates for the splitter come to 3.2 fetches of a cache line."""


@dataclass(frozen=True, slots=True)
class Application:
    """An application, and what the paper says of it on all of Server A."""

    name: str
    shape: Shape
    profile: Profile
    results: float
    """Results for each tuple of the spout: the paper counts these."""
    estimated: float
    """Thousand results a second that the paper's model predicts."""
    measured: float
    """The same, as measured there."""

    def on(self, sockets: int) -> Problem:
        """The problem on so many sockets."""
        return Problem(self.shape, self.profile, server_a(sockets))


@dataclass(frozen=True, slots=True)
class Operator:
    """One of an application, whose output has one size and goes to each consumer."""

    ns: float
    selectivity: float = 1.0
    size: float = LINE


def word_count() -> Application:
    """A sentence of ten words. Spout and parser, which compute little, are given 400 and 300 ns."""
    operators = {
        "spout": Operator(400.0, size=SENTENCE),
        "parser": Operator(300.0, size=SENTENCE),
        "splitter": Operator(1612.8, selectivity=10.0),
        "counter": Operator(612.3),
    }
    return _application("word count", operators, _chain(operators), 10.0, (104_843.3, 96_390.8))


def fraud_detection() -> Application:
    """The predictor has nearly all of the work, and a state of its own for each entity."""
    operators = {"spout": Operator(400.0), "parser": Operator(300.0), "predictor": Operator(FRAUD_NS)}
    return _application("fraud detection", operators, _chain(operators), 1.0, (8_193.9, 7_172.5))


def spike_detection() -> Application:
    """Work as in the plan by hand: 2 parsers, 37 averages, 27 detectors."""
    operators = {
        "spout": Operator(400.0, size=2 * LINE),
        "parser": Operator(2 * SPIKE_NS),
        "average": Operator(37 * SPIKE_NS),
        "detector": Operator(27 * SPIKE_NS),
    }
    return _application("spike detection", operators, _chain(operators), 1.0, (12_530.2, 12_767.6))


def linear_road() -> Application:
    """The operators that have input in the paper's workload, each with the same work for a tuple."""
    names = ("dispatcher", "positions", "average", "last", "accidents", "vehicles", "toll")
    operators = {"spout": Operator(400.0, size=2 * LINE), "parser": Operator(300.0, size=2 * LINE)}
    operators |= {name: Operator(ROAD_NS) for name in names}
    operators["dispatcher"] = Operator(ROAD_NS, selectivity=0.98857)
    ways = [("spout", "parser"), ("parser", "dispatcher"), ("dispatcher", "positions")]
    ways += [("positions", name) for name in ("average", "accidents", "vehicles", "toll")]
    ways += [("average", "last"), ("last", "toll"), ("vehicles", "toll")]
    return _application("linear road", operators, ways, 3 * 0.98857, (9_298.7, 8_738.3))


FRAUD_NS = 14_643.8
SPIKE_NS = 143.9
ROAD_NS = 4_262.0


def applications() -> tuple[Application, ...]:
    """All four, in the order of the paper's tables."""
    return word_count(), fraud_detection(), spike_detection(), linear_road()


def _chain(operators: Mapping[str, Operator]) -> list[tuple[str, str]]:
    names = list(operators)
    return list(pairwise(names))


def _application(
    name: str,
    operators: Mapping[str, Operator],
    ways: Sequence[tuple[str, str]],
    results: float,
    published: tuple[float, float],
) -> Application:
    nodes = tuple(Node(each, each == "spout", MOST) for each in operators)
    flows = tuple(Flow(source, STREAM, target, Spread.TURNS) for source, target in ways)
    sources = {source for source, _ in ways}
    costs = {
        each: ComponentCost(of.ns, {STREAM: StreamCost(of.selectivity, of.size)} if each in sources else {})
        for each, of in operators.items()
    }
    return Application(name, Shape(nodes, flows), Profile(costs), results, *published)
