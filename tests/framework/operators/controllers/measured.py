"""Measurements as a test thinks them up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from framework.operators.controllers import Controller, Measurements


def measured(tasks: int, load: float, **others: float) -> Measurements:
    """A period of a second in which a bolt had so much to do; a tuple takes a task 10 ms.

    Args:
        tasks: how many it had.
        load: what came, as a share of what these can take. Above 1 they were busy all the time.
        others: fields that are to be otherwise.
    """
    found = {
        "elapsed_s": 100.0,
        "period_s": 1.0,
        "tasks": tasks,
        "most": 100,
        "rate": 100 * tasks * load,
        "processed": 100 * tasks * min(load, 1.0),
        "busy": min(load, 1.0),
        "backlog": 0,
    }
    return Measurements(component="bolt", **{**found, **others})  # type: ignore[arg-type]


@dataclass(slots=True)
class Queue:
    """A bolt with a queue, simulated second by second.

    Args:
        tasks: how many it begins with.
        cost_s: seconds that one tuple takes a task.
        window_s: of a join, the seconds of its window: then a tuple costs that much for each in the window.
    """

    tasks: int = 1
    cost_s: float = 0.01
    window_s: int = 0
    backlog: float = 0.0

    def driven(self, controller: Controller, rates: list[float]) -> Iterator[Measurements]:
        """For each second, in which so many tuples come, what was measured; then the controller decides."""
        for second, rate in enumerate(rates, start=1):
            held = sum(rates[max(0, second - self.window_s) : second]) if self.window_s else 1.0
            can = self.tasks / (self.cost_s * max(held, 1.0))
            taken = min(self.backlog + rate, can)
            self.backlog += rate - taken
            now = measured(
                *(self.tasks, 0.0),
                elapsed_s=float(second),
                rate=rate,
                processed=taken,
                busy=taken / can,
                backlog=round(self.backlog),
            )
            yield now
            self.tasks = min(max(controller.wished(now), 1), now.most)
