"""streamparse's topology classes as topologies.

The body of a class, ours or streamparse's, may hold specs of both. A component itself, or its class, where a
spec was meant, is refused with the line to write instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from framework.frontends.declaration import (
    ANY_ENVIRONMENT,
    Declaration,
    accepted,
    class_declaration,
    file_of,
    java_implementation,
    shell_implementation,
    written,
)
from framework.model.errors import TopologyError
from framework.model.specs import GlobalStreamId, Inputs, Spec, checked_par, python_implementation
from framework.model.topology import (
    DEFAULT_STREAM,
    Argument,
    Grouping,
    GroupingKind,
    Implementation,
    Loaded,
    Problem,
    Role,
    Stream,
    Topology,
)
from framework.model.topology.graph import SYSTEM_PREFIX
from framework.operators.components.component import Component

_kept: list[object] = []


def is_topology(value: object) -> bool:
    """True if a value is a topology class of streamparse's, and not the base class itself."""
    dsl = sys.modules.get("streamparse.dsl.topology")
    return dsl is not None and isinstance(value, dsl.TopologyType) and value is not dsl.Topology


def from_streamparse(cls: type, *, environment: str | None = None, name: str | None = None) -> Loaded:
    """The topology that a streamparse ``Topology`` class declares.

    Args:
        environment: chooses from a ``par`` that is given per environment.
        name: name of the topology; by default that of the file, as for ``sparse``.
    """
    declared = declaration_of(file_of(cls), cls.__qualname__, vars(cls), cls.__mro__[1:])
    return declared.topology(name, environment)


def declaration_of(
    file: str, qualname: str, namespace: Mapping[str, Any], bases: Iterable[type]
) -> Declaration:
    """The declarations in the body of a streamparse topology class in a file.

    Args:
        file: path of the file.
        qualname: the qualified name of the class there.
        namespace: the attributes of the class.
        bases: the classes that it derives from, the nearest one first.
    """
    specs, config = specs_in(namespace), namespace.get("config", {})
    return class_declaration(file, qualname, specs, config, not_inherited(namespace, bases))


def not_inherited(namespace: Mapping[str, object], bases: Iterable[type]) -> dict[str, str]:
    """The class that has each spec that a topology class would inherit, if that were so, by attribute.

    A config is among them; a class without one has an empty one of its own.

    Args:
        namespace: the attributes of the class, which take the place of those of its bases.
        bases: the classes that it derives from, the nearest one first.
    """
    owners: dict[str, type] = {}
    for base in bases:
        for attribute in vars(base):
            owners.setdefault(attribute, base)
    lacks_config = not namespace.get("config")
    return {
        attribute: owner.__qualname__
        for attribute, owner in owners.items()
        if (attribute == "config" and lacks_config and vars(owner)[attribute])
        or (attribute not in namespace and _is_any_spec(vars(owner)[attribute]))
    }


def _is_any_spec(value: object) -> bool:
    return isinstance(value, Spec) or is_spec(value)


def specs_in(namespace: Mapping[str, object]) -> dict[str, Spec]:
    """The specs among the attributes of a class, each named.

    Raises:
        TypeError: a component itself is among them.
    """
    specs: dict[str, Spec] = {}
    for attribute, value in namespace.items():
        if _is_component(value):
            _keep_streams_open(value)
        if _is_component(value) or isinstance(value, Component):
            raise TypeError(_instead(namespace, attribute, f"a {type(value).__name__}", type(value)))
        if isinstance(value, Spec):
            value.name = value.name or attribute
            specs[attribute] = value
        elif is_spec(value):
            specs[attribute] = spec_of(attribute, value)
    return specs


def refuse_classes(namespace: Mapping[str, object], specs: Iterable[Spec]) -> None:
    """Refuse the class of a component where its spec was meant.

    A class of which there is a spec is accepted, as it may be the variable of a loop, and so is one that is
    defined in the body.

    Raises:
        TypeError: there is such a class.
    """
    used = {spec.component_cls for spec in specs}
    inside = f"{namespace.get('__qualname__')}."
    for attribute, value in namespace.items():
        if not isinstance(value, type) or value in used or value.__qualname__.startswith(inside):
            continue
        if issubclass(value, Component) or _is_component_class(value):
            raise TypeError(_instead(namespace, attribute, f"the class {value.__name__}", value))


def _instead(namespace: Mapping[str, object], attribute: str, found: str, cls: type) -> str:
    name = written(attribute, str(namespace.get("__qualname__", "")).rpartition(".")[2])
    return f"{name!r} is {found}, expected a spec: did you mean {name} = {cls.__name__}.spec(...)?"


def _is_component(value: object) -> bool:
    """True if a value is an instance of a streamparse component."""
    pystorm = sys.modules.get("pystorm.component")
    return pystorm is not None and isinstance(value, pystorm.Component)


def _is_component_class(cls: type) -> bool:
    """True if a class is one of a streamparse component."""
    pystorm = sys.modules.get("pystorm.component")
    return pystorm is not None and issubclass(cls, pystorm.Component)


def _keep_streams_open(component: Any) -> None:
    """Keep a component that was made by mistake from closing stdin and stdout.

    Its constructor wraps both, and a wrapper closes what it wraps when it is collected. So it is kept.
    """
    _kept.append(component.serializer)


def is_spec(value: object) -> bool:
    """True if a value is what streamparse's ``Cls.spec(...)`` returns."""
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


def refusal(error: BaseException) -> TopologyError | None:
    """All that is wrong with the class that an exception kept from being made.

    Returns:
        None if the exception did not come from streamparse's metaclass, or is about something
        that no topology can say, or none of our rules is broken.
    """
    frame = _refusing_frame(error)
    if frame is None:
        return None
    namespace: dict[str, Any] = frame.f_locals["class_dict"]
    file = frame.f_back.f_code.co_filename if frame.f_back else ""
    try:
        bases = [cls for base in frame.f_locals["bases"] for cls in base.__mro__]
        declared = declaration_of(file, namespace["__qualname__"], namespace, bases)
        topology = accepted(declared.topology(None, ANY_ENVIRONMENT))
    except TopologyError as refused:
        return refused
    except TypeError:
        return None
    problems = list(_streams_of_the_system(topology))
    return TopologyError(problems) if problems else None


def _streams_of_the_system(topology: Topology) -> Iterator[Problem]:
    """Inputs from the system, which are valid, but which streamparse looks for in the class."""
    for bolt in topology.bolts:
        for position, found in enumerate(bolt.inputs):
            if found.source.startswith(SYSTEM_PREFIX):
                place = topology.sources.at("components", bolt.id, "inputs", position)
                yield Problem(place, f"bolt {bolt.id!r}, input from {found.source!r}: {_NO_SYSTEM}")


_NO_SYSTEM = (
    "streamparse refuses a class that names a stream of the system: leave the input out, as ticks come "
    "wherever topology.tick.tuple.freq.secs is set, or derive the class from viperstorm.Topology"
)


def _refusing_frame(error: BaseException) -> FrameType | None:
    dsl = sys.modules.get("streamparse.dsl.topology")
    traceback = error.__traceback__
    while dsl is not None and traceback is not None:
        if traceback.tb_frame.f_code is dsl.TopologyType.__new__.__code__:
            return traceback.tb_frame
        traceback = traceback.tb_next
    return None
