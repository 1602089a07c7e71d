"""Aggregates as plain values, as YAML has them: ``{total: [sum, amount], n: [count]}``.

One aggregate is a list: a name, and the arguments of its class, those that go by keyword in a mapping at the
end. Names of the usual ones are their classes' in lower case, ``top_k``; others are dotted paths.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Final

from framework.model.errors import LoadError
from framework.model.importing import import_class
from framework.model.topology import did_you_mean
from framework.model.topology.objects import class_path
from framework.operators.windows.aggregates.base import Aggregate
from framework.operators.windows.aggregates.distinct import ApproximateDistinct, Distinct
from framework.operators.windows.aggregates.extremes import Max, Min, TopK
from framework.operators.windows.aggregates.in_order import Collect, First, Last
from framework.operators.windows.aggregates.numbers import Count, Mean, StandardDeviation, Sum, Variance
from framework.operators.windows.aggregates.several import Aggregates

Written = Any
"""A list of a name and arguments, or a mapping of such lists by names of results; or an aggregate itself."""

_USUAL: Final[Mapping[str, type[Aggregate[Any, Any]]]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower(): cls
    for cls in (
        *(Count, Sum, Mean, Variance, StandardDeviation, Min, Max, TopK),
        *(First, Last, Collect, Distinct, ApproximateDistinct),
    )
}


def written(aggregate: Aggregate[Any, Any]) -> Written:
    """An aggregate as plain values; itself where its class does not keep its arguments as attributes."""
    if isinstance(aggregate, Aggregates):
        parts = {
            name: written(part) for name, part in zip(aggregate.names, aggregate.parts, strict=True)
        }
        return aggregate if any(isinstance(part, Aggregate) for part in parts.values()) else parts
    cls = type(aggregate)
    names = {cls: name for name, cls in _USUAL.items()}
    arguments = _arguments(aggregate)
    if arguments is None or "<locals>" in cls.__qualname__ or cls.__module__ == "__main__":
        return aggregate
    return [names.get(cls) or class_path(cls), *arguments]


def read(given: Written) -> Aggregate[Any, Any]:
    """The aggregate of plain values.

    Raises:
        LoadError: it is none, its class is not found, or does not take these arguments.
    """
    if isinstance(given, Aggregate):
        return given
    if isinstance(given, Mapping):
        try:
            return Aggregates(**{name: read(part) for name, part in given.items()})
        except TypeError as error:
            raise LoadError(str(error)) from error
    name, *arguments = given if isinstance(given, list | tuple) and given else [given]
    if not isinstance(name, str):
        raise LoadError(f"aggregate {given!r}: expected a list such as [sum, amount], or a mapping of such")
    cls = _class_of(name)
    named = arguments.pop() if arguments and isinstance(arguments[-1], Mapping) else {}
    try:
        return cls(*arguments, **named)
    except (TypeError, ValueError) as error:
        raise LoadError(f"aggregate {given!r}: {error}") from error


def _class_of(name: str) -> type[Aggregate[Any, Any]]:
    if name in _USUAL:
        return _USUAL[name]
    if "." not in name:
        near = did_you_mean(name, _USUAL)
        raise LoadError(f"aggregate {name!r}: expected one of {list(_USUAL)}, or a dotted path{near}")
    cls = import_class(name)
    if not issubclass(cls, Aggregate):
        raise LoadError(f"aggregate {name!r} is no class derived from Aggregate")
    return cls


def _arguments(aggregate: Aggregate[Any, Any]) -> list[Any] | None:
    """Return the constructor's arguments, from the attributes of the same names; None if they are not all
    there."""
    given: list[Any] = []
    named: dict[str, Any] = {}
    skipped = False
    for name, parameter in inspect.signature(type(aggregate)).parameters.items():
        is_several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if is_several or not hasattr(aggregate, name):
            return None
        value = getattr(aggregate, name)
        if value == parameter.default:
            skipped = True
        elif parameter.kind is parameter.KEYWORD_ONLY or skipped:
            named[name] = value
        else:
            given.append(value)
    return [*given, named] if named else given
