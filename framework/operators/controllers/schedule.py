"""Numbers of tasks that a user has fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from framework.operators.controllers.controller import Controller, Measurements


class Schedule(Controller):
    """Has a bolt work with numbers of tasks that are given by hand."""

    def __init__(self, steps: Sequence[Sequence[float]]) -> None:
        """
        Args:
            steps: pairs of seconds since the spouts were activated, ascending, and the number of tasks from
                then on, as ``[[0, 2], [60, 5]]``. Before the first of them the number stays.

        Raises:
            ValueError: they are no such pairs.
        """
        try:
            self._steps = [(float(at_s), int(tasks)) for at_s, tasks in steps]
        except (TypeError, ValueError):
            raise ValueError(f"steps={steps!r}: expected pairs of seconds and tasks") from None
        times = [at_s for at_s, _ in self._steps]
        if times != sorted(times) or any(tasks < 1 for _, tasks in self._steps):
            raise ValueError(f"steps={steps!r}: expected ascending seconds, and numbers of tasks from 1")

    def wished(self, now: Measurements) -> int:
        """As of `Controller`."""
        begun = [tasks for at_s, tasks in self._steps if at_s <= now.elapsed_s]
        return begun[-1] if begun else now.tasks
