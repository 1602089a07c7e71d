"""Packs the job that a worker process is sent, and the results of sinks that it sends back.

Classes go by name, everything else by value.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from framework.config import Settings
from framework.errors import ComponentError, TopologyError
from framework.importing import importing_user_code
from framework.log import Limits
from framework.planning import Plan
from framework.runtime.assembly.network import NetworkMap
from framework.runtime.assembly.recording import RecordingPaths
from framework.runtime.metrics.statistics import WorkerReport
from framework.runtime.state import StateMap
from framework.topology import ObjectDef, Problem, PythonImplementation, Topology, about
from framework.validation.subscriptions import subscriptions

NO_PLACE: Final = -1
"""The index of a process that runs nothing, until it takes the place of another one."""


@dataclass(frozen=True, slots=True)
class Job:
    """All that a worker process needs to know."""

    plan: Plan
    settings: Settings
    network: NetworkMap
    state: StateMap | None
    """Where declared state lies; None where no component declares any."""
    process: int
    """Its index in the plan's placement; `NO_PLACE` where it stands by."""
    attempt: int
    """The number of times that this worker's process was restarted."""
    has_run: bool
    """True if a process before it was asked to run its tasks."""
    recording: RecordingPaths
    checkpoints: Path | None
    """Their folder; None where none are made."""
    levels: Mapping[str, int]
    """Of the loggers, by name."""
    limits: Limits | None
    """From which on the log counts records that repeat; None for never."""
    environment: Mapping[str, str]


def pack(job: Job) -> bytes:
    """A job as bytes.

    Raises:
        TopologyError: a class cannot be imported by another process, or a value cannot be carried there.
    """
    topology = job.plan.topology
    problems = [*_components(topology), *_groupings(topology)]
    if problems:
        raise TopologyError(problems)
    try:
        return pickle.dumps(job, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        of_all = Problem(topology.sources.at(), f"a value {_stays(error)}")
        raise TopologyError([*_arguments(topology)] or [of_all]) from error


def unpack(packed: bytes) -> Job:
    """The job that was packed; user code is imported on the way."""
    with importing_user_code():
        job: Job = pickle.loads(packed)
    return job


def needs_main_module(packed: bytes) -> bool:
    """Whether a job refers to what the main module defines."""
    return b"__main__" in packed


_OR_INLINE = "or run it with --worker inline (viper.worker)"


def _components(topology: Topology) -> Iterator[Problem]:
    for component in topology.components:
        implementation = component.implementation
        if isinstance(implementation, PythonImplementation) and not _can_be_found(implementation.definition):
            yield about(topology, component, f"is {_lost(implementation.definition)}")


def _arguments(topology: Topology) -> Iterator[Problem]:
    """Components with values that cannot be carried; to be asked if any does."""
    for component in topology.components:
        try:
            pickle.dumps(component, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            yield about(topology, component, f"has an argument or a configuration value that {_stays(error)}")


def _stays(error: Exception) -> str:
    return (
        f"cannot be carried to another process: {error}; "
        f"define functions at the top level of a module, {_OR_INLINE}"
    )


def _groupings(topology: Topology) -> Iterator[Problem]:
    for found in subscriptions(topology):
        definition = found.input.grouping.definition
        if definition is not None and not _can_be_found(definition):
            yield found.problem(f"the custom grouping is {_lost(definition)}", "grouping")


def _lost(definition: ObjectDef) -> str:
    return (
        f"the class {definition.class_name}, which another process cannot import: "
        f"define it at the top level of a module, {_OR_INLINE}"
    )


def _can_be_found(definition: ObjectDef) -> bool:
    """Whether another process finds the very class by its name; what is given by name alone is imported."""
    cls = definition.cls
    if cls is None:
        return True
    found: Any = sys.modules.get(cls.__module__)
    if cls.__module__ == "__main__" and not _can_be_imported_again(found):
        return False
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is cls


def _can_be_imported_again(main: ModuleType) -> bool:
    """Whether the main module is a module or a script, neither typed in nor given with ``-c``."""
    return main.__spec__ is not None or Path(getattr(main, "__file__", None) or "").is_file()


# -- results of sinks


def with_packed_results(report: WorkerReport, plan: Plan) -> WorkerReport:
    """A report with its results as bytes.

    Raises:
        ComponentError: one of them cannot be carried.
    """
    return _changed(report, plan, _packed)


def with_results(report: WorkerReport, plan: Plan) -> WorkerReport:
    """A report with its results as they were.

    Raises:
        ComponentError: one of them cannot be read here.
    """
    return _changed(report, plan, pickle.loads)


def _packed(result: Any) -> bytes:
    return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)


def _changed(report: WorkerReport, plan: Plan, change: Callable[[Any], Any]) -> WorkerReport:
    components = {task.id: task.component for task in plan.tasks}
    results: dict[int, Any] = {}
    for task, result in report.results.items():
        try:
            results[task] = change(result)
        except Exception as error:
            detail = f"cannot be carried out of its worker process: {type(error).__name__}: {error}"
            raise ComponentError(
                components[task], task, "result", f"{detail}; return what pickle can carry"
            ) from error
    return replace(report, results=results)
