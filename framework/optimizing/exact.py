"""The best plan for workers of one thread each, found by going through all that can still be the best.

Components are placed one after the other, in the order of the stream, each at some workers; at one of them it
may have several tasks, so that this one has a larger share of its tuples. What is left
out: plans that differ by the names of workers only, and all that follow a part whose bound is no better than
a plan that was found. The bound of a part is the load of its worst worker, and no less than an even share of
all work, what is not placed yet without merging and crossing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import gcd

from framework.costs import CostModel, Deployment
from framework.optimizing.local import Local
from framework.optimizing.problem import Found, Problem

Places = tuple[int, ...]


class TooLarge(ValueError):
    """More parts of plans would have to be looked at than were allowed."""


@dataclass(frozen=True)
class Exact:
    """Goes through all plans.

    Args:
        most_nodes: parts of plans that are looked at, at most.
    """

    most_nodes: int = 2_000_000
    name: str = field(default="exact", init=False)

    def best(self, problem: Problem) -> Found:
        """The best deployment.

        Raises:
            ValueError: a place has several cores.
            TooLarge: there is too much to look at.
        """
        if any(place.cores != 1 for place in problem.machine.places):
            raise ValueError("some places have several cores: expected workers of one thread each")
        # What a local search finds is nearly always the best, and leaves out most parts from the beginning.
        search = _Search(problem, self.most_nodes, Local(starts=4).best(problem))
        search.place(0, {}, [0.0] * len(problem.machine.places), 0)
        deployment = Deployment(search.found)
        prediction = problem.predicted(deployment)
        return Found(deployment, prediction, prediction.rate, search.nodes)


class _Search:
    """A search of depth first. Its state is the best plan so far."""

    def __init__(self, problem: Problem, most_nodes: int, known: Found) -> None:
        self._problem = problem
        self._most_nodes = most_nodes
        self._names = problem.shape.names
        self._model = CostModel(problem.shape, problem.profile, problem.machine)
        self._width = min(len(problem.machine.places), problem.machine.cores)
        left = 0.0
        self._left = [0.0] * (len(self._names) + 1)
        """Work of the components from each one on, at least."""
        for at in reversed(range(len(self._names))):
            left += self._model.least_ns(self._names[at])
            self._left[at] = left
        self.found: Mapping[str, Places] = known.deployment.tasks
        loads = known.prediction.loads.values()
        self._least = max(max(loads), sum(loads) / problem.machine.cores)
        self.nodes = 0

    def place(self, at: int, placed: dict[str, Places], loads: Sequence[float], used: int) -> None:
        """Place the component with this index in all ways, and those behind it.

        Args:
            at: index of the component.
            placed: the places of those before it.
            loads: what these are for each place, in nanoseconds.
            used: how many places have anything; these are the first ones.
        """
        if at == len(self._names):
            worst = max(max(loads), sum(loads) / self._problem.machine.cores)
            if worst < self._least:
                self._least, self.found = worst, dict(placed)
            return
        for bound, places, after in sorted(self._children(at, placed, loads, used)):
            if bound >= self._least:
                return
            placed[self._names[at]] = places
            self.place(at + 1, placed, after, max(used, max(places) + 1))
            del placed[self._names[at]]

    def _children(
        self, at: int, placed: dict[str, Places], loads: Sequence[float], used: int
    ) -> Iterator[tuple[float, Places, list[float]]]:
        name = self._names[at]
        for places in self._choices(name, placed, used):
            self.nodes += 1
            if self.nodes > self._most_nodes:
                raise TooLarge(
                    f"more than {self._most_nodes} parts of plans: take a search that is not exact"
                )
            after = list(loads)
            for (component, index), ns in self._model.added(name, {**placed, name: places}):
                after[(places if component == name else placed[component])[index]] += ns
            bound = max(max(after), (sum(after) + self._left[at + 1]) / self._width)
            if bound < self._least:
                yield bound, places, after

    def _choices(self, name: str, placed: dict[str, Places], used: int) -> Iterator[Places]:
        """Sets of places for a component; of those that nothing is at, the first ones only."""
        count = len(self._problem.machine.places)
        group = next((group for group in self._problem.together if name in group), None)
        if group is not None:
            others = [placed[other][0] for other in group if other in placed]
            for place in others[:1] or range(min(count, used + 1)):
                yield (place,) * self._problem.least(name)
            return
        is_free = name not in self._problem.fixed
        for tasks in range(self._problem.least(name), self._problem.most(name) + 1):
            for places in combinations_with_replacement(range(min(count, used + tasks)), tasks):
                shares = Counter(places)
                fresh = sorted(place for place in shares if place >= used)
                # Fewer tasks of equal shares only cost less.
                if fresh == list(range(used, used + len(fresh))) and not (
                    is_free and gcd(*shares.values()) > 1
                ):
                    yield places
