"""Packs the job that a worker process is sent, and the results of sinks that it sends back.

Classes and functions go by name, everything else by value; all code by value where some has no name.
"""

from __future__ import annotations

import logging
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from io import BytesIO
from pathlib import Path
from types import FunctionType
from typing import Any, Final

from framework.model.config import Settings
from framework.model.errors import ComponentError, TopologyError
from framework.model.importing import importing_user_code
from framework.model.topology import ComponentSpec, ObjectDef, Problem, PythonImplementation, Topology, about
from framework.operators.log import Limits
from framework.planning import Plan
from framework.planning.validation.subscriptions import subscriptions
from framework.runtime.durability.state import StateMap
from framework.runtime.execution.assembly.network import NetworkMap
from framework.runtime.execution.assembly.recording import RecordingPaths
from framework.runtime.observation.statistics import WorkerReport
from framework.runtime.workers import by_value
from framework.runtime.workers.same_code import Codes, code_of

log = logging.getLogger("viperstorm.worker")

NO_PLACE: Final = -1
"""The index of a process that runs nothing, until it takes the place of another one."""


@dataclass(frozen=True, slots=True)
class Job:
    """All that a worker process needs to know."""

    plan: Plan
    settings: Settings
    network: NetworkMap
    state: StateMap | None
    """The offsets of declared state in shared memory; None where no component declares any."""
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
    """The levels of loggers, by name."""
    limits: Limits | None
    """The limits from which on the log counts repeated records; None for no limits."""
    environment: Mapping[str, str]
    code: Codes = field(default_factory=dict)
    """The code of the packing process, by the names under which this process finds its own."""


@dataclass(frozen=True, slots=True)
class PackedPlan:
    """The message to every process of a run, packed once: code that changes meanwhile is the same for all."""

    data: bytes
    is_by_value: bool
    """True if code that has no name in a module goes with it."""
    loads_main_module: bool
    """True if each process has to load the script that is the main module."""
    main: Mapping[str, Any] = field(default_factory=dict)
    """The parts of the main module that went with it, by the name there."""
    code: Codes = field(default_factory=dict)
    """The code that each process has to find under these names."""


def pack_plan(plan: Plan, settings: Settings) -> PackedPlan:
    """Pack the message to every process of a run.

    Code goes by its name if each process finds it there, as in a module or a script, and else by value.

    Raises:
        TopologyError: something can go neither way.
    """
    sent = plan, settings
    try:
        return _by_name(plan, sent)
    except TopologyError:
        if not by_value.is_possible():
            raise
    try:
        carried = by_value.dumps(sent)
    except Exception as error:
        # Not from the refusal of the names, which says to install cloudpickle.
        raise TopologyError(_in_the_way(plan.topology, error)) from error
    if len(carried.data) > _HEAVY:
        log.warning("each worker process is sent %s", _load(plan.topology, len(carried.data)))
    code = code_of(plan.topology, is_by_value=True)
    return PackedPlan(carried.data, True, False, carried.main, code)


