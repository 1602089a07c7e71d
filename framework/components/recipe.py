"""The constructor's arguments of an instance, which stands for its class and these in a topology."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from inspect import Signature


class _OfConstructor:
    """Gives a class the signature of its ``__init__``; that of ``__new__`` below accepts anything."""

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
