"""streamparse's component specs, and the groupings in them, as ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from framework.frontends.declaration import java_implementation, shell_implementation
from framework.model.specs import GlobalStreamId, Inputs, Spec, checked_par, python_implementation
from framework.model.topology import (
    DEFAULT_STREAM,
    Argument,
    Grouping,
    GroupingKind,
    Implementation,
    Role,
    Stream,
)


def is_spec(value: object) -> bool:
    """Whether a value is what streamparse's ``Cls.spec(...)`` returns."""
    component = sys.modules.get("streamparse.dsl.component")
    return component is not None and isinstance(value, component.ComponentSpec)


def spec_of(attribute: str, spec: Any) -> Spec:
    """The same as a spec of ours.

    As streamparse's own metaclass does, it names a spec without a name after its attribute.
    """
    spec.name = spec.name or attribute
    return Spec(
        spec.component_cls,
        _role(spec),
        _implementation(spec),
        spec.name,
        _inputs(spec),
        checked_par(spec.par),
        json.loads(spec.config),
        tuple(Stream(info.output_fields, name, bool(info.direct)) for name, info in spec.outputs.items()),
    )


def _role(spec: Any) -> Role:
    dsl = sys.modules["streamparse.dsl.spout"]
    return Role.SPOUT if isinstance(spec, dsl.JavaSpoutSpec | dsl.ShellSpoutSpec) else Role.BOLT


def _implementation(spec: Any) -> Implementation:
    pystorm = sys.modules["pystorm"]
    if issubclass(spec.component_cls, pystorm.Bolt | pystorm.Spout):
        return python_implementation(spec.component_cls)
    return _foreign(spec.component_object)


def _foreign(made: Any) -> Implementation:
    if made.shell is not None:
        return shell_implementation(made.shell.execution_command, made.shell.script)
    if made.serialized_java is not None:
        return java_implementation(made.serialized_java, None, None)
    java = made.java_object
    return java_implementation(None, java.full_class_name, _plain_arguments(java.args_list))


def _inputs(spec: Any) -> Inputs:
    return tuple((_stream_id(stream), _grouping(grouping)) for stream, grouping in spec.inputs.items())


def _stream_id(stream: Any) -> GlobalStreamId:
    # streamparse puts the name in the place of a spec, also where the spec has none.
    return GlobalStreamId(stream.componentId or "<unnamed spec>", stream.streamId or DEFAULT_STREAM)


def _grouping(union: Any) -> Grouping:
    """The grouping whose field of the union is set; ``fields([])`` is the global grouping."""
    if union.fields is not None:
        return Grouping.fields(union.fields) if union.fields else Grouping.GLOBAL
    if union.custom_object is not None:
        custom = union.custom_object
        return Grouping.custom(custom.full_class_name, *_plain_arguments(custom.args_list))
    if union.custom_serialized is not None:
        return Grouping.custom_serialized(union.custom_serialized)
    kind = next(name for name, value in vars(union).items() if value is not None)
    return Grouping(GroupingKind[kind.upper()])


def _plain_arguments(java_arguments: Sequence[Any]) -> list[Argument]:
    """The values of arguments that are given to a Java constructor."""
    arguments: list[Argument] = sys.modules["streamparse.dsl.util"].to_python_arg_list(java_arguments)
    return arguments
