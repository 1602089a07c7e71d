"""Planners that know costs: how many tasks each component has, and where they run, decided together."""

from framework.optimizer.search.bounds import bound
from framework.optimizer.search.choice import OPTIMIZERS, Best
from framework.optimizer.search.counts import Counts
from framework.optimizer.search.exact import Exact, TooLarge
from framework.optimizer.search.local import Local
from framework.optimizer.search.placing import Heuristics
from framework.optimizer.search.problem import Found, Optimizer, Problem
from framework.optimizer.search.rlas import Rlas

__all__ = [
    "OPTIMIZERS",
    "Best",
    "Counts",
    "Exact",
    "Found",
    "Heuristics",
    "Local",
    "Optimizer",
    "Problem",
    "Rlas",
    "TooLarge",
    "bound",
]
