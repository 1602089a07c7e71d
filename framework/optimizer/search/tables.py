"""The model as sums over pairs: what components cost by where they are, and streams by where both ends are.

The loads of a plan are the sum of these, so a search looks them up instead of asking the model again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from math import comb, gcd, inf
from operator import add

from framework.optimizer.costs import CostModel, Flow, Spread
from framework.optimizer.costs.model import part_of
from framework.optimizer.search.problem import Problem

Places = tuple[int, ...]
Loads = tuple[float, ...]
"""Nanoseconds for each tuple of a spout, by place."""
Pairs = list[list[Loads]]
"""By the choices of two components."""


class Tables:
    """All choices of places for each component, and what they cost.

    Args:
        problem: whose places have one core each.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._model = CostModel(problem.shape, problem.profile, problem.machine)
        self.width = len(problem.machine.places)
        """The number of places."""
        self.names = tuple(sorted(problem.shape.names, key=lambda name: -self._model.least_ns(name)))
        """The components, those with most work first: where they are leaves the least room to others."""
        self.choices = [tuple(choices_of(problem, name)) for name in self.names]
        """By component."""
        self.own: list[list[Loads]] = [
            [self._own(name, places) for places in of]
            for name, of in zip(self.names, self.choices, strict=True)
        ]
        """The loads of each choice if nothing crosses and no runs end, by component."""
        self.between: Mapping[tuple[int, int], Pairs] = self._between()
        """The loads that the choices of two components add to this, the one with more work first."""

    def _own(self, name: str, places: Places) -> Loads:
        loads = [0.0] * self.width
        for place in places:
            loads[place] += self._model.least_ns(name) / len(places)
        return tuple(loads)

    def _between(self) -> dict[tuple[int, int], Pairs]:
        number_of = {name: number for number, name in enumerate(self.names)}
        found: dict[tuple[int, int], Pairs] = {}
        for flow in self._problem.shape.flows:
            source, target = number_of[flow.source], number_of[flow.target]
            table = self._of_flow(flow, self.choices[source], self.choices[target])
            _join(found, source, target, table)
        for group in self._problem.together:
            first, *others = sorted(number_of[name] for name in group)
            for other in others:
                _join(found, first, other, self._apart(self.choices[first], self.choices[other]))
        return found

    def _of_flow(self, flow: Flow, sources: Sequence[Places], targets: Sequence[Places]) -> Pairs:
        number = self._model.emitted[flow.source, flow.stream]
        from_places = [self._parts_at(of, [number / len(of)] * len(of)) for of in sources]
        to_places = [
            self._parts_at(of, [part_of(flow, i, len(of)) for i in range(len(of))]) for of in targets
        ]
        runs = {
            (one, other): number / self._model.run_length(flow, one, other) * self._problem.profile.run_ns
            for one in set(map(len, sources))
            for other in set(map(len, targets))
        }
        return [
            [
                self._crossing(flow, brought, got, runs[len(source), len(target)])
                for target, got in zip(targets, to_places, strict=True)
            ]
            for source, brought in zip(sources, from_places, strict=True)
        ]

    def _crossing(self, flow: Flow, brought: Sequence[float], got: Sequence[float], run: float) -> Loads:
        """Compute the loads of a stream, beside its ends' own work.

        Args:
            flow: the stream's way.
            brought: tuples by place of the producer.
            got: parts of each of these by place of the consumer.
            run: nanoseconds for the runs of a task that gets all of the stream.
        """
        cost = self._problem.profile.components[flow.source].streams[flow.stream]
        every, copies = sum(brought), sum(got)
        loads = []
        for place, (here, part) in enumerate(zip(brought, got, strict=True)):
            ns = here * (copies - part) * cost.encode_ns
            ns += part * (run + (every - here) * cost.decode_ns)
            if part and self._problem.machine.fetch_ns:
                fetch = self._problem.machine.fetch
                ns += part * sum(n * fetch(at, place, cost.size) for at, n in enumerate(brought))
            loads.append(ns)
        return tuple(loads)

    def _parts_at(self, places: Places, parts: Sequence[float]) -> list[float]:
        found = [0.0] * self.width
        for place, part in zip(places, parts, strict=True):
            found[place] += part
        return found

    def _apart(self, ones: Sequence[Places], others: Sequence[Places]) -> Pairs:
        """Components that have to be together cost more than anything where they are not."""
        near, far = (0.0,) * self.width, (inf,) * self.width
        return [[near if one[0] == other[0] else far for other in others] for one in ones]


def pairs_of(problem: Problem) -> int:
    """Count the pairs of choices that the tables of a problem have.

    Args:
        problem: what the tables would be of.
    """
    width = len(problem.machine.places)
    number = {
        name: sum(comb(width + tasks - 1, tasks) for tasks in _counts(problem, name))
        for name in problem.shape.names
    }
    return sum(number[flow.source] * number[flow.target] for flow in problem.shape.flows)


def choices_of(problem: Problem, name: str) -> Iterator[Places]:
    """All ways to place a component that can be part of a best plan.

    Args:
        problem: of the component.
        name: the component's.
    """
    places = range(len(problem.machine.places))
    if any(name in group for group in problem.together):
        yield from ((place,) * problem.least(name) for place in places)
        return
    is_free = problem.least(name) < problem.most(name)
    has_first = any(flow.spread is Spread.ONE for flow in problem.shape.into[name])
    for tasks in _counts(problem, name):
        if has_first and tasks > 1:
            # The first task gets all of a stream, so it matters which of them that is.
            for rest in combinations_with_replacement(places, tasks - 1):
                yield from ((first, *rest) for first in places)
            continue
        for chosen in combinations_with_replacement(places, tasks):
            # Fewer tasks of equal shares only cost less.
            if not (is_free and gcd(*Counter(chosen).values()) > 1):
                yield chosen


def _counts(problem: Problem, name: str) -> range:
    return range(problem.least(name), problem.most(name) + 1)


def _join(tables: dict[tuple[int, int], Pairs], source: int, target: int, table: Pairs) -> None:
    """Add a table to that of the same components, the one with the lower number first."""
    if source > target:
        table = [list(column) for column in zip(*table, strict=True)]
        source, target = target, source
    known = tables.get((source, target))
    if known is not None:
        table = [
            [tuple(map(add, one, other)) for one, other in zip(row, more, strict=True)]
            for row, more in zip(known, table, strict=True)
        ]
    tables[source, target] = table
