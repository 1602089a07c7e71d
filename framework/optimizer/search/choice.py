"""The optimizers by name, and the one that is taken if none is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from framework.optimizer.search.counts import Counts
from framework.optimizer.search.exact import Exact, TooLarge
from framework.optimizer.search.local import Local
from framework.optimizer.search.problem import Found, Optimizer, Problem
from framework.optimizer.search.rlas import Rlas


@dataclass(frozen=True)
class Best:
    """The exact search where it comes to an end soon, else the local one.

    Args:
        nodes: parts of plans that the exact search may examine; that many take some seconds.
    """

    nodes: int = 500_000
    name: str = field(default="best", init=False)

    def best(self, problem: Problem) -> Found:
        """The best deployment that is found."""
        if all(place.cores == 1 for place in problem.machine.places):
            try:
                return Exact(self.nodes).best(problem)
            except TooLarge:
                pass
        return Local().best(problem)


OPTIMIZERS: Mapping[str, Optimizer] = {
    found.name: found for found in (Best(), Exact(), Local(), Counts(), Rlas(ratio=1))
}
"""By name."""
