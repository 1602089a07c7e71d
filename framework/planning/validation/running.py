"""Topologies that load, validate and draw, but cannot run here or would not run as their authors expect.

Some of what cannot run here, such as a component in Java, runs on a Storm cluster. The rest, such as a
program's script that is in none of the project's folders, runs nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

from framework.model.config import Settings
from framework.model.programs import problem_with
from framework.model.topology import (
    ComponentSpec,
    JavaImplementation,
    Problem,
    PythonImplementation,
    ShellImplementation,
    Topology,
    about,
    references,
)
from framework.planning.traits import is_ported
from framework.planning.validation.classes import is_java
from framework.planning.validation.subscriptions import subscriptions

_INSTEAD = "to run the topology, put a Python class in its place"


def check_runnable(topology: Topology, *, here: bool = True) -> list[Problem]:
    """Everything in a topology that cannot run, by place; empty if it can run here.

    Args:
        topology: any topology.
        here: whether it is to run here. Otherwise what may run on a Storm cluster is a warning.
    """
    elsewhere = [*_java(topology), *_groupings(topology), *_beans(topology), *_worker_hooks(topology)]
    elsewhere += _columns(topology)
    nowhere: list[Problem] = []
    for only_here, problem in _programs(topology):
        (elsewhere if only_here else nowhere).append(problem)
    found = [*nowhere, *(replace(problem, warning=not here) for problem in elsewhere)]
    return sorted(found, key=lambda problem: problem.sort_key)


def _java(topology: Topology) -> Iterator[Problem]:
    for component in topology.components:
        if isinstance(component.implementation, JavaImplementation):
            class_name = component.implementation.definition.class_name
            message = (
                f"is the Java class {class_name}, and there is no JVM: "
                f"{_INSTEAD}, a {component.role} with the same outputs"
            )
            yield about(topology, component, message)


def _columns(topology: Topology) -> Iterator[Problem]:
    missing = [name for name in ("pyarrow", "numpy") if find_spec(name) is None]
    for component in topology.components if missing else ():
        for stream in component.outputs or ():
            if stream.schema is not None:
                message = (
                    f"declares a schema for stream {stream.name!r}, and {' and '.join(missing)} "
                    f"{'is' if len(missing) == 1 else 'are'} not installed: pip install viperstorm[columns]"
                )
                yield about(topology, component, message)


def _programs(topology: Topology) -> Iterator[tuple[bool, Problem]]:
    """Commands that cannot be run, and whether they may run on another machine."""
    for component in topology.components:
        if isinstance(component.implementation, ShellImplementation):
            command = component.implementation.command
            found = problem_with(command, topology.import_paths, stays=component.implementation.stays)
            if found is not None:
                message = f"is the program {' '.join(command)!r}: {found}"
                yield found.only_here, about(topology, component, message)


def _groupings(topology: Topology) -> Iterator[Problem]:
    for found in subscriptions(topology):
        definition = found.input.grouping.definition
        if definition is not None and is_java(definition):
            message = f"the custom grouping is the Java class {definition.class_name}: {_INSTEAD}"
            yield found.problem(f"{message}, with prepare and choose_tasks", "grouping")


def _beans(topology: Topology) -> Iterator[Problem]:
    """Java objects that a Python component is given; those of Java components go with them."""
    needed = _needed_beans(topology)
    for bean in topology.beans:
        if bean.id in needed and is_java(bean.definition):
            message = f"component {bean.id!r} is the Java class {bean.definition.class_name}: {_INSTEAD}"
            yield Problem(topology.sources.at("beans", bean.id), message)


def _needed_beans(topology: Topology) -> set[str]:
    definitions = {bean.id: bean.definition for bean in topology.beans}
    waiting = [
        component.implementation.definition
        for component in topology.components
        if isinstance(component.implementation, PythonImplementation)
    ]
    needed: set[str] = set()
    while waiting:
        for bean_id in references(waiting.pop()):
            if bean_id in definitions and bean_id not in needed:
                needed.add(bean_id)
                waiting.append(definitions[bean_id])
    return needed


def _worker_hooks(topology: Topology) -> Iterator[Problem]:
    for hook in topology.worker_hooks:
        message = f"worker hook {hook.id!r} is the Java class {hook.definition.class_name}"
        yield Problem(topology.sources.at("beans", hook.id), f"{message}: to run the topology, remove it")


def check_isolation(topology: Topology, settings: Settings) -> list[Problem]:
    """A warning if components of streamparse's will share one interpreter; empty otherwise."""
    if settings["viper.worker"] not in ("inline", "thread"):
        return []  # each of their tasks gets a process, unless the component allows sharing
    ported = [component for component in topology.components if _is_ported(component)]
    if not ported:
        return []
    names = ", ".join(component.id for component in ported)
    message = (
        "components of streamparse's expect a process for each task, but here they share one interpreter, "
        "and so the attributes of their classes and the globals of their modules, and run in the current "
        f"folder instead of that of their sources: {names}"
    )
    return [Problem(topology.sources.at(), message, warning=True)]


def _is_ported(component: ComponentSpec) -> bool:
    implementation = component.implementation
    # A class that no front end holds was given by name, and is not imported for a warning.
    held = implementation.definition.cls if isinstance(implementation, PythonImplementation) else None
    return held is not None and is_ported(held)
