"""Stand-ins for custom groupings of Storm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class NGrouping:
    """Sends every tuple to the first tasks of the consumer.

    Args:
        n: how many tasks.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._tasks: Sequence[int] = ()

    def prepare(self, context: Any, component: str, stream: str, target_tasks: Sequence[int]) -> None:
        """Choose the tasks.

        Raises:
            ValueError: the consumer has fewer.
        """
        if self._n > len(target_tasks):
            found = f"the consumer of {component!r} has {len(target_tasks)}"
            raise ValueError(f"NGrouping sends to {self._n} tasks, but {found}")
        self._tasks = sorted(target_tasks)[: self._n]

    def choose_tasks(self, values: Sequence[Any]) -> Sequence[int]:
        """The same tasks for every tuple."""
        return self._tasks
