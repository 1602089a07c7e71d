"""The length of the runs that a task takes from one of its sources before it continues with another.

A task merges its sources by position. So how often it goes from one to another follows from how its
producers' tasks have shared *their* input. The outputs of a tuple take its place in the order. A block is the
tuples that one task of a component processes before another one has its turn. A consumer's task gets a part
of what was made of a block, or nothing at all. Two blocks between which it got nothing may have been of the
same producer's task.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from framework.optimizer.costs.shape import Flow, Shape, Spread


@dataclass(frozen=True, slots=True)
class Block:
    """The tuples that a task of a component processes before another one has its turn."""

    mean: float
    """Tuples of all inputs together, in their order; infinite where there is a single task."""
    by_chance: bool = False
    """True if each tuple goes to any task, whichever had the one before; else tasks take turns."""

    def empty(self, kept: float) -> float:
        """Compute the probability that none of its tuples is kept, each of which is with some probability."""
        if math.isinf(self.mean):
            return 0.0
        if not self.by_chance:
            return float((1 - kept) ** self.mean)
        going_on = 1 - 1 / self.mean
        return (1 - kept) * (1 - going_on) / (1 - going_on * (1 - kept))


def block_of(shape: Shape, name: str, tasks: int) -> Block:
    """The blocks of a component with so many tasks.

    Args:
        shape: the topology's.
        name: of the component.
        tasks: how many it has.
    """
    if tasks == 1:
        return Block(math.inf)
    flows = shape.into[name]
    if not flows and shape.spouts_take_turns:
        return Block(1.0)
    # Partitions of a spout bring tuples of any times.
    by_chance = Block(tasks / (tasks - 1), by_chance=True)
    turns = [flow.turn for flow in flows if flow.spread is Spread.TURNS]
    if any(flow.spread is Spread.KEYS for flow in flows) or not flows:
        return by_chance
    if turns:
        return Block(float(min(turns)))
    return Block(math.inf) if all(flow.spread is Spread.ONE for flow in flows) else by_chance


def run_length(flow: Flow, block: Block, selectivity: float, sources: int, targets: int) -> float:
    """The mean length of the runs of a flow that a task of the consumer takes.

    Args:
        flow: between both.
        block: of the producer's tasks.
        selectivity: tuples of the flow for each one that the producer processes.
        sources: tasks of the producer.
        targets: tasks of the consumer.

    Returns:
        Tuples, at least 1; infinite where all come from one task.
    """
    if sources == 1 or math.isinf(block.mean):
        return math.inf
    if selectivity <= 0:
        return 1.0
    part = 1.0 if flow.spread in (Spread.ALL, Spread.ONE) else 1 / targets
    mean = block.mean * selectivity * part
    if flow.spread is Spread.TURNS and targets > 1:
        made = block.mean * selectivity
        reached = min(1.0, (made + flow.turn - 1) / (flow.turn * targets))
        return max(1.0, mean / reached)
    # A processed tuple leaves nothing for a task where none of what was made of it goes there.
    none = (1 - min(selectivity, 1.0) * part) ** max(selectivity, 1.0)
    reached = 1 - block.empty(1 - none)
    return max(1.0, mean / reached / (1 - _same(block, reached, sources)))


def _same(block: Block, reached: float, sources: int) -> float:
    """Compute the probability that the next block that reaches a task is of the same producer's task.

    Args:
        block: of the producer's tasks.
        reached: how likely it is that a task gets anything of a block.
        sources: tasks of the producer.
    """
    missed = 1 - reached
    if not block.by_chance:
        return reached * missed ** (sources - 1) / (1 - missed**sources)
    back = -1 / (sources - 1)
    return float(1 / sources + (1 - 1 / sources) * reached * back / (1 - missed * back))
