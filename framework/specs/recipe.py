"""Recipes of components: a class or an instance can stand for a component in a topology."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar

if TYPE_CHECKING:
    from inspect import Signature

    from framework.topology import Argument

P = ParamSpec("P")
R = TypeVar("R")


class _OfConstructor:
    """The signature of a class is that of its ``__init__``, not of the ``__new__`` that takes anything."""

    def __get__(self, instance: object | None, owner: type) -> Signature:
        import inspect

        found = inspect.signature(owner.__init__)  # type: ignore[misc]
        return found.replace(parameters=list(found.parameters.values())[1:])


class Recipe:
    """Remembers the arguments of its constructor."""

    _arguments: tuple[tuple[Any, ...], Mapping[str, Any]] = ((), {})
    __signature__ = _OfConstructor()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Keep the arguments."""
        made = super().__new__(cls)
        made._arguments = (args, kwargs)
        return made


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
