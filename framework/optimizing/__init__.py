"""Planners that know costs: how many tasks each component has, and where they run, decided together."""

from framework.optimizing.baselines import FirstFit, Random, RoundRobin
from framework.optimizing.choice import OPTIMIZERS, Best
from framework.optimizing.exact import Exact, TooLarge
from framework.optimizing.local import Local, bound_of
from framework.optimizing.problem import Found, Optimizer, Problem

__all__ = [
    "OPTIMIZERS",
    "Best",
    "Exact",
    "FirstFit",
    "Found",
    "Local",
    "Optimizer",
    "Problem",
    "Random",
    "RoundRobin",
    "TooLarge",
    "bound_of",
]
