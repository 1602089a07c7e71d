"""A plan: how many tasks each component has, and at which place each of them runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Deployment:
    """Each component's tasks, all of which get an equal part of its tuples.

    Args:
        tasks: by component, the index of the place of each task, in order of their indexes.
    """

    tasks: Mapping[str, tuple[int, ...]]

    def key(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The key that tells it from others, without the order of a component's tasks."""
        return tuple(sorted((name, tuple(sorted(places))) for name, places in self.tasks.items()))

    def count(self, component: str) -> int:
        """Count the tasks of a component."""
        return len(self.tasks[component])

    def places_used(self) -> tuple[int, ...]:
        """The indexes of the places where anything runs, ascending."""
        return tuple(sorted({place for places in self.tasks.values() for place in places}))
