"""Specs from the arguments of ``spec(...)`` and the attributes of a component's class."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from framework.model.instantiate import Beans
from framework.model.specs.late import LATE, with_late_stream
from framework.model.specs.recipe import Recipe, recipe_of
from framework.model.specs.spec import GlobalStreamId, Inputs, Par, Spec
from framework.model.topology import (
    DEFAULT_STREAM,
    Argument,
    Bean,
    Grouping,
    Implementation,
    ObjectDef,
    PythonImplementation,
    Role,
    class_path,
    declared_streams,
)


def bolt_spec(
    component: type | Recipe,
    name: str | None = None,
    inputs: object = None,
    par: Par | None = None,
    config: object = None,
) -> Spec:
    """A bolt as a part of a topology; its ``outputs``, ``par`` and ``config`` are the defaults.

    Args:
        component: its class, or an instance, which stands for its constructor's arguments: plain values.
        name: its id; by default that of the attribute.
        inputs: the streams that it subscribes to.
        par: its parallelism, also per environment.
        config: its own configuration.

    Raises:
        TypeError: an argument or class attribute of the wrong type.
        KeyError: an input from a stream that its spec does not declare.
    """
    cls, args, kwargs = recipe_of(component)
    made = python_implementation(cls, args, kwargs)
    return make_spec(cls, Role.BOLT, made, name, inputs, par, config, component=component)


def spout_spec(
    component: type | Recipe, name: str | None = None, par: Par | None = None, config: object = None
) -> Spec:
    """A spout as a part of a topology; otherwise as `bolt_spec`."""
    cls, args, kwargs = recipe_of(component)
    return make_spec(cls, Role.SPOUT, python_implementation(cls, args, kwargs), name, None, par, config)


def make_spec(
    cls: type,
    role: Role,
    implementation: Implementation,
    name: str | None,
    inputs: object,
    par: Par | None,
    config: object,
    outputs: object = None,
    component: object = None,
) -> Spec:
    """A spec of any kind, its arguments checked; None stands for the attribute of the class.

    If an instance is given as the component, what its methods have configured is below its configuration.
    """
    given = None if config is None else checked_config(config)
    configured = merged_config(cls, _own_config(component, implementation), given)
    declared = declared_streams(_declared(cls, implementation) if outputs is None else outputs)
    if declared and getattr(cls, "declares_late_stream", False):
        declared = with_late_stream(declared, configured.get(LATE))
    return Spec(
        cls,
        role,
        implementation,
        name,
        subscriptions(inputs),
        checked_par(getattr(cls, "par", 1) if par is None else par),
        configured,
        declared,
    )


def _declared(cls: type, implementation: Implementation) -> object:
    if isinstance(implementation, PythonImplementation):
        return outputs_of(implementation.definition)
    return getattr(cls, "outputs", None)


def own_config(definition: ObjectDef, beans: Iterable[Bean] = ()) -> Mapping[str, Any]:
    """What a component's methods configure, of classes that have such; one is made to ask it.

    Args:
        definition: the component, with its class.
        beans: the objects that its arguments may refer to.

    Raises:
        LoadError: it cannot be made.
        ViperError: it refuses its arguments.
    """
    if not hasattr(definition.cls, "component_configuration"):
        return {}
    found: Mapping[str, Any] = Beans(beans).make(definition).component_configuration
    return found


def _own_config(component: object, implementation: Implementation) -> Mapping[str, Any]:
    """Likewise, of an instance whose methods may have been called, if that stands for the component."""
    if not isinstance(implementation, PythonImplementation):
        return {}
    if isinstance(component, Recipe):
        return getattr(component, "component_configuration", {})
    return own_config(implementation.definition)


def merged_config(
    cls: type | None, own: Mapping[str, Any], config: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What a component's methods have configured, below what was given for it, or above its class's."""
    of_class = checked_config(getattr(cls, "config", None))
    found = {**of_class, **own} if config is None else {**own, **config}
    return {key: value for key, value in found.items() if value is not None or key not in own}


