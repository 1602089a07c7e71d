"""Finds the functions that are given by themselves or by name, names steps after them, and calls them."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from framework.common.coroutines import place_of_coroutine
from framework.model.errors import LoadError
from framework.model.importing import import_object

Function = Callable[..., Any] | str
"""A function, or its dotted path: ``package.module.function``."""
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def found(function: Function) -> Callable[..., Any]:
    """The function itself.

    Raises:
        LoadError: nothing has that name, it cannot be called, or it is a coroutine function.
    """
    named = import_object(function) if isinstance(function, str) else function
    if not callable(named):
        raise LoadError(f"{function!r} is a {type(named).__name__}, expected a function")
    if place := place_of_coroutine(named):
        raise LoadError(
            f"{place} is a coroutine function, and nobody awaits what a step calls: write def, or a Bolt "
            "with async def process"
        )
    return named


def told(function: Function) -> Function:
    """A function's dotted path, by which YAML and other processes find it; itself where it has none.

    A lambda has none, nor has a function within a function, nor one of the script that is run.
    """
    if isinstance(function, str):
        return function
    owner = getattr(function, "__objclass__", function)  # of a method of a class in C, such as str.split
    module, name = getattr(owner, "__module__", None), getattr(function, "__qualname__", "")
    if not module or module == "__main__" or not all(map(str.isidentifier, name.split("."))):
        return function
    at: Any = sys.modules.get(module)
    for part in name.split("."):
        at = getattr(at, part, None)
    return f"{module}.{name}" if at is function else function


def check_takes(what: str, function: Callable[..., Any], count: int, meaning: str) -> None:
    """Check that a function can be called with so many arguments.

    Raises:
        TypeError: it cannot.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # written in C, and silent about it
    try:
        signature.bind(*[None] * count)
    except TypeError as error:
        name = getattr(function, "__name__", repr(function))
        raise TypeError(f"{what}({name}): {error}; it is called with {meaning}") from None


def values_of(returned: Any, fields: Sequence[str]) -> tuple[Any, ...]:
    """The values of several fields, which a function has returned.

    Raises:
        TypeError: it is no tuple or list of as many values.
    """
    if isinstance(returned, tuple | list) and len(returned) == len(fields):
        return tuple(returned)
    raise TypeError(
        f"the function has returned {returned!r:.200}: "
        f"expected a tuple of {len(fields)} values, {list(fields)}"
    )


@dataclass(frozen=True, slots=True)
class Stopped:
    """The tuple at which a function has raised, after it was called for the tuples before."""

    index: int
    """The tuple's index."""
    cause: Exception
    """The error that it raised."""


def stopped(index: int, cause: Exception | None) -> Stopped | None:
    """Return the stop of a function that has raised after so many rows; None if it has not raised."""
    return None if cause is None else Stopped(index, cause)


def field_names(fields: Sequence[str]) -> tuple[str, ...]:
    """Names of fields as a step was given them; TypeError where they are none."""
    if isinstance(fields, str) or not all(isinstance(name, str) for name in fields) or not fields:
        raise TypeError(f"fields must be a list of names, found {fields!r}")
    return tuple(fields)


def called_like(bolt: object, function: Function) -> str:
    """The id of a step: its function's name, where it has one that says something."""
    name = function if isinstance(function, str) else getattr(function, "__name__", "")
    name = name.rpartition(".")[2]
    return name if name.isidentifier() else _BETWEEN_WORDS.sub("_", type(bolt).__name__).lower()
