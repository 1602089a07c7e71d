"""Components as they are declared:

``Cls.spec(...)`` and the values that its arguments may hold.

The base classes of components need this to offer ``spec``, and so do the front ends; it knows neither.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

from framework.model.instantiate import Beans
from framework.model.topology import (
    DEFAULT_STREAM,
    Argument,
    Bean,
    Grouping,
    Implementation,
    ObjectDef,
    PythonImplementation,
    Role,
    Stream,
    class_path,
    declared_streams,
    unknown,
)

if TYPE_CHECKING:
    from inspect import Signature

    from framework.model.topology import Argument


class Named(Protocol):
    """A spec, ours or streamparse's; it has its name from the moment its topology class exists."""

    name: str | None
    component_cls: type


@dataclass(frozen=True, slots=True)
class GlobalStreamId:
    """A stream of a component, by the component's name or its spec.

    By name it may refer to a component that is declared further down, which is how
    a topology with a cycle is written. The attributes are called as in streamparse.

    Raises:
        TypeError: the component is neither a str nor a spec, or the stream is no str.
    """

    componentId: str | Named
    streamId: str = DEFAULT_STREAM

    def __post_init__(self) -> None:
        if not isinstance(self.componentId, str) and not hasattr(self.componentId, "name"):
            raise TypeError(f"componentId must be a component's name or spec, found {self.componentId!r}")
        if not isinstance(self.streamId, str):
            raise TypeError(f"streamId must be a str, found {self.streamId!r}")

    @property
    def component_name(self) -> str:
        """Name of the component, or words for a spec that has none yet."""
        if isinstance(self.componentId, str):
            return self.componentId
        return self.componentId.name or f"<unnamed spec of {self.componentId.component_cls.__name__}>"


Par = int | Mapping[str, int]
"""Parallelism, or the parallelism in each environment."""

Inputs = tuple[tuple[GlobalStreamId, Grouping], ...]
"""Subscriptions in the order in which they were declared."""


@dataclass(slots=True, eq=False, repr=False)
class Spec:
    """A component with its inputs, parallelism and configuration.

    ``spec["stream"]`` names one of its streams as an input of another component.
    """

    component_cls: type
    role: Role
    implementation: Implementation
    name: str | None = None
    """Id of the component; the topology class gives it the attribute's name if None."""
    inputs: Inputs = ()
    par: Par = 1
    config: dict[str, Any] = field(default_factory=dict)
    outputs: tuple[Stream, ...] = ()
    tasks: int | None = None
    """Number of tasks, where it differs from the parallelism."""
    resources: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"name must be a str, found {self.name!r}")

    def __getitem__(self, stream: str) -> GlobalStreamId:
        """The stream of that name.

        Raises:
            KeyError: the component declares no such stream.
        """
        names = [output.name for output in self.outputs]
        if stream not in names:
            raise KeyError(unknown(f"stream of {self.component_cls.__name__}", stream, names))
        return GlobalStreamId(self, stream)

    def __repr__(self) -> str:
        return f"<{self.role} spec {self.name or '(not named yet)'} of {self.component_cls.__name__}>"


P = ParamSpec("P")
R = TypeVar("R")


_OURS = ("framework.", "spark_ingest.")
"""The first words of the names of the framework's modules."""


class _OfConstructor:
    """The signature of a class is that of its ``__init__``, not of the ``__new__`` that takes anything."""

    def __get__(self, instance: object | None, owner: type) -> Signature:
        import inspect

        found = inspect.signature(owner.__init__)  # type: ignore[misc]
        return found.replace(parameters=list(found.parameters.values())[1:])


class Recipe:
    """Remembers the arguments of its constructor, and of those of its bases that the framework defines."""

    _arguments: tuple[tuple[Any, ...], Mapping[str, Any]] = ((), {})
    _given: Mapping[type, tuple[tuple[Any, ...], Mapping[str, Any]]] = {}
    """By class of the framework's, what its constructor was given, also by the constructor of a subclass."""
    __signature__ = _OfConstructor()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls) and cls.__module__.startswith(_OURS):
            cls.__init__ = _noting(cls, cls.__init__)  # type: ignore[method-assign]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Keep the arguments."""
        made = super().__new__(cls)
        made._arguments = (args, kwargs)
        return made


def given_to(component: Recipe) -> dict[str, Any]:
    """Return the arguments that the framework's constructors of a component got, by name; defaults too.

    Arguments of a base give way to those of the class that has called it, if both have one of that name.
    """
    import inspect

    found: dict[str, Any] = {}
    for cls in type(component).__mro__:
        if cls in component._given:
            args, kwargs = component._given[cls]
            signature = inspect.signature(cls.__init__)  # type: ignore[misc]
            bound = signature.bind(component, *args, **kwargs)
            bound.apply_defaults()
            kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
            for name, value in [*bound.arguments.items()][1:]:
                if kinds[name] is inspect.Parameter.VAR_KEYWORD:
                    found = {**value, **found}
                elif kinds[name] is not inspect.Parameter.VAR_POSITIONAL:
                    found.setdefault(name, value)
    return found


def _noting(cls: type, init: Callable[..., None]) -> Callable[..., None]:
    """A constructor that notes what it is given."""

    @functools.wraps(init)
    def noted(self: Recipe, *args: Any, **kwargs: Any) -> None:
        self._given = {**self._given, cls: (args, kwargs)}
        init(self, *args, **kwargs)

    return noted


class SpecMethod(Generic[P, R]):
    """``Words.spec(...)`` and ``Words(3).spec(...)``: the function gets the class, or the instance."""

    def __init__(self, function: Callable[Concatenate[Any, P], R]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: object | None, owner: type) -> Callable[P, R]:
        return MethodType(self._function, owner if instance is None else instance)


def recipe_of(component: type | Recipe) -> tuple[type, tuple[Argument, ...], Mapping[str, Argument]]:
    """The class of a component, and the arguments of its constructor, by position and by name."""
    if isinstance(component, type):
        return component, (), {}
    return type(component), *component._arguments


LATE = "viper.timestamp.late"
"""The key that says what becomes of late rows: one of `NO_STREAM`, or the name of a stream for them."""
NO_STREAM = ("error", "drop", "admit")


def with_late_stream(outputs: tuple[Stream, ...], late: object) -> tuple[Stream, ...]:
    """The streams of a spout, with that of late rows, whose fields and types are those of the first stream.

    Args:
        outputs: the streams that it declares, at least one.
        late: the value of `LATE`.
    """
    names = {stream.name for stream in outputs}
    if not isinstance(late, str) or not late or late in NO_STREAM or late in names:
        return outputs
    first = outputs[0]
    return (*outputs, Stream(first.fields, late, first.direct, first.schema))


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
    """The configuration by a component's methods, of classes that have such; one is made to ask it.

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
    """Return a component's configuration, with that by its methods: below the explicit one, above its
    class's."""
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
    """Return the streams that a component declares in ``outputs``, as the user wrote them.

    If they depend on the component's arguments, a component is made to ask it.

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
    """True if it is a spec of streamparse's, which is not imported for this."""
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
