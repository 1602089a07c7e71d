"""From a topology to a file that is loaded to an equal one.

Only what is not the default is printed, in the order in which a reader asks for it."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from framework.frontends.flux.objects import Declared, declared_by, is_java
from framework.frontends.flux.shell import WRAPPERS
from framework.model.errors import TopologyError, ViperError
from framework.model.topology import (
    DEFAULT_STREAM,
    Argument,
    Bean,
    ComponentSpec,
    Grouping,
    Input,
    JavaImplementation,
    ObjectDef,
    Problem,
    Property,
    PythonImplementation,
    Ref,
    RefList,
    ShellImplementation,
    Stream,
    Topology,
    about,
)

_WIDTH = 100
_SCALARS = (bool, int, float, str, bytes, datetime.date)

Printed = dict[str, Any]


def dumped(value: Mapping[str, Any]) -> str:
    """The value as a block of YAML, in which no text is taken for an expression to replace.

    Raises:
        TypeError: it contains what is no plain value.
    """
    return yaml.dump(
        _plain(value),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=False,
    )


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """Write out what occurs several times."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists in mappings as well."""
        super().increase_indent(flow, False)


def _represent_list(dumper: yaml.SafeDumper, data: list[Any]) -> yaml.Node:
    is_short = all(isinstance(item, _SCALARS) or item is None for item in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=is_short)


def _represent_text(dumper: yaml.SafeDumper, data: str) -> yaml.Node:
    # Other styles lose some of Unicode's line breaks.
    style = None if data.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(str, _represent_text)


def _plain(value: Any) -> Any:
    """A copy in YAML's own types, with the ``${`` of texts escaped."""
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return str(value).replace("${", "$${")
    if value is None or isinstance(value, bool | datetime.date):
        return value
    # Of subclasses, e.g. an enum's, YAML knows nothing.
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bytes):
        return bytes(value)
    hint = "; give one of a module, which has a dotted path" if inspect.isfunction(value) else ""
    raise TypeError(f"{value!r} is a {type(value).__name__}, which YAML has no plain value for{hint}")


def to_flux(topology: Topology) -> str:
    """The topology in Flux's YAML format.

    Raises:
        TopologyError: components have arguments or a configuration that are no plain values.
        TypeError: so has the topology itself, or one of its beans.
    """
    if problems := list(_unprintable(topology)):
        raise TopologyError(problems)
    return "\n".join(dumped({key: value}) for key, value in _sections(topology).items() if value)


def _unprintable(topology: Topology) -> Iterator[Problem]:
    for component in topology.components:
        try:
            _plain(_vertex(component, topology.beans))
        except TypeError as error:
            yield about(topology, component, f"cannot be printed: {error}")


def _sections(topology: Topology) -> Printed:
    return {
        "name": topology.name,
        "config": dict(topology.config),
        "components": [_bean(bean) for bean in topology.beans],
        "spouts": [_vertex(spout, topology.beans) for spout in topology.spouts],
        "bolts": [_vertex(bolt, topology.beans) for bolt in topology.bolts],
        "streams": [
            _stream(component.id, found) for component in topology.components for found in component.inputs
        ],
        "order": _order(topology),
        "workerHooks": [_bean(hook) for hook in topology.worker_hooks],
    }


def _order(topology: Topology) -> list[str]:
    """The ids as they were defined, if that is not all spouts before all bolts."""
    if topology.components == (*topology.spouts, *topology.bolts):
        return []
    return [component.id for component in topology.components]


def _bean(bean: Bean) -> Printed:
    return {"id": bean.id, **_object(bean.definition)}


def _object(definition: ObjectDef) -> Printed:
    args, kwargs = _arguments(definition.args), {name: _argument(v) for name, v in definition.kwargs.items()}
    return {
        "className": definition.class_name,
        **_given(
            constructorArgs=args or kwargs,
            constructorKwargs=kwargs if args else {},
            factory=definition.factory,
            factoryArgs=_arguments(definition.factory_args),
            properties=[_property(prop) for prop in definition.properties],
            configMethods=[
                {"name": method.name, **_given(args=_arguments(method.args))}
                for method in definition.config_methods
            ],
        ),
    }