def pack(job: Job, packed: PackedPlan) -> bytes:
    """A job as bytes; its plan and its settings are those that were packed."""
    sent = ("plan", "settings", "code")
    others = {one.name: getattr(job, one.name) for one in fields(Job) if one.name not in sent}
    return pickle.dumps((packed.is_by_value, packed.data, packed.code, others), pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> Job:
    """The job that was packed; user code is imported on the way."""
    is_by_value, data, code, others = pickle.loads(packed)
    _name_as_in_parent(vars(sys.modules["__main__"]))
    with importing_user_code():
        plan, settings = by_value.loads(data) if is_by_value else pickle.loads(data)
    return Job(plan, settings, **others, code=code)


def _name_as_in_parent(found: Mapping[str, Any]) -> None:
    """Give the classes and functions of a script the module's name that they have where it was started.

    Their texts and the pickled values of the classes have it, also in checkpoints and recordings.
    """
    for one in list(found.values()):
        if isinstance(one, type | FunctionType) and one.__module__ == "__mp_main__":
            one.__module__ = "__main__"
            if isinstance(one, type):
                _name_as_in_parent(vars(one))


_OR_INLINE: Final = "or run it with --worker inline (viper.worker)"
_HEAVY: Final = 1 << 24
"""Bytes of a plan from which on the log says so."""


class _ByName(pickle.Pickler):
    """Pickles as usual, and notes if that refers to what the main module defines."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.refers_to_main = False

    def reducer_override(self, found: Any) -> Any:
        """Leave everything as it is."""
        if isinstance(found, type | FunctionType) and found.__module__ == "__main__":
            self.refers_to_main = True
        return NotImplemented


def _pickled(value: Any) -> tuple[bytes, bool]:
    """A value as bytes, and true if it refers to what the main module defines."""
    pickler = _ByName(file := BytesIO())
    pickler.dump(value)
    return file.getvalue(), pickler.refers_to_main


def _by_name(plan: Plan, sent: object) -> PackedPlan:
    """A plan whose code goes by name.

    Raises:
        TopologyError: some of it has no name, by which another process finds it.
    """
    topology = plan.topology
    problems = [*_components(topology), *_groupings(topology)]
    if problems:
        raise TopologyError(problems)
    try:
        data, refers_to_main = _pickled(sent)
    except Exception as error:
        of_all = Problem(topology.sources.at(), f"a value {_stays(error)}")
        raise TopologyError([*_arguments(topology)] or [of_all]) from error
    if refers_to_main and not _main_module_is_found():
        of_all = Problem(topology.sources.at(), f"a value {_USES_MAIN}")
        raise TopologyError([*_uses_of_main(topology)] or [of_all])
    return PackedPlan(data, False, refers_to_main, code=code_of(topology, is_by_value=False))


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


def _uses_of_main(topology: Topology) -> Iterator[Problem]:
    """Components with values that the main module defines; to be asked if no other process finds it."""
    for component in topology.components:
        if _pickled(component)[1]:
            yield about(topology, component, f"has an argument or a configuration value {_USES_MAIN}")


_USES_MAIN: Final = (
    "that is defined in this session, which another process cannot import: "
    f"{by_value.INSTALL}; or define it in a module, {_OR_INLINE}"
)


def _stays(error: Exception) -> str:
    return (
        f"cannot be carried to another process: {error}; of a function, {by_value.INSTALL}; "
        f"or define it at the top level of a module, {_OR_INLINE}"
    )


def _groupings(topology: Topology) -> Iterator[Problem]:
    for found in subscriptions(topology):
        definition = found.input.grouping.definition
        if definition is not None and not _can_be_found(definition):
            yield found.problem(f"the custom grouping is {_lost(definition)}", "grouping")


def _lost(definition: ObjectDef) -> str:
    return (
        f"the class {definition.class_name}, which another process cannot import: "
        f"{by_value.INSTALL}; or define it at the top level of a module, {_OR_INLINE}"
    )


def _can_be_found(definition: ObjectDef) -> bool:
    """True if another process finds this very class by its name, so that the name alone is sent."""
    cls = definition.cls
    if cls is None:
        return True
    return (cls.__module__ != "__main__" or _main_module_is_found()) and by_value.has_name(cls)


def _main_module_is_found() -> bool:
    """True if another process can load the main module: it is a module or a script, and no notebook.

    At a prompt behind a script, its classes may have been defined again.
    """
    main = sys.modules["__main__"]
    is_file = main.__spec__ is not None or Path(getattr(main, "__file__", None) or "").is_file()
    return is_file and not (hasattr(sys, "ps1") and by_value.is_possible())


def _in_the_way(topology: Topology, error: Exception) -> Sequence[Problem]:
    """The value that cannot be carried, its component, and its place there."""

    def is_in_the_way(value: object) -> bool:
        try:
            by_value.dumps(value)
        except Exception:
            return True
        return False

    problems = [
        about(topology, component, f"{_STAYS}: {_path(component, is_in_the_way)}{_words(error)}; {_MAKE}")
        for component in topology.components
        if is_in_the_way(component)
    ]
    return problems or [Problem(topology.sources.at(), f"a value {_STAYS}: {_words(error)}; {_MAKE}")]


_STAYS: Final = "cannot be carried to another process"
_MAKE: Final = f"make it in initialize(), where each task gets one of its own, {_OR_INLINE}"


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _path(component: ComponentSpec, is_meant: Callable[[object], bool]) -> str:
    """The place of something in a component, in words that a colon ends; empty if nobody knows."""
    found = [*by_value.path_to(component, is_meant)]
    return f"{', '.join(found)}: " if found else ""


def _load(topology: Topology, size: int) -> str:
    """The cause of a plan's size, in words."""

    def is_most(value: object) -> bool:
        try:
            return len(by_value.dumps(value).data) > size // 2
        except Exception:  # a part alone need not be such that it can be carried
            return False

    told = f"{size:,} bytes with the topology"
    heavy = next(filter(is_most, topology.components), None)
    if heavy is None:
        return told
    where = _path(heavy, is_most).removesuffix(": ")
    return f"{told}, most of it for {heavy.id!r} ({where}): read such data in initialize()"


# -- results of sinks


def with_packed_results(report: WorkerReport, plan: Plan) -> WorkerReport:
    """A report with its results as bytes.

    Raises:
        ComponentError: one of them cannot be carried.
    """
    return _changed(report, plan, _packed)


def with_results(report: WorkerReport, plan: Plan, main: Mapping[str, Any]) -> WorkerReport:
    """A report with its results as they were.

    Args:
        report: as a process has sent it.
        plan: of the run.
        main: what of the main module its processes had, by the name there; they may have other meanings now.

    Raises:
        ComponentError: one of them cannot be read here.
    """
    return _changed(report, plan, lambda data: by_value.Returned(data, main).load())


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
