"""The folder that a worker process runs in: for streamparse's components, where their sources are.

Storm runs them in its copy of the project's ``src``. A process has but one working directory, so it changes
only where all that the process has to do agrees on one.
"""

from __future__ import annotations

import os

from framework.model.importing import source_folder
from framework.model.topology import PythonImplementation
from framework.planning import Plan
from framework.planning.traits import class_of, is_ported


def enter_sources(plan: Plan, process: int) -> None:
    """Have this process run where the sources of its components are, if all of them are streamparse's.

    Args:
        plan: of the run.
        process: the index of this process in the plan's placement.
    """
    folder = folder_of_sources(plan, process)
    if folder is not None:
        os.chdir(folder)


def folder_of_sources(plan: Plan, process: int) -> str | None:
    """The folder that the components of a process expect to run in; None for the current one.

    Args:
        plan: of the run.
        process: the index of the process in the plan's placement.
    """
    placement = plan.placement
    tasks = {task for number in placement.processes[process] for task in placement.executors[number].tasks}
    folders = {_folder_of(plan, task.component) for task in plan.tasks if task.id in tasks}
    return folders.pop() if len(folders) == 1 else None


def _folder_of(plan: Plan, name: str) -> str | None:
    component = plan.topology.component(name)
    if not isinstance(component.implementation, PythonImplementation):
        return None
    cls = class_of(component)
    return source_folder(cls, plan.topology.import_paths) if is_ported(cls) else None
