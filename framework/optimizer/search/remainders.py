"""The least cost of components without a place yet, together and by place, by the places of the others.

Components are eliminated, the last one first. The least cost of one of them is a function of the choices of
its neighbours before it, and is added to their costs. Functions of more than two of them would be too large.
So neighbours are taken by twos, each two at a least of their own: mini-bucket elimination (Dechter and Rish,
J. ACM 2003). Choices that come to a limit alone or with one neighbour are left out. This is what makes the
bound tight, as a heavy component has to be spread, and then some of its tuples cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from operator import add

from framework.optimizer.search.tables import Loads, Tables

Totals = list[float]
"""Nanoseconds of all places together, by the choice of a component."""
Table = list[Totals]
"""The same by the choices of two, of the one that is placed first and of the other one."""


@dataclass(frozen=True, slots=True)
class _Level:
    """The costs that are known when a component is placed, and those after it are eliminated."""

    own: Totals
    with_others: tuple[tuple[int, Table], ...]
    """By component before it."""
    of_others: tuple[tuple[int, Totals], ...]
    """The costs of those after it by the choice of one that is before it."""
    of_pairs: tuple[tuple[int, int, Table], ...]
    """The same of two that are before it."""
    least: float
    """The same, whatever was chosen."""

    def totals(self, chosen: Sequence[int]) -> Totals:
        known = self.least
        known += sum(totals[chosen[one]] for one, totals in self.of_others)
        known += sum(table[chosen[one]][chosen[two]] for one, two, table in self.of_pairs)
        found = [known + own for own in self.own]
        for one, table in self.with_others:
            found = list(map(add, found, table[chosen[one]]))
        return found


class Remainders:
    """The bounds, for a search that places components in the order of the tables.

    Args:
        tables: what everything costs.
        limit: nanoseconds; plans of which any place has as much are of no interest.
        neighbours: of how many the least of a component is taken at once: 1, which is soon done, or 2.
    """

    def __init__(self, tables: Tables, limit: float, neighbours: int) -> None:
        self._neighbours = neighbours
        self._singles = [[_total(loads, limit) for loads in of] for of in tables.own]
        self._pairs = {pair: _table(tables, pair, limit) for pair in tables.between}
        self._of_singles: list[tuple[int, Totals]] = []
        self._of_pairs: list[tuple[int, int, Table]] = []
        self._least = 0.0
        found = []
        for at in reversed(range(len(tables.names))):
            found.append(self._level(at))
            self._eliminate(at)
        self._levels = found[::-1]

    def totals(self, at: int, chosen: Sequence[int]) -> Totals:
        """Compute the least costs of a component and all after it, by its choice, beside those before it.

        Args:
            at: the component's number.
            chosen: the choices of those before it, by number.

        Returns:
            Nanoseconds of all places together; infinite where a place comes to the limit.
        """
        return self._levels[at].totals(chosen)

    def _level(self, at: int) -> _Level:
        return _Level(
            list(self._singles[at]),
            tuple(self._tables_of(at)),
            tuple(each for each in self._of_singles if each[0] < at),
            tuple(each for each in self._of_pairs if each[1] < at),
            self._least,
        )

    def _tables_of(self, at: int) -> list[tuple[int, Table]]:
        return [(one, table) for (one, other), table in sorted(self._pairs.items()) if other == at]

    def _eliminate(self, at: int) -> None:
        """Put the least of a component down to its neighbours before it."""
        own, left = self._singles[at], self._tables_of(at)
        if not left:
            self._least += min(own)
        while left:
            if len(left) > 1 and self._neighbours > 1:
                self._to_two(own, left.pop(0), left.pop(0))
            else:
                self._to_one(own, left.pop(0))
            # Its own cost counts once; further on it only tells which choices are left out.
            own = [0.0 if total < inf else inf for total in own]

    def _to_one(self, own: Totals, first: tuple[int, Table]) -> None:
        one, table = first
        least = [min(map(add, own, row)) for row in table]
        self._of_singles.append((one, least))
        self._singles[one] = list(map(add, self._singles[one], least))

    def _to_two(self, own: Totals, first: tuple[int, Table], second: tuple[int, Table]) -> None:
        (one, table), (two, other_table) = first, second
        with_own = [list(map(add, own, row)) for row in table]
        least = [[min(map(add, row, other)) for other in other_table] for row in with_own]
        self._of_pairs.append((one, two, least))
        known = self._pairs.get((one, two))
        if known is not None:
            least = [list(map(add, row, more)) for row, more in zip(known, least, strict=True)]
        self._pairs[one, two] = least


def _total(loads: Loads, limit: float) -> float:
    return sum(loads) if max(loads) < limit else inf


def _table(tables: Tables, pair: tuple[int, int], limit: float) -> Table:
    ones, others = (tables.own[each] for each in pair)
    return [
        [
            sum(more) if max(map(_sum, one, other, more)) < limit else inf
            for other, more in zip(others, row, strict=True)
        ]
        for one, row in zip(ones, tables.between[pair], strict=True)
    ]


def _sum(one: float, other: float, more: float) -> float:
    return one + other + more


class Ahead:
    """The least that each place gets of components that are not placed yet, by the choices of those that are.

    A component that receives from another one is either at the same place, where it takes its time, or makes
    that place encode what it is sent. So a place that is nearly full needs room for one of the two. The
    search places components in the order of the tables.

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
