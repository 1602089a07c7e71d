"""The same topology with its Python components as programs, as Storm would run them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from framework.components import PartitionedSpout
from framework.errors import LoadError
from framework.hosting import class_of, is_generator_spout, is_ported
from framework.importing import import_class, importable
from framework.multilang.messages import is_json
from framework.sinks import Sink
from framework.topology import (
    ComponentSpec,
    ObjectDef,
    Problem,
    PythonImplementation,
    Ref,
    RefList,
    ShellImplementation,
    Topology,
)
from framework.validation.structure import about


@dataclass(frozen=True, slots=True)
class AsPrograms:
    """What has become of a topology."""

    topology: Topology
    stayed: tuple[Problem, ...]
    """A warning for each component that is no program, and why."""


def as_programs(topology: Topology) -> AsPrograms:
    """Have every Python component run as a program that speaks the multilang protocol.

    streamparse's components are run by ``python -m streamparse.run``, ours by `framework.multilang.serve`.
    Sinks, which are the runtime's own, stay, and so do spouts that bring partitions, and what cannot be
    made by name and plain arguments.

    Args:
        topology: a valid one.
    """
    stayed: list[Problem] = []
    components: list[ComponentSpec] = []
    with importable(topology.import_paths):
        for component in topology.components:
            reason = _why_not(component)
            if reason is not None:
                message = f"runs in Python and not as a program: {reason}"
                stayed.append(about(topology, component, message, warning=True))
            components.append(component if _stays(component) or reason else _as_program(component))
    return AsPrograms(replace(topology, components=tuple(components)), tuple(stayed))


def _stays(component: ComponentSpec) -> bool:
    return not isinstance(component.implementation, PythonImplementation)


def _why_not(component: ComponentSpec) -> str | None:
    """Why a Python component cannot be a program; None if it can, or is one already."""
    if not isinstance(component.implementation, PythonImplementation):
        return None
    definition = component.implementation.definition
    try:
        cls = class_of(component)
    except LoadError as error:
        return str(error)
    if issubclass(cls, Sink):
        return "it is a sink"
    if issubclass(cls, PartitionedSpout):
        return "it brings partitions, which the protocol does not know"
    return next(_complaints(cls, definition), None)


def _complaints(cls: type, definition: ObjectDef) -> Iterator[str]:
    name = _name(cls)
    if not _is_found_by_name(cls):
        yield f"its class cannot be imported as {name!r}"
    if definition.factory or definition.properties or definition.config_methods:
        yield "it is made by more than its constructor"
    arguments = [*definition.args, *definition.kwargs.values()]
    if any(isinstance(argument, Ref | RefList) for argument in arguments):
        yield "an argument of it is an object"
    if not is_json(arguments):
        yield "JSON cannot carry its arguments"
    if arguments and is_ported(cls):
        yield "streamparse gives no arguments to components"


def _is_found_by_name(cls: type) -> bool:
    if cls.__module__ == "__main__" or "." in cls.__qualname__:
        return False
    try:
        return import_class(_name(cls)) is cls
    except LoadError:
        return False


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _as_program(component: ComponentSpec) -> ComponentSpec:
    assert isinstance(component.implementation, PythonImplementation)
    cls = class_of(component)
    module = "streamparse.run" if is_ported(cls) else "framework.multilang.serve"
    words = [sys.executable, "-m", module, _name(cls), *_arguments(component.implementation.definition)]
    # Nobody sees any more that the spout ends by itself.
    bounded = {"viper.spout.bounded": True} if is_generator_spout(cls) else {}
    return replace(
        component,
        implementation=ShellImplementation(tuple(words)),
        config={**bounded, **component.config},
    )


def _arguments(definition: ObjectDef) -> list[str]:
    given = {"args": list(definition.args), "kwargs": dict(definition.kwargs)}
    said = {name: value for name, value in given.items() if value}
    return [json.dumps(said)] if said else []
