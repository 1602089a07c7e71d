"""The bolts of a plan that may be moved, and the workers that may run them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from framework.optimizer.costs import Deployment, Shape
from framework.optimizer.profiling import shape_of
from framework.planning import Plan
from framework.planning.routing import MOST_CHOSEN, TaskSet

Sets = Mapping[str, TaskSet]
"""For each bolt that can be scaled, the tasks that get tuples."""


@dataclass(frozen=True)
class Movable:
    """A plan all of whose tasks exist, of which some get tuples."""

    shape: Shape
    places: Mapping[str, tuple[int, ...]]
    """The workers of all tasks of each component, by index of the task; workers are counted from 0."""
    free: tuple[str, ...]
    """The components that may be moved, in the order of the stream."""

    @property
    def workers(self) -> int:
        """The number of workers."""
        return 1 + max(place for places in self.places.values() for place in places)

    def deployment(self, sets: Sets) -> Deployment:
        """Return the deployment with these tasks; components without an entry have all of their tasks."""
        return Deployment(
            {
                name: tuple(places[index] for index in sets[name]) if name in sets else places
                for name, places in self.places.items()
            }
        )

    def choices(self, name: str) -> Iterator[TaskSet]:
        """The sets of tasks that a component may have: one task at most for each worker."""
        first = self.first(name)
        for count in range(1, len(first) + 1):
            for some in combinations(first.values(), count):
                yield TaskSet.of(some)

    def nearby(self, name: str, now: TaskSet) -> Iterator[TaskSet]:
        """The sets of tasks with one worker more, less, or another one."""
        first = self.first(name)
        used = {self.places[name][index] for index in now} & first.keys()
        kept = frozenset(first[worker] for worker in used)
        for worker, task in first.items():
            if worker in used:
                rest = kept - {task}
                if rest:
                    yield TaskSet.of(rest)
                yield from (TaskSet.of(rest | {other}) for other in set(first.values()) - kept)
            else:
                yield TaskSet.of(kept | {task})

    def first(self, name: str) -> dict[int, int]:
        """By worker the index of a component's first task there, of those that may be chosen."""
        found: dict[int, int] = {}
        for index, place in enumerate(self.places[name][:MOST_CHOSEN]):
            found.setdefault(place, index)
        return found


def movable_of(plan: Plan) -> Movable:
    """Return the parts of a plan that may be moved.

    Args:
        plan: of a run that moves bolts by itself.

    Raises:
        CannotBeModelled: there is no model of the costs of its plans.
    """
    worker_of = {
        task: executor.worker - 1 for executor in plan.placement.executors for task in executor.tasks
    }
    shape = shape_of(plan, len(set(worker_of.values())))
    places = {name: tuple(worker_of[task.id] for task in plan.tasks_of(name)) for name in shape.names}
    return Movable(shape, places, tuple(name for name in shape.names if name in plan.movable))
