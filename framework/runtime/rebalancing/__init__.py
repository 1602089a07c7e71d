"""Moves bolts of a run from worker to worker, so that it goes faster.

==============  ====================================================================
movable.py      what may be moved, and where to
windows.py      what has happened between two looks at a run
history.py      what was measured of the deployments that the run has had
search.py       looks for the tasks with which a plan is fastest
rebalancer.py   decides when bolts move, and where to
==============  ====================================================================
"""

from framework.runtime.rebalancing.movable import Movable, Sets, movable_of
from framework.runtime.rebalancing.rebalancer import LEAST_GAIN, LEAST_WINDOWS, Move, Rebalancer
from framework.runtime.rebalancing.windows import Look, window

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
