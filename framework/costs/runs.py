"""How long the runs are that a task takes from one of its sources before it goes on with another.

A task merges its sources by position, so how often it goes from one to another follows from how its
producers' tasks have shared *their* input: what a tuple brings forth stands where it stood. A block is what
one task of a component processes before another one has its turn, counted in tuples in the order of all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from framework.costs.shape import Flow, Shape, Spread


def blocks(shape: Shape, counts: Mapping[str, int], out: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """For each component, how many tuples one of its tasks processes before another one has its turn.

    Args:
        shape: the topology's.
        counts: how many tasks each component has.
        out: tuples of each stream, by component and stream, for each tuple that the component processes.

    Returns:
        Tuples of all of its inputs together, in their order; infinite where it has a single task.
    """
    found: dict[str, float] = {}
    for node in shape.nodes:
        if counts[node.name] == 1:
            found[node.name] = math.inf
        elif node.is_spout:
            found[node.name] = 1.0  # partitions of a spout bring tuples of any times
        else:
            found[node.name] = min(
                (_block(flow, counts[node.name]) for flow in shape.into[node.name]), default=1.0
            )
    return found


def _block(flow: Flow, tasks: int) -> float:
    """Consecutive tuples that go to one task of several."""
    if flow.spread is Spread.TURNS:
        return float(flow.turn)
    if flow.spread is Spread.KEYS:
        return tasks / (tasks - 1)
    return math.inf if flow.spread is Spread.ONE else 1.0


def run_length(flow: Flow, produced: float, consumers: int) -> float:
    """The mean length of runs from one task of a producer to one of a consumer.

    Args:
        flow: between both.
        produced: tuples that a task of the producer emits in one block of its own; may be infinite.
        consumers: tasks of the consumer.
    """
    if math.isinf(produced):
        return math.inf
    if flow.spread in (Spread.ALL, Spread.ONE) or consumers == 1:
        return max(produced, 1.0)
    if flow.spread is Spread.TURNS:
        return max(1.0, min(produced, max(produced / consumers, float(flow.turn))))
    mean = produced / consumers
    # Runs without a tuple are none: of a Poisson number, given that there is one.
    return max(1.0, mean / -math.expm1(-mean))
