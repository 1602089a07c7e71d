"""A method that is called on a component's class, or on an instance that stands for its arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class SpecMethod(Generic[P, R]):
    """``Words.spec(...)`` and ``Words(3).spec(...)``: the function gets the class, or the instance."""

    def __init__(self, function: Callable[Concatenate[Any, P], R]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: object | None, owner: type) -> Callable[P, R]:
        return MethodType(self._function, owner if instance is None else instance)
