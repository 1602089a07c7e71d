"""The plans that a plan which was found is compared with: those that one has without it, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

from benchmarks.planner.baselines import PLANNERS, Random
from benchmarks.planner.fixed import always_far, never_far
from benchmarks.planner.warm import Candidate
from framework.model.config import resolve
from framework.model.topology import Topology
from framework.optimizer.costs import Deployment, Profile, Shape, predict
from framework.optimizer.profiling import deployment_of, fixed_tasks, machine_of, shape_of
from framework.optimizer.search import Problem
from framework.planning import Plan, make_plan

FOUND, DEFAULT = "found", "default"
ALONE = "one task each, inline"
OTHERS = ("round-robin", "first-fit", "rlas", "random")
"""Planners beside the one that finds; the last one takes the best of a hundred by the model."""
_TRIES = 200
"""Draws for each random plan that is wanted: small topologies have few that differ."""


@dataclass(frozen=True)
class Target:
    """The topology that is planned, with its options and workers.

    Args:
        topology: it.
        options: of the configuration.
        workers: places of plans.
    """

    topology: Topology
    options: Mapping[str, Any]
    workers: int

    def plan(self, **more: Any) -> Plan:
        """The plan that a run has, with further keys of the configuration; a double underscore is a dot."""
        own = {key.replace("__", "."): value for key, value in more.items()}
        settings, problems = resolve(self.topology, options={**self.options, **own})
        assert not problems, problems
        return make_plan(self.topology, settings)

    @cached_property
    def shape(self) -> Shape:
        """The shape of it that the model needs."""
        return shape_of(self.plan(), self.workers)

    @cached_property
    def fixed(self) -> Mapping[str, int]:
        """The numbers of tasks that no plan changes."""
        return fixed_tasks(self.plan())

    def problem(self, profile: Profile) -> Problem:
        """Make the problem that planners solve."""
        return Problem(self.shape, profile, machine_of(self.workers), self.fixed)

    def predicted(self, profile: Profile, plan: Deployment) -> float:
        """The rate that the model expects of a plan, which may have more places than there are workers."""
        places = max(self.workers, *(place + 1 for place in plan.places_used()))
        return predict(self.shape, profile, machine_of(places), plan).rate


def candidates(target: Target, profile: Profile, optimizer: str, count: int, seed: int) -> list[Candidate]:
    """The plan that is found, first; those that one has without it; those of other planners; random ones.

    Plans that are the same but for the names of workers are one, with all of their names.

    Args:
        target: the topology that is planned.
        profile: the profile that planners use.
        optimizer: the one that finds, by name.
        count: random plans, if there are as many that differ.
        seed: of these.
    """
    problem = target.problem(profile)
    chosen = [*_chosen(target, problem, optimizer)]
    drawn = _drawn(problem, {_key(each) for each in chosen}, count, seed)
    return _merged([*chosen, *drawn])


def _chosen(target: Target, problem: Problem, optimizer: str) -> Iterator[Candidate]:
    yield Candidate(PLANNERS[optimizer].best(problem).deployment.tasks, FOUND)
    yield Candidate(deployment_of(target.plan()).tasks, DEFAULT, ())
    told = ("--workers", str(target.workers))
    dealt = deployment_of(target.plan(topology__workers=target.workers))
    yield Candidate(dealt.tasks, " ".join(told), told)
    yield Candidate({name: (0,) * problem.least(name) for name in problem.shape.names}, ALONE)
    for name in OTHERS:
        if name != optimizer:
            yield Candidate(PLANNERS[name].best(problem).deployment.tasks, name)
    for name, seen in (("rlas-fix-l", always_far(problem)), ("rlas-fix-u", never_far(problem))):
        yield Candidate(PLANNERS["rlas"].best(seen).deployment.tasks, name)


def _drawn(problem: Problem, known: set[object], count: int, seed: int) -> Iterator[Candidate]:
    draw = random.Random(seed)
    seen = set(known)
    number = 0
    for _ in range(_TRIES * count):
        if number == count:
            return
        plan = Random.drawn(problem, draw)
        if _key(plan) not in seen:
            seen.add(_key(plan))
            number += 1
            yield Candidate(plan.tasks, f"random {number}")


def _merged(several: Sequence[Candidate]) -> list[Candidate]:
    """Each plan once; what a run is given in another way stays another one, as it may not be the same."""
    found: dict[object, Candidate] = {}
    for each in several:
        key = _key(each), each.arguments
        before = found.get(key)
        name = each.name if before is None else f"{before.name}, {each.name}"
        found[key] = Candidate((before or each).tasks, name, each.arguments)
    return list(found.values())


def _key(plan: Deployment) -> object:
    """Make the key that is the same for plans that differ by the names of workers only."""
    used = plan.places_used()
    return min(
        tuple(
            (name, tuple(sorted(order[used.index(place)] for place in places)))
            for name, places in sorted(plan.tasks.items())
        )
        for order in permutations(range(len(used)))
    )