def _given(**entries: Any) -> Printed:
    """Entries that say something: neither None nor empty."""
    return {key: value for key, value in entries.items() if value is not None and value not in ([], {})}


def _arguments(arguments: Sequence[Argument]) -> list[Any]:
    return [_argument(argument) for argument in arguments]


def _argument(argument: Argument) -> Any:
    if isinstance(argument, Ref):
        return {"ref": argument.id}
    if isinstance(argument, RefList):
        return {"reflist": list(argument.ids)}
    return argument


def _property(prop: Property) -> Printed:
    if isinstance(prop.value, Ref | RefList):
        return {"name": prop.name, **_argument(prop.value)}
    return {"name": prop.name, "value": prop.value}


def _vertex(component: ComponentSpec, beans: Sequence[Bean]) -> Printed:
    made, declared = _implementation(component, beans)
    return {
        "id": component.id,
        **made,
        **_given(
            parallelism=component.parallelism if component.parallelism != declared.par else None,
            numTasks=component.tasks,
            **component.resources,
        ),
        **({"config": dict(component.config)} if component.config != declared.config else {}),
        **_outputs(component, declared),
    }


def _implementation(component: ComponentSpec, beans: Sequence[Bean]) -> tuple[Printed, Declared]:
    """Return the printed implementation of a component, and what a loader knows from that alone."""
    match component.implementation:
        case ShellImplementation():
            return _shell(component, component.implementation)
        case PythonImplementation(definition):
            return _object(definition), _declared(definition, beans)
        case JavaImplementation(definition):
            language = None if is_java(definition.class_name) else "java"
            return {**_object(definition), **_given(language=language)}, Declared()


def _declared(definition: ObjectDef, beans: Sequence[Bean]) -> Declared:
    try:
        return declared_by(definition, beans)
    except (TypeError, ValueError, ViperError):
        # Loading reports the error, and then goes on as if the class declared nothing.
        return Declared()


def _outputs(component: ComponentSpec, declared: Declared) -> Printed:
    if component.outputs is None or component.outputs == declared.outputs:
        return {}
    return {"outputs": [_output(stream) for stream in component.outputs]}


def _output(stream: Stream) -> Printed:
    name = stream.name if stream.name != DEFAULT_STREAM else None
    schema = None if stream.schema is None else stream.schema.named(stream.fields)
    given = _given(direct=stream.direct or None, schema=schema)
    return {**_given(name=name), "fields": list(stream.fields), **given}


def _shell(component: ComponentSpec, program: ShellImplementation) -> tuple[Printed, Declared]:
    """The wrapper's own words for streams and config, where they suffice; every Flux knows them."""
    outputs = component.outputs or ()
    is_said = all(stream.fields and not stream.direct and stream.schema is None for stream in outputs)
    said = outputs if is_said else ()
    default = [list(stream.fields) for stream in said[:1] if stream.name == DEFAULT_STREAM]
    methods = [_called("setNamedStream", stream.name, list(stream.fields)) for stream in said[len(default) :]]
    methods += [_called("addComponentConfig", key, value) for key, value in component.config.items()]
    methods += [_called("setEnv", dict(program.env))] if program.env else []
    methods += [_called("changeChildCWD", False)] if program.stays else []
    made = {
        "className": WRAPPERS[component.role],
        "constructorArgs": [list(program.command), *default],
        **_given(configMethods=methods),
    }
    return made, Declared(said, config=component.config)


def _called(method: str, *args: Any) -> Printed:
    return {"name": method, "args": list(args)}


def _stream(target: str, found: Input) -> Printed:
    return {"from": found.source, "to": target, "grouping": _grouping(found.grouping, found.stream)}


def _grouping(grouping: Grouping, stream: str) -> Printed:
    custom = None if grouping.definition is None else _object(grouping.definition)
    return {
        "type": grouping.kind.value,
        **_given(
            streamId=stream if stream != DEFAULT_STREAM else None,
            args=list(grouping.names),
            customClass=custom,
        ),
    }
