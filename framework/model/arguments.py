"""Arguments for user code's callables: they are checked against its parameters, and turned into enums."""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from framework.model.errors import LoadError
from framework.model.topology import did_you_mean, one_of


def fitted(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], *, bound: bool = True
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments as a call takes them. Text for a parameter that is annotated as an enum becomes a member.

    Args:
        function: a class, function or method.
        args: positional arguments.
        kwargs: keyword arguments.
        bound: False for a method taken from its class, whose first parameter is the instance.

    Raises:
        LoadError: they do not fit the parameters; the message names the argument and the parameters.
    """
    signature = _signature(function, bound)
    if signature is None:
        return list(args), dict(kwargs)
    try:
        call = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise LoadError(f"{error}; expected {_shown(signature)}") from None
    hints = _hints(function)
    for name, value in call.arguments.items():
        call.arguments[name] = _coerced(name, value, hints.get(name))
    return list(call.args), dict(call.kwargs)


def _signature(function: Callable[..., Any], bound: bool) -> inspect.Signature | None:
    """None for a callable that is written in C and does not tell its parameters."""
    if isinstance(function, type) and _takes_nothing(function):
        return inspect.Signature()
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    parameters = list(signature.parameters.values())
    return signature if bound else signature.replace(parameters=parameters[1:])


def _takes_nothing(cls: type[Any]) -> bool:
    """True if a class has no constructor: then `inspect` would make a class at each call, a cycle, and find
    that `object` takes nothing."""
    names = {"__init__", "__new__", "__signature__"}
    return not any(names & vars(base).keys() for base in cls.__mro__ if base is not object)


def _shown(signature: inspect.Signature) -> str:
    bare = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return str(inspect.Signature(bare))


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of the parameters; none where they name what does not exist at run time."""
    if isinstance(function, type):
        written = (getattr(function, name) for name in ("__init__", "__new__"))
        function = next(filter(inspect.isfunction, written), object)
    try:
        return typing.get_type_hints(function)
    except Exception:  # whatever stands in an annotation
        return {}


def _coerced(name: str, value: Any, annotation: Any) -> Any:
    members = _enum(annotation)
    if members is None or not isinstance(value, str):
        return value
    if value not in members.__members__:
        allowed = list(members.__members__)
        near = did_you_mean(value, allowed)
        raise LoadError(f"argument {name!r} is {value!r}, expected {one_of(allowed)}{near}")
    return members[value]


def _enum(annotation: Any) -> type[enum.Enum] | None:
    """The enum that an annotation names, alone or as ``Enum | None``."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        found = [_enum(choice) for choice in typing.get_args(annotation)]
        text_is_allowed = str in typing.get_args(annotation)
        return None if text_is_allowed else next(filter(None, found), None)
    is_enum = isinstance(annotation, type) and issubclass(annotation, enum.Enum)
    return annotation if is_enum else None
