"""The recipe of an object, as a value: Flux's object definition.

A topology names classes and arguments; it never holds an instance. So it can be printed, compared, and built
again in another process.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any


@dataclass(frozen=True, slots=True)
class Ref:
    """An argument that stands for the bean of that id."""

    id: str


@dataclass(frozen=True, slots=True)
class RefList:
    """An argument that stands for a list of beans."""

    ids: tuple[str, ...]


Argument = Any
"""A plain value (None, bool, int, float, str, bytes, list, dict), a `Ref` or a `RefList`."""


@dataclass(frozen=True, slots=True)
class Property:
    """An attribute that is set after construction, by its setter where there is one."""

    name: str
    value: Argument


@dataclass(frozen=True, slots=True)
class ConfigMethod:
    """A method that is called after construction and properties."""

    name: str
    args: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectDef:
    """The recipe of one object.

    Either ``class_name`` is called with ``args`` and ``kwargs``, or its static or class method ``factory``,
    if one is named, with ``factory_args``. Then properties are set and config methods called, in order.
    """

    class_name: str
    """Dotted path of a Python class (``package.module.Class``), or a Java class name."""
    args: tuple[Argument, ...] = ()
    kwargs: Mapping[str, Argument] = field(default_factory=dict)
    properties: tuple[Property, ...] = ()
    config_methods: tuple[ConfigMethod, ...] = ()
    factory: str | None = None
    factory_args: tuple[Argument, ...] = ()
    cls: type | None = field(default=None, compare=False, repr=False)
    """The class itself where the front end already held it; else it is imported by name."""


@dataclass(frozen=True, slots=True)
class Bean:
    """A shared object that arguments refer to by id (an entry of Flux's ``components``)."""

    id: str
    definition: ObjectDef


def deserialized(serialized: bytes) -> ObjectDef:
    """A serialized Java object, as the call that would read it.

    Raises:
        TypeError: it is not bytes.
    """
    if not isinstance(serialized, bytes):
        raise TypeError(f"a serialized Java object must be bytes, found {serialized!r}")
    return ObjectDef("java.io.ObjectInputStream", factory="readObject", factory_args=(serialized,))


def class_path(cls: type) -> str:
    """``package.module.Class`` of a class, or ``package.Class`` where a package around its module exports it.

    Of several such packages the outermost one counts, as users import the class from there.
    """
    name = cls.__qualname__
    packages = accumulate(cls.__module__.split("."), "{}.{}".format)
    exporting = (package for package in packages if _exports(package, name, cls))
    return f"{next(exporting, cls.__module__)}.{name}"


def _exports(package: str, name: str, cls: type) -> bool:
    found = sys.modules.get(package)
    return found is not None and vars(found).get(name) is cls


def references(definition: ObjectDef) -> Sequence[str]:
    """Ids of all beans that a definition refers to, in order of appearance."""
    arguments: list[Argument] = [*definition.args, *definition.kwargs.values()]
    arguments += [prop.value for prop in definition.properties]
    arguments += [arg for method in definition.config_methods for arg in method.args]
    arguments += definition.factory_args
    found: list[str] = []
    for argument in arguments:
        if isinstance(argument, Ref):
            found.append(argument.id)
        elif isinstance(argument, RefList):
            found.extend(argument.ids)
    return found
