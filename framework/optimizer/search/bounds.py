"""The bound that no plan can exceed: the model without fetches, each component as light as it can be."""

from __future__ import annotations

import math
from collections.abc import Iterator

from framework.optimizer.costs.model import tuples
from framework.optimizer.costs.shape import Spread
from framework.optimizer.search.problem import Problem


def bound(problem: Problem) -> float:
    """Tuples of spouts a second that no deployment exceeds, by the model; infinite where nothing costs time.

    All work has to be done by all cores, and that of a component by as many tasks as it may have. Only what
    it costs to process and to emit is counted: fetches, runs of tuples and other processes add to it.

    Args:
        problem: what deployments are of.
    """
    work = least_work(problem)
    periods = [sum(work.values()) / problem.machine.cores]
    periods += [ns / _tasks(problem, name) for name, ns in work.items()]
    period = max(*periods, period_of_spouts(problem))
    return 1e9 / period if period else math.inf


def period_of_spouts(problem: Problem) -> float:
    """Nanoseconds that pass at least for each tuple of a spout, as spouts bring no more.

    Args:
        problem: whose profile has their rates; 0 if it has none.
    """
    processed, _ = tuples(problem.shape, problem.profile)
    return max((1e9 / rate * processed[name] for name, rate in problem.profile.rates.items()), default=0.0)


def least_work(problem: Problem) -> dict[str, float]:
    """Nanoseconds of each component for each tuple of a spout, wherever and with how many tasks it runs.

    Args:
        problem: what the components are of.
    """
    processed, emitted = tuples(problem.shape, problem.profile)
    return {name: sum(_terms(problem, name, processed[name], emitted)) for name in problem.shape.names}


def _terms(
    problem: Problem, name: str, processed: float, emitted: dict[tuple[str, str], float]
) -> Iterator[float]:
    cost = problem.profile.components[name]
    half_jumbo = problem.profile.jumbo_ns / problem.profile.jumbo_tuples / 2
    yield cost.ns * processed
    for flow in problem.shape.flows:
        number = emitted[flow.source, flow.stream]
        # A stream to all tasks comes once to each, so with the least tasks least often.
        copies = problem.least(flow.target) if flow.spread is Spread.ALL else 1
        if flow.target == name:
            special = cost.inputs.get(f"{flow.source}/{flow.stream}", cost.ns)
            yield (special - cost.ns) * number + half_jumbo * number * copies
        if flow.source == name:
            yield half_jumbo * number * copies
    for stream, of in cost.streams.items():
        yield of.ns * emitted.get((name, stream), 0.0)


def _tasks(problem: Problem, name: str) -> int:
    """Tasks that a component may have at most, each on a core of its own at best."""
    return min(problem.most(name), problem.machine.cores)