def checked_par(par: object) -> Par:
    """An int or a mapping of environment to int; its range is left to validation.

    Raises:
        TypeError: anything else.
    """
    entries = par.items() if isinstance(par, Mapping) else [("", par)]
    if not entries or not all(isinstance(key, str) and isinstance(value, int) for key, value in entries):
        raise TypeError(f"par must be an int >= 1, or a dict of environment name to int, found {par!r}")
    return par  # type: ignore[return-value]


def checked_config(config: object) -> dict[str, Any]:
    """A component's or topology's configuration, copied.

    Raises:
        TypeError: neither None nor a mapping with str keys.
    """
    if config is None:
        return {}
    if not isinstance(config, Mapping) or not all(isinstance(key, str) for key in config):
        raise TypeError(f"config must be a dict with str keys, or None, found {config!r}")
    return dict(config)


def python_implementation(
    cls: type, args: Sequence[Argument] = (), kwargs: Mapping[str, Argument] | None = None
) -> PythonImplementation:
    """A component class that is held, not imported by its name, and its constructor's arguments."""
    return PythonImplementation(ObjectDef(class_path(cls), tuple(args), dict(kwargs or {}), cls=cls))


def outputs_of(definition: ObjectDef, beans: Iterable[Bean] = ()) -> object:
    """The streams that a component declares in ``outputs``, as the user wrote them.

    Where they depend on the component's arguments, one is made to ask it.

    Args:
        definition: the component, with its class.
        beans: the objects that its arguments may refer to.

    Raises:
        LoadError: it cannot be made.
        ViperError: it refuses its arguments.
    """
    declared = inspect.getattr_static(definition.cls, "outputs", None)
    if isinstance(declared, property):
        return Beans(beans).make(definition).outputs
    return getattr(definition.cls, "outputs", None)


_EXPECTED = "expected a spec or a GlobalStreamId, as in inputs=[words] or inputs={words: Grouping.SHUFFLE}"


def subscriptions(inputs: object) -> Inputs:
    """The subscriptions that ``inputs=`` stands for.

    It is a mapping of source to grouping, a list of sources, or one source.

    A source is a spec, which stands for its default stream, or a `GlobalStreamId`.
    Without a grouping a stream is shuffled, or sent directly where the spec says that it is direct.

    Raises:
        TypeError: anything else.
        KeyError: a spec without a default stream.
    """
    if inputs is None:
        return ()
    if isinstance(inputs, Mapping):
        return tuple((_stream_id(source), _grouping(value)) for source, value in inputs.items())
    sources = inputs if isinstance(inputs, list | tuple) else [inputs]
    return tuple((_stream_id(source), _default_grouping(source)) for source in sources)


def _stream_id(source: Any) -> GlobalStreamId:
    if isinstance(source, GlobalStreamId):
        return source
    if isinstance(source, Spec):
        return source[DEFAULT_STREAM]
    if _is_foreign_spec(source):
        source = source[DEFAULT_STREAM]
    if hasattr(source, "componentId") and hasattr(source, "streamId"):
        return GlobalStreamId(source.componentId, source.streamId)
    raise TypeError(f"{source!r} is no input: {_EXPECTED}{_hint(source)}")


def _is_foreign_spec(source: object) -> bool:
    """Whether it is a spec of streamparse's, which is not imported for this."""
    return hasattr(source, "component_cls") and hasattr(source, "component_object")


def _hint(source: object) -> str:
    if isinstance(source, type):
        return f"; did you mean {source.__name__}.spec(...), as an attribute of the topology?"
    if isinstance(source, str):
        return f"; did you mean GlobalStreamId({source!r}, {DEFAULT_STREAM!r})?"
    return ""


def _grouping(value: object) -> Grouping:
    if isinstance(value, Grouping):
        return value
    expected = "expected one of framework's Grouping, e.g. Grouping.SHUFFLE or Grouping.fields('word')"
    raise TypeError(f"{value!r} is no grouping: {expected}")


def _default_grouping(source: object) -> Grouping:
    streams = source.outputs if isinstance(source, Spec) else ()
    direct = any(stream.direct for stream in streams if stream.name == DEFAULT_STREAM)
    return Grouping.DIRECT if direct else Grouping.SHUFFLE
