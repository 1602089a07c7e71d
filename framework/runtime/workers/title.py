"""The title of a worker process, as ``ps``, ``top`` and ``pgrep -f`` show it."""

from __future__ import annotations

from setproctitle import setproctitle

from framework.planning import Plan

STANDING_BY = -1
"""In place of the index of a process: one that waits for the place of another."""


def take_title(plan: Plan, process: int) -> None:
    """Have this process show which worker it is, of which topology, and which tasks it runs.

    Args:
        plan: what is run.
        process: the index of the process in its placement, or `STANDING_BY`.
    """
    setproctitle(title_of(plan, process))


def title_of(plan: Plan, process: int) -> str:
    """``viper worker 2 of wordcount: split:4 count:6``."""
    if process == STANDING_BY:
        return f"viper worker of {plan.topology.name}, standing by"
    executors = [plan.placement.executors[number] for number in plan.placement.processes[process]]
    components = {task.id: task.component for task in plan.tasks}
    tasks = [f"{components[id]}:{id}" for executor in executors for id in executor.tasks]
    return f"viper worker {executors[0].worker} of {plan.topology.name}: {' '.join(tasks)}"
