"""What a front end returns."""

from __future__ import annotations

from dataclasses import dataclass

from framework.topology.model import Topology
from framework.topology.problems import Problem


@dataclass(frozen=True, slots=True)
class Loaded:
    """As much of a topology as could be made of its source, and what is wrong with the source."""

    topology: Topology | None
    problems: tuple[Problem, ...]
