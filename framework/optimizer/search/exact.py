"""The best plan for workers of one thread each, found by going through all that can still be the best.

Components are placed one after the other, each at some workers. At one of them a component may have several
tasks, so that this worker has a larger share of its tuples. The search leaves out plans that differ by the
names of workers only, and all that follow a part whose bound is no better than a plan that was found. The
bound of a part is the load of its worst worker, including the least that this one still gets of components
that are not placed yet. It is no less than an even share of all work, with those components at their least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from math import inf
from operator import add
from typing import NamedTuple

from framework.optimizer.costs import Deployment, Machine
from framework.optimizer.search.bounds import period_of_spouts
from framework.optimizer.search.problem import Found, Problem
from framework.optimizer.search.remainders import Ahead, Remainders
from framework.optimizer.search.tables import Loads, Tables, pairs_of

MOST_PAIRS = 500_000
"""Pairs of choices that are put into tables; that many take a second or two."""
BEAM = 100
"""Parts of plans that are followed to find a good plan before the search."""
SAME = 1 - 1e-12
"""Rounding does not make a plan better."""


class TooLarge(ValueError):
    """The search would have to examine more parts of plans than were allowed."""


@dataclass(frozen=True)
class Exact:
    """Goes through all plans.

    Args:
        most_nodes: parts of plans that are examined, at most.
    """

    most_nodes: int = 2_000_000
    name: str = field(default="exact", init=False)

    def best(self, problem: Problem) -> Found:
        """The best deployment.

        Raises:
            ValueError: a place has several cores, or the ways between places have limits.
            TooLarge: there is too much to examine.
        """
        if any(place.cores != 1 for place in problem.machine.places):
            raise ValueError("some places have several cores: expected workers of one thread each")
        if problem.machine.bandwidth:
            raise ValueError("ways between places have bandwidths: expected workers without any")
        if pairs_of(problem) > MOST_PAIRS:
            raise TooLarge(f"more than {MOST_PAIRS} pairs of choices: take a search that is not exact")
        search = _Search(problem, self.most_nodes)
        deployment = search.run()
        prediction = problem.predicted(deployment)
        return Found(deployment, prediction, prediction.rate, search.nodes)


class _Part(NamedTuple):
    """A part of a plan: the choices of some components, from the first one on."""

    bound: float
    """Nanoseconds for each tuple of a spout, which no plan that has this part comes below."""
    chosen: tuple[int, ...]
    loads: Loads
    used: int
    """The number of places that have anything, if places are alike; these are the first ones."""


_Choice = tuple[float, int, Loads, int]
"""The least total, the index of the choice, what it adds to the loads, and the places used with it."""


class _Search:
    """A search of depth first. Its state is the best plan so far."""

    def __init__(self, problem: Problem, most_nodes: int) -> None:
        self._problem = problem
        self._most_nodes = most_nodes
        self._tables = Tables(problem)
        self._cores = min(self._tables.width, problem.machine.cores)
        self._neighbours = _neighbours(self._tables)
        last = len(self._tables.names) - 1
        self._ends_apart = last > 0 and (last - 1, last) not in self._tables.between
        """True if the last two components have nothing to do with each other."""
        self._ahead = Ahead(self._tables)
        used = 0 if _are_alike(problem.machine) else self._tables.width
        self._begin = _Part(period_of_spouts(problem), (), (0.0,) * self._tables.width, used)
        self._found, self._least = self._begin, inf
        self._remainders = Remainders(self._tables, inf, 1)
        self._kept: dict[tuple[int, ...], list[_Choice]] = {}
        self._of_choices: dict[tuple[int, ...], list[Loads]] = {}
        self._of_fresh: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.nodes = 0
        """Parts of plans that were examined."""

    def run(self) -> Deployment:
        """The best plan."""
        # The better the best plan so far is, the more choices are left out of the remainders.
        for neighbours in (1, 2, 2):
            self._beam()
            self._remainders = Remainders(self._tables, self._least * SAME, neighbours)
            self._kept = {}
        self._follow(self._begin)
        each = zip(self._tables.names, self._tables.choices, self._found.chosen, strict=True)
        places = {name: choices[at] for name, choices, at in each}
        return Deployment({name: places[name] for name in self._problem.shape.names})

    def _beam(self) -> None:
        """Follow the parts of the best bounds only."""
        parts = [self._begin]
        for _ in self._tables.names:
            parts = nsmallest(BEAM, (child for part in parts for child in self._children(part)))
        if parts:
            self._found, self._least = parts[0], parts[0].bound

    def _follow(self, part: _Part) -> None:
        """Go through all plans that have this part, and can be better than the best one so far."""
        left = len(self._tables.names) - len(part.chosen)
        if left == 2 and self._ends_apart:
            self._end(part)
            return
        is_last = left == 1
        for child in sorted(self._children(part)):
            if child.bound >= self._least * SAME:
                return
            if is_last:
                self._found, self._least = child, child.bound
                return
            self._follow(child)

    def _end(self, part: _Part) -> None:
        """The same for the last two components, of which neither changes what the other one costs.

        Most parts of plans have all but one of their components, so this is a loop of its own.
        """
        before, to_come = sum(part.loads), self._ahead.of(part.chosen, part.loads)
        lasts: dict[int, list[_Choice]] = {}
        for total, choice, added, used in self._choices(part, self._least * SAME * self._cores - before):
            if before + total >= self._least * SAME * self._cores:
                break
            self.nodes += 1
            if max(map(add, to_come, added)) < self._least * SAME:
                loads = tuple(map(add, part.loads, added))
                nearly = _Part(part.bound, (*part.chosen, choice), loads, used)
                if used not in lasts:
                    lasts[used] = self._choices(nearly, inf)
                self._complete(nearly, lasts[used])
                self._check_nodes()

    def _complete(self, part: _Part, lasts: Sequence[_Choice]) -> None:
        """The same for the last component, whose choices are known."""
        least = self._least * SAME
        room = least * self._cores - sum(part.loads)
        for total, choice, added, used in lasts:
            if total >= room:
                return
            self.nodes += 1
            worst = max(map(add, part.loads, added))
            if worst < least:
                bound = max(worst, (sum(part.loads) + total) / self._cores, part.bound)
                if bound < least:
                    loads = tuple(map(add, part.loads, added))
                    self._found, self._least = _Part(bound, (*part.chosen, choice), loads, used), bound
                    least = bound * SAME

    def _children(self, part: _Part) -> Iterator[_Part]:
        """The part with one component more, wherever that can still become the best plan."""
        least = self._least * SAME
        placed, to_come = sum(part.loads), self._ahead.of(part.chosen, part.loads)
        own = self._ahead.of_choices[len(part.chosen)]
        for total, choice, added, used in self._choices(part, least * self._cores - placed):
            if placed + total >= least * self._cores:
                return
            self.nodes += 1
            worst = max(map(_sum, to_come, added, own[choice]))
            if worst < least:
                loads = tuple(map(add, part.loads, added))
                bound = max(worst, (placed + total) / self._cores, part.bound)
                yield _Part(bound, (*part.chosen, choice), loads, used)
        self._check_nodes()

    def _check_nodes(self) -> None:
        if self.nodes > self._most_nodes:
            raise TooLarge(f"more than {self._most_nodes} parts of plans: take a search that is not exact")

    def _choices(self, part: _Part, room: float) -> list[_Choice]:
        """List the choices of the next component whose total has room, and maybe others, the least first.

        They depend on a few components before it, and are kept for parts of plans that have these in common.
        With more than two, such parts are rare, so it is better not to work out what has no room.
        """
        at = len(part.chosen)
        if len(self._neighbours[at]) > 2:
            return sorted(self._new_choices(at, part, room))
        key = (at, part.used, *(part.chosen[one] for one in self._neighbours[at]))
        if key not in self._kept:
            self._kept[key] = sorted(self._new_choices(at, part, inf))
        return self._kept[key]

    def _new_choices(self, at: int, part: _Part, room: float) -> Iterator[_Choice]:
        totals = self._remainders.totals(at, part.chosen)
        if min(totals) >= room:
            return
        added = self._added(at, part.chosen)
        for choice, used in self._fresh(at, part.used):
            if totals[choice] < room:
                yield totals[choice], choice, added[choice], used

    def _added(self, at: int, chosen: tuple[int, ...]) -> list[Loads]:
        """Compute the loads that a component adds, by its choice.

        That depends on those only that it has to do with, and is kept for parts that have these in common.
        """
        tables = {one: table for (one, other), table in self._tables.between.items() if other == at}
        key = (at, *(chosen[one] for one in tables))
        if key not in self._of_choices:
            if len(self._of_choices) * len(self._tables.choices[at]) > MOST_PAIRS:
                self._of_choices.clear()
            found = self._tables.own[at]
            for one, table in tables.items():
                found = [
                    tuple(map(add, own, more)) for own, more in zip(found, table[chosen[one]], strict=True)
                ]
            self._of_choices[key] = found
        return self._of_choices[key]

    def _fresh(self, at: int, used: int) -> list[tuple[int, int]]:
        """The choices whose unused places are the first ones of these, and the places used with them."""
        if (at, used) not in self._of_fresh:
            found = []
            for choice, places in enumerate(self._tables.choices[at]):
                fresh = sorted({place for place in places if place >= used})
                if fresh == list(range(used, used + len(fresh))):
                    found.append((choice, used + len(fresh)))
            self._of_fresh[at, used] = found
        return self._of_fresh[at, used]


def _sum(one: float, other: float, more: float) -> float:
    return one + other + more


def _neighbours(tables: Tables) -> list[list[int]]:
    """Of each component those before it that it or one after it has to do with."""
    return [
        sorted({one for one, other in tables.between if one < at <= other}) for at in range(len(tables.names))
    ]


def _are_alike(machine: Machine) -> bool:
    """True if it makes no difference which place is which."""
    ways = [ns for one, row in enumerate(machine.fetch_ns) for other, ns in enumerate(row) if one != other]
    return len(set(ways)) <= 1
