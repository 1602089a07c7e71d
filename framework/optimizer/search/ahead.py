"""The least that each place gets of components that are not placed yet, by the choices of those that are.

A component that receives from another one is either at the same place, where it takes its time, or makes that
place encode what it is sent. So a place that is nearly full needs room for one of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add

from framework.optimizer.search.tables import Loads, Tables


class Ahead:
    """Bounds by place, for a search that places components in the order of the tables.

    Args:
        tables: what everything costs.
    """

    def __init__(self, tables: Tables) -> None:
        nothing = (0.0,) * tables.width
        numbers = range(len(tables.names))
        self._least = {pair: _least(tables, pair) for pair in tables.between}
        self._behind = [
            [(one, least) for (one, other), least in self._least.items() if one < at < other]
            for at in numbers
        ]
        self.of_choices: list[list[Loads]] = [
            [
                _summed([least[choice] for (one, _), least in self._least.items() if one == at], nothing)
                for choice in range(len(tables.choices[at]))
            ]
            for at in numbers
        ]
        """By component and its choice: what places get at least of those after it, because of it."""

    def of(self, chosen: Sequence[int], loads: Loads) -> Loads:
        """Sum the loads of places, and the least of all after the next component, because of those before it.

        Args:
            chosen: the choices of the components that are placed.
            loads: what these cost.
        """
        return _summed([least[chosen[one]] for one, least in self._behind[len(chosen)]], loads)


def _least(tables: Tables, pair: tuple[int, int]) -> list[Loads]:
    """By the choice of the first of two, what places get at least of the second one."""
    first, second = pair
    is_its_first = first == min(one for one, other in tables.between if other == second)
    rows = tables.between[pair]
    if is_its_first:  # its own time counts once
        own = tables.own[second]
        rows = [[tuple(map(add, *both)) for both in zip(own, row, strict=True)] for row in rows]
    return [tuple(map(min, *row)) if len(row) > 1 else row[0] for row in rows]


def _summed(each: Sequence[Loads], loads: Loads) -> Loads:
    for more in each:
        loads = tuple(map(add, loads, more))
    return loads
