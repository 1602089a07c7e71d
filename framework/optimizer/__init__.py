"""Chooses numbers of tasks and their workers by a model of what a run costs.

costs      the model: rates, costs of tuples and of their ways
profiling  measures what the model has to know of a topology and of a machine
search     finds a plan that the model likes; another way to search is an `Optimizer` (`problem.py`)

Its decisions become configuration, so planning does not know it.
"""
