"""Parallelism: numbers of tasks that can be."""

from __future__ import annotations

from collections.abc import Iterator

from framework.config.keys import MAX_TASKS
from framework.config.rules import integer, optional
from framework.topology import Problem, Topology, about

_COUNT = integer(1, MAX_TASKS)


def check_parallelism(topology: Topology) -> Iterator[Problem]:
    """Parallelism and number of tasks are integers of at least 1, within reason."""
    for component in topology.components:
        for name, rule, value in (
            ("parallelism", _COUNT, component.parallelism),
            ("number of tasks", optional(_COUNT), component.tasks),
        ):
            complaint = rule.complaint(value)
            if complaint:
                yield about(topology, component, f"has a {name} that {complaint}", part="parallelism")
