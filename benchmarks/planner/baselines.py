"""Plans that know no costs, or hardly any: what optimizers are compared with."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from framework.optimizer.costs import CostModel, Deployment
from framework.optimizer.search import OPTIMIZERS, Found, Optimizer, Problem, bound


def _found(problem: Problem, deployment: Deployment, considered: int = 1) -> Found:
    return Found(deployment, problem.predicted(deployment), bound(problem), considered)


def _places(problem: Problem) -> list[int]:
    """The index of each core's place, in turn from place to place."""
    most = max(place.cores for place in problem.machine.places)
    return [i for turn in range(most) for i, place in enumerate(problem.machine.places) if place.cores > turn]


@dataclass(frozen=True)
class RoundRobin:
    """The fewest tasks, dealt out to the places in turn along the stream, as a run does by default."""

    name: str = field(default="round-robin", init=False)

    def best(self, problem: Problem) -> Found:
        """That plan."""
        places, at, plan = len(problem.machine.places), 0, {}
        of_group: dict[frozenset[str], int] = {}
        for name in problem.shape.names:
            count = problem.least(name)
            group = next((group for group in problem.together if name in group), None)
            if group is not None:
                place = of_group.setdefault(group, at % places)
                plan[name] = (place,) * count
                at += place == at % places
                continue
            plan[name] = tuple((at + index) % places for index in range(count))
            at += count
        return _found(problem, Deployment(plan))


@dataclass(frozen=True)
class FirstFit:
    """The fewest tasks; those with most traffic between them come to one place while it has room.

    This is what T-Storm does (Xu et al., ICDCS 2014): the load of a place may be no more than its even share.
    """

    name: str = field(default="first-fit", init=False)

    def best(self, problem: Problem) -> Found:
        """That plan."""
        model = CostModel(problem.shape, problem.profile, problem.machine)
        total = sum(map(model.least_ns, problem.shape.names))
        cores = sum(place.cores for place in problem.machine.places)
        room = [total / cores * place.cores for place in problem.machine.places]
        traffic = {
            name: sum(
                model.emitted[flow.source, flow.stream]
                for flow in problem.shape.flows
                if name in (flow.source, flow.target)
            )
            for name in problem.shape.names
        }
        plan: dict[str, tuple[int, ...]] = {}
        for name in sorted(problem.shape.names, key=lambda name: -traffic[name]):
            count = problem.least(name)
            need = model.least_ns(name)
            near = self._nearest(problem, name, plan)
            fitting = [place for place in near if room[place] >= need]
            place = fitting[0] if fitting else max(range(len(room)), key=room.__getitem__)
            room[place] -= need
            plan[name] = (place,) * count
        for group in problem.together:
            place = plan[min(group)][0]
            plan.update({name: (place,) * problem.least(name) for name in group})
        return _found(problem, Deployment(plan))

    @staticmethod
    def _nearest(problem: Problem, name: str, plan: dict[str, tuple[int, ...]]) -> list[int]:
        """Places, those first at which most of what a component is connected with is."""
        joined = [
            other
            for flow in problem.shape.flows
            for other, own in ((flow.source, flow.target), (flow.target, flow.source))
            if own == name and other in plan
        ]
        count = [
            sum(plan[other].count(place) for other in joined) for place in range(len(problem.machine.places))
        ]
        return sorted(range(len(count)), key=lambda place: -count[place])


@dataclass(frozen=True)
class Random:
    """The best of plans that are drawn.

    Args:
        draws: how many.
        seed: of what is drawn.
    """

    draws: int = 100
    seed: int = 1
    name: str = field(default="random", init=False)

    def best(self, problem: Problem) -> Found:
        """The best of them."""
        draw = random.Random(self.seed)
        drawn = [self.drawn(problem, draw) for _ in range(self.draws)]
        best = max(drawn, key=lambda plan: problem.predicted(plan).rate)
        return _found(problem, best, self.draws)

    @staticmethod
    def drawn(problem: Problem, draw: random.Random) -> Deployment:
        """One plan with random numbers of tasks at random places."""
        places, plan = _places(problem), {}
        for name in problem.shape.names:
            least = problem.least(name)
            count = draw.randint(least, max(least, min(problem.most(name), len(places))))
            plan[name] = tuple(draw.choice(places) for _ in range(count))
        for group in problem.together:
            place = draw.choice(places)
            plan.update({name: (place,) * problem.least(name) for name in group})
        return Deployment(plan)


PLANNERS: Mapping[str, Optimizer] = {
    **OPTIMIZERS,
    **{baseline.name: baseline for baseline in (RoundRobin(), FirstFit(), Random())},
}
"""The planners that a user can choose, and these, by name."""
