"""Whether the arguments in a definition fit its class, as far as that shows without making the object."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from framework.arguments import fitted
from framework.errors import LoadError
from framework.flux import keys
from framework.flux.nodes import place_of
from framework.flux.reading import Reading
from framework.flux.section import Section
from framework.instantiate import check_method, setter_name
from framework.topology import Argument, ObjectDef
from framework.traits import is_ported


def check_fit(definition: ObjectDef, cls: type, section: Section, reading: Reading) -> None:
    """Report arguments that the constructor or factory, a setter or a config method does not take."""
    fit = _Fit(cls, section, reading)
    if is_ported(cls):
        fit.ported()
        return
    if definition.factory is not None:
        # Of what a factory makes, nothing is known.
        fit.method(definition.factory, definition.factory_args, "factory")
        return
    fit.constructor(definition)
    for index, prop in enumerate(definition.properties):
        setter = setter_name(cls, prop.name)
        if setter is not None:
            fit.method(setter, [prop.value], "properties", index)
    for index, method in enumerate(definition.config_methods):
        fit.method(method.name, method.args, "configMethods", index)


class _Fit:
    def __init__(self, cls: type, section: Section, reading: Reading) -> None:
        self._cls = cls
        self._section = section
        self._reading = reading

    def ported(self) -> None:
        for key in keys.OBJECT:
            if key != "className" and self._section.has(key):
                message = "streamparse makes its components without arguments; pass values in 'config'"
                self._reading.report(self._section.place_of(key), f"{key!r} has no effect: {message}")

    def constructor(self, definition: ObjectDef) -> None:
        try:
            fitted(self._cls, definition.args, definition.kwargs)
        except LoadError as error:
            place = self._section.place_of("constructorArgs")
            self._reading.report(place, f"constructor of {definition.class_name}: {error}")

    def method(self, name: str, args: Sequence[Argument], key: str, index: int | None = None) -> None:
        try:
            check_method(self._cls, name)
            is_unbound = inspect.isfunction(inspect.getattr_static(self._cls, name))
            fitted(getattr(self._cls, name), args, {}, bound=not is_unbound)
        except LoadError as error:
            items = [] if index is None else self._section.items(key)
            # Items that could not be read are not among the definition's, so the index may be one too low.
            place = place_of(items[index]) if index is not None and index < len(items) else None
            self._reading.report(place or self._section.place_of(key), f"{name}: {error}")
