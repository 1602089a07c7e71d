"""Planners that know costs: how many tasks each component has, and where they run, decided together."""

from framework.optimizing.baselines import FirstFit, Random, RoundRobin
from framework.optimizing.bounds import bound
from framework.optimizing.choice import OPTIMIZERS, Best
from framework.optimizing.counts import Counts
from framework.optimizing.exact import Exact, TooLarge
from framework.optimizing.local import Local
from framework.optimizing.placing import Heuristics
from framework.optimizing.problem import Found, Optimizer, Problem
from framework.optimizing.rlas import Rlas

__all__ = [
    "OPTIMIZERS",
    "Best",
    "Counts",
    "Exact",
    "FirstFit",
    "Found",
    "Heuristics",
    "Local",
    "Optimizer",
    "Problem",
    "Random",
    "Rlas",
    "RoundRobin",
    "TooLarge",
    "bound",
]
