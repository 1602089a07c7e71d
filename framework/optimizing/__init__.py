"""Planners that know costs: how many tasks each component has, and where they run, decided together."""

from framework.optimizing.placing import Heuristics
from framework.optimizing.problem import Found, Optimizer, Problem
from framework.optimizing.rlas import Rlas

__all__ = ["Found", "Heuristics", "Optimizer", "Problem", "Rlas"]
