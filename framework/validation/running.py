"""Topologies that load, validate and draw, but cannot run here or would not run as their authors expect."""

from __future__ import annotations

from collections.abc import Iterator

from framework.config import Settings
from framework.hosting import is_ported
from framework.multilang.places import complaint_about
from framework.topology import (
    ComponentSpec,
    JavaImplementation,
    Problem,
    PythonImplementation,
    ShellImplementation,
    Topology,
    references,
)
from framework.validation.classes import is_java
from framework.validation.structure import about
from framework.validation.subscriptions import subscriptions

_INSTEAD = "to run the topology, put a Python class in its place"


def check_runnable(topology: Topology) -> list[Problem]:
    """Everything in a topology that only a Storm cluster can run, by place; empty if it can run here."""
    found = [*_components(topology), *_groupings(topology), *_beans(topology), *_worker_hooks(topology)]
    return sorted(found, key=lambda problem: problem.sort_key)


def _components(topology: Topology) -> Iterator[Problem]:
    for component in topology.components:
        match component.implementation:
            case JavaImplementation(definition):
                what = f"is the Java class {definition.class_name}, and there is no JVM"
                yield about(
                    topology, component, f"{what}: {_INSTEAD}, a {component.role} with the same outputs"
                )
            case ShellImplementation(command):
                complaint = complaint_about(command, topology.import_paths)
                if complaint:
                    yield about(topology, component, f"is the program {' '.join(command)!r}: {complaint}")
            case PythonImplementation():
                pass


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
        f"and so the attributes of their classes and the globals of their modules: {names}"
    )
    return [Problem(topology.sources.at(), message, warning=True)]


def _is_ported(component: ComponentSpec) -> bool:
    implementation = component.implementation
    # A class that no front end holds was given by name, and is not imported for a warning.
    held = implementation.definition.cls if isinstance(implementation, PythonImplementation) else None
    return held is not None and is_ported(held)
