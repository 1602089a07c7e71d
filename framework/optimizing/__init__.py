"""Planners that know costs: how many tasks each component has, and where they run, decided together."""

from framework.optimizing.problem import Found, Optimizer, Problem

__all__ = ["Found", "Optimizer", "Problem"]
