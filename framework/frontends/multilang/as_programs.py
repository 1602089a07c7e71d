"""The same topology with its Python components as programs, as Storm would run them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from framework.frontends.multilang.messages import is_json
from framework.model.errors import LoadError
from framework.model.importing import import_class, importable
from framework.model.topology import (
    ComponentSpec,
    ObjectDef,
    Problem,
    PythonImplementation,
    Ref,
    RefList,
    Role,
    ShellImplementation,
    Topology,
    about,
)
from framework.operators.components import BatchBolt, PartitionedSpout, Spout
from framework.operators.sinks import Sink
from framework.planning.traits import class_of, is_generator_spout, is_ported


@dataclass(frozen=True, slots=True)
class AsPrograms:
    """A topology whose components have become programs."""

    topology: Topology
    stayed: tuple[Problem, ...]
    """A warning for each Python component that is not run as a program, with the reason."""


def as_programs(topology: Topology) -> AsPrograms:
    """Have every Python component run as a program that speaks the multilang protocol.

    streamparse's bolts are run by ``python -m streamparse.run``, its spouts by `frontends.streamparse.serve`,
    which lets them end, and our components by `frontends.multilang.serve`. Sinks belong to the runtime and
    stay, and so do spouts that bring partitions, and components that cannot be made from a name and plain
    arguments.

    Args:
        topology: a valid one.
    """
    stayed: list[Problem] = []
    components: list[ComponentSpec] = []
    with importable(topology.import_paths):
        for component in topology.components:
            reason = _reason_to_stay(component, topology)
            if reason is not None:
                message = f"runs in Python and not as a program: {reason}"
                stayed.append(about(topology, component, message, warning=True))
            is_python = isinstance(component.implementation, PythonImplementation)
            components.append(_as_program(component) if is_python and reason is None else component)
    return AsPrograms(replace(topology, components=tuple(components)), tuple(stayed))


def _reason_to_stay(component: ComponentSpec, topology: Topology) -> str | None:
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
    if issubclass(cls, BatchBolt | Spout) and _is_on_typed_streams(component, topology):
        return "a stream of it has a schema, and the protocol does not know columns"
    return next(_obstacles(cls, definition), None)


def _is_on_typed_streams(component: ComponentSpec, topology: Topology) -> bool:
    taken = {(way.source, way.stream) for way in component.inputs}
    read = [s for other in topology.components for s in other.outputs or () if (other.id, s.name) in taken]
    return any(stream.schema is not None for stream in [*read, *(component.outputs or ())])


def _obstacles(cls: type, definition: ObjectDef) -> Iterator[str]:
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
    arguments = _arguments(component.implementation.definition)
    command = (sys.executable, "-m", _server(cls, component.role), _name(cls), *arguments)
    # A program does not show that its spout ends by itself.
    bounded = {"viper.spout.bounded": True} if is_generator_spout(cls) else {}
    config = {**bounded, **component.config}
    return replace(component, implementation=ShellImplementation(command), config=config)


def _server(cls: type, role: Role) -> str:
    if not is_ported(cls):
        return "framework.frontends.multilang.serve"
    return "framework.frontends.streamparse.serve" if role is Role.SPOUT else "streamparse.run"


def _arguments(definition: ObjectDef) -> list[str]:
    parts = {"args": list(definition.args), "kwargs": dict(definition.kwargs)}
    given = {name: value for name, value in parts.items() if value}
    return [json.dumps(given)] if given else []
