"""Moves bolts of a run from worker to worker, so that it becomes faster.

- `movable`: the bolts that may be moved, and the workers that may run them
- `history`: measurements between two moments of a run, and of the deployments that it has had
- `rebalancer`: decides when bolts move, and searches for the tasks with which a plan is fastest
"""

from framework.runtime.rebalancing.history import Look, window
from framework.runtime.rebalancing.movable import Movable, Sets, movable_of
from framework.runtime.rebalancing.rebalancer import LEAST_GAIN, LEAST_WINDOWS, Move, Rebalancer

__all__ = [
    "LEAST_GAIN",
    "LEAST_WINDOWS",
    "Look",
    "Movable",
    "Move",
    "Rebalancer",
    "Sets",
    "movable_of",
    "window",
]
