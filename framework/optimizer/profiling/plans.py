"""The plans that are measured for a profile, and how a run is given one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from framework.optimizer.costs import Deployment, Shape


def options_of(deployment: Deployment, workers: int) -> Mapping[str, Any]:
    """Keys of the configuration that make a run have a deployment.

    Args:
        deployment: any; its places are workers, from 0.
        workers: how many there are.
    """
    used = deployment.places_used()
    if len(used) == 1:
        counts = {name: len(places) for name, places in deployment.tasks.items()}
        return {"viper.worker": "inline", "topology.workers": 1, "viper.tasks": counts}
    numbers = {place: number for number, place in enumerate(used, 1)}
    return {
        "viper.worker": "process",
        "topology.workers": len(used),
        "viper.tasks": {name: len(places) for name, places in deployment.tasks.items()},
        "viper.placement": {
            name: [numbers[place] for place in places] for name, places in deployment.tasks.items()
        },
    }


def deployments(
    shape: Shape, fixed: Mapping[str, int], workers: int, count: int, seed: int
) -> list[Deployment]:
    """Different plans, from which the terms of a model can be told apart.

    The first ones have everything at one place, halves of the stream at two, and each component everywhere;
    the others are drawn.

    Args:
        shape: the topology's.
        fixed: numbers of tasks that are not to be changed, by component.
        workers: places.
        count: how many plans.
        seed: of those that are drawn.
    """
    found = {plan.key(): plan for plan in _chosen(shape, fixed, workers)}
    draw = random.Random(seed)
    for _ in range(100 * count):
        if len(found) >= count:
            break
        plan = drawn(shape, fixed, workers, draw)
        found.setdefault(plan.key(), plan)
    return list(found.values())[:count]


def drawn(shape: Shape, fixed: Mapping[str, int], workers: int, draw: random.Random) -> Deployment:
    """A plan with a random number of tasks for each component, at random places."""
    tasks = {}
    for node in shape.nodes:
        tasks_of = fixed.get(node.name) or draw.randint(1, min(node.most, workers))
        places = draw.sample(range(workers), tasks_of) if tasks_of <= workers else None
        tasks[node.name] = tuple(places or (draw.randrange(workers) for _ in range(tasks_of)))
    return Deployment(tasks)


def _chosen(shape: Shape, fixed: Mapping[str, int], workers: int) -> Iterator[Deployment]:
    names = shape.names
    yield Deployment({name: (0,) * fixed.get(name, 1) for name in names})
    if workers == 1:
        return
    spread = {
        node.name: tuple(range(min(node.most, workers)))
        if node.name not in fixed
        else tuple(index % workers for index in range(fixed[node.name]))
        for node in shape.nodes
    }
    yield Deployment(spread)
    for first in range(1, len(names)):
        cut = {name: (0 if at < first else 1,) * fixed.get(name, 1) for at, name in enumerate(names)}
        yield Deployment(cut)
    yield Deployment({node.name: (0,) * len(spread[node.name]) for node in shape.nodes})
