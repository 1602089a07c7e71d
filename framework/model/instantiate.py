"""Objects from their definitions: components, custom groupings and the beans that they share."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from framework.model.arguments import fitted
from framework.model.errors import LoadError
from framework.model.importing import import_class
from framework.model.topology import (
    Argument,
    Bean,
    ObjectDef,
    Property,
    Ref,
    RefList,
    did_you_mean,
    unknown,
)


class Beans:
    """A topology's shared objects. Each is made when it is first needed, and once."""

    def __init__(self, beans: Iterable[Bean]) -> None:
        self._definitions = {bean.id: bean.definition for bean in beans}
        self._made: dict[str, object] = {}
        self._in_the_making: list[str] = []

    def make(self, definition: ObjectDef) -> Any:
        """A new object, constructed, with its properties set and its config methods called.

        Raises:
            LoadError: its class cannot be imported, its arguments do not fit, a bean that it
                refers to cannot be made, or user code raised; the message says which.
        """
        cls = definition.cls or import_class(definition.class_name)
        made = self._constructed(cls, definition)
        for prop in definition.properties:
            self._set(made, prop)
        for method in definition.config_methods:
            check_method(type(made), method.name)
            name = f"{definition.class_name}.{method.name}"
            self._call(name, getattr(made, method.name), self._resolved(method.args))
        return made

    def bean(self, bean_id: str) -> Any:
        """The bean of that id; errors as of `make`."""
        if bean_id not in self._definitions:
            raise LoadError(unknown("component", bean_id, self._definitions))
        if bean_id in self._in_the_making:
            circle = " -> ".join([*self._in_the_making, bean_id])
            raise LoadError(f"components need each other in a circle: {circle}")
        if bean_id not in self._made:
            self._in_the_making.append(bean_id)
            try:
                self._made[bean_id] = self.make(self._definitions[bean_id])
            except LoadError as error:
                raise LoadError(f"component {bean_id!r}: {error}") from error
            finally:
                self._in_the_making.pop()
        return self._made[bean_id]

    def _constructed(self, cls: type, definition: ObjectDef) -> Any:
        if definition.factory is None:
            kwargs = dict(zip(definition.kwargs, self._resolved(definition.kwargs.values()), strict=True))
            return self._call(definition.class_name, cls, self._resolved(definition.args), kwargs)
        check_method(cls, definition.factory)
        name = f"{definition.class_name}.{definition.factory}"
        return self._call(name, getattr(cls, definition.factory), self._resolved(definition.factory_args))

    def _set(self, made: Any, prop: Property) -> None:
        value = self._resolved([prop.value])[0]
        setter = setter_name(type(made), prop.name)
        if setter is not None:
            self._call(f"{type(made).__name__}.{setter}", getattr(made, setter), [value])
        elif prop.name in _attributes(made):
            setattr(made, prop.name, value)
        else:
            raise LoadError(unknown(f"property of {type(made).__name__}", prop.name, _attributes(made)))

    def _resolved(self, arguments: Iterable[Argument]) -> list[Any]:
        return [self._value(argument) for argument in arguments]

    def _value(self, argument: Argument) -> Any:
        if isinstance(argument, Ref):
            return self.bean(argument.id)
        if isinstance(argument, RefList):
            # Storm puts null where a list names an object that does not exist; loading has warned of it.
            return [self.bean(found) if found in self._definitions else None for found in argument.ids]
        # What an object does to its arguments is seen by no other.
        return copy.deepcopy(argument)

    def _call(
        self,
        name: str,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            args, keywords = fitted(function, args, kwargs or {})
            return function(*args, **keywords)
        except LoadError as error:
            raise LoadError(f"{name}: {error}") from error
        except Exception as error:
            raise LoadError(f"{name} raised {type(error).__name__}: {error}") from error


def check_method(cls: type, name: str) -> None:
    """Make sure that a class has a method of that name.

    Raises:
        LoadError: it has none.
    """
    if not callable(getattr(cls, name, None)):
        methods = [other for other in dir(cls) if callable(getattr(cls, other, None)) and other[0] != "_"]
        raise LoadError(f"{cls.__name__} has no method {name!r}{did_you_mean(name, methods)}")


def setter_name(cls: type, name: str) -> str | None:
    """Name of the method ``set_x`` or ``setX`` that sets a property ``x``; None without one."""
    candidates = (f"set_{name}", f"set{name[:1].upper()}{name[1:]}")
    return next((candidate for candidate in candidates if callable(getattr(cls, candidate, None))), None)


def _attributes(made: object) -> list[str]:
    """Public attributes, found without asking the instance for their values."""
    names = {*dir(type(made)), *getattr(made, "__dict__", {})}
    names.update(*(getattr(cls, "__annotations__", {}) for cls in type(made).__mro__))
    return sorted(name for name in names if not name.startswith("_"))
