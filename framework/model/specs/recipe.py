"""Recipes of components: a class or an instance can stand for a component in a topology."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar

if TYPE_CHECKING:
    from inspect import Signature

    from framework.model.topology import Argument

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
    """The arguments of the framework's constructors that a component went through, by name; defaults too.

    Those of a base stand behind those of the class that has called it, if both have one of that name.
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
