"""Definitions of objects: their classes, their arguments, and the references between them."""

from __future__ import annotations

import graphlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from framework.frontends.flux import keys
from framework.frontends.flux.reading import Reading, Reference, place_of
from framework.frontends.flux.section import Section, value_of
from framework.model.arguments import fitted
from framework.model.errors import LoadError
from framework.model.importing import import_class, looks_like_java
from framework.model.instantiate import check_method, setter_name
from framework.model.specs import Par, checked_par, merged_config, outputs_of, own_config
from framework.model.topology import (
    Argument,
    Bean,
    ConfigMethod,
    ObjectDef,
    Place,
    Property,
    Ref,
    RefList,
    Stream,
    declared_streams,
    unknown,
)
from framework.operators.standins import STAND_INS
from framework.planning.traits import is_ported

Read = tuple[Bean, Sequence[Reference]]
"""A bean and what it refers to."""


def is_java(class_name: str) -> bool:
    """True if a name is that of a Java class which has no stand-in."""
    return class_name not in STAND_INS and looks_like_java(class_name)


def class_or_problem(class_name: str, place: Place, reading: Reading) -> type | None:
    """The class of that name; None for a Java class, and for one that is not found, which is reported."""
    if not class_name or is_java(class_name):
        return None
    if class_name in STAND_INS:
        return STAND_INS[class_name]
    try:
        return import_class(class_name)
    except LoadError as error:
        reading.report(place, str(error))
    except SystemExit as error:
        reading.report(place, f"{class_name!r}: importing it ended the process, with status {error.code!r}")
    return None


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations of a component's class, which the file may override."""

    outputs: tuple[Stream, ...] | None = None
    """None where they cannot be known."""
    par: Par = 1
    config: Mapping[str, Any] = field(default_factory=dict)
    """Its configuration where the file gives none."""
    own_config: Mapping[str, Any] = field(default_factory=dict)
    """The configuration by its methods, which ranks below that in the file."""


def declared_by(definition: ObjectDef, beans: Sequence[Bean]) -> Declared:
    """The attributes ``outputs``, ``par`` and ``config`` of a component, as in Python's front ends.

    Raises:
        TypeError: one of them is of the wrong type.
        ValueError: two streams have one name.
        ViperError: the outputs depend on the arguments, and these are refused.
    """
    cls = definition.cls
    if cls is None or not hasattr(cls, "outputs"):
        return Declared()
    own = own_config(definition, beans)
    return Declared(
        declared_streams(outputs_of(definition, beans)),
        checked_par(getattr(cls, "par", 1)),
        merged_config(cls, own, None),
        own,
    )


def read_object(section: Section, reading: Reading) -> ObjectDef:
    """The definition in a section, its class imported, its arguments checked against the class."""
    definition = read_unimported(section, reading)
    cls = class_or_problem(definition.class_name, section.place_of("className"), reading)
    if cls is None:
        return definition
    definition = replace(definition, cls=cls)
    check_fit(definition, cls, section, reading)
    return definition


def read_unimported(section: Section, reading: Reading) -> ObjectDef:
    """The definition in a section as it is written there."""
    args, kwargs = _constructor_args(section, reading)
    return ObjectDef(
        section.required_text("className") or "",
        args,
        kwargs,
        tuple(_properties(section, reading)),
        tuple(_config_methods(section, reading)),
        section.text("factory"),
        _arguments(section, "factoryArgs", reading),
    )


def _constructor_args(section: Section, reading: Reading) -> tuple[tuple[Argument, ...], dict[str, Argument]]:
    """Positional arguments are a list, keyword arguments a mapping; both need both keys."""
    named = _keywords(section, "constructorKwargs", reading)
    if isinstance(section.node("constructorArgs"), yaml.MappingNode):
        return (), _keywords(section, "constructorArgs", reading) | named
    return _arguments(section, "constructorArgs", reading), named


def _keywords(section: Section, key: str, reading: Reading) -> dict[str, Argument]:
    return {name: _argument(node, reading) for name, (_, node) in section.entries(key).items()}


def _arguments(section: Section, key: str, reading: Reading) -> tuple[Argument, ...]:
    return tuple(_argument(node, reading) for node in section.items(key))


def _argument(node: yaml.Node, reading: Reading) -> Argument:
    """A plain value, or a reference: a mapping whose only key is ``ref`` or ``reflist``."""
    if isinstance(node, yaml.MappingNode) and len(node.value) == 1:
        key = node.value[0][0].value
        if key in ("ref", "reflist"):
            return _reference(Section(node, "a reference", [key], reading), reading)
    return value_of(node, reading)


def _reference(section: Section, reading: Reading) -> Argument:
    if section.node("reflist") is not None:
        for item in section.items("reflist"):
            reading.references.append(Reference(str(item.value), place_of(item), in_list=True))
        return RefList(section.texts("reflist"))
    bean_id = section.required_text("ref")
    if bean_id is None:
        return None
    reading.references.append(Reference(bean_id, section.place_of("ref")))
    return Ref(bean_id)


def _properties(section: Section, reading: Reading) -> Iterator[Property]:
    for prop in section.sections("properties", "a property", keys.PROPERTY):
        name = prop.required_text("name")
        if sum(prop.has(key) for key in ("value", "ref", "reflist")) > 1:
            reading.report(prop.place, "a property has one of 'value', 'ref' and 'reflist', found several")
        if name is not None:
            refers = prop.has("ref") or prop.has("reflist")
            yield Property(name, _reference(prop, reading) if refers else prop.value("value"))


def _config_methods(section: Section, reading: Reading) -> Iterator[ConfigMethod]:
    for method in section.sections("configMethods", "a config method", keys.CONFIG_METHOD):
        name = method.required_text("name")
        args = _arguments(method, "args", reading)
        if name is not None:
            yield ConfigMethod(name, args)


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


def read_beans(sections: Iterable[Section], reading: Reading) -> tuple[Bean, ...]:
    """The beans, each after those that it refers to."""
    found = _read(sections, read_object, reading)
    position = {bean.id: index for index, (bean, _) in enumerate(found)}
    later = [
        reference
        for index, (_, references) in enumerate(found)
        for reference in references
        if position.get(reference.bean_id, -1) >= index
    ]
    # As in Flux, a file's own beans stand in the order of their use; included ones may stand anywhere.
    misplaced = [ref for ref in later if ref.place.file == reading.places["beans", ref.bean_id].file]
    for reference in misplaced:
        line = reading.places["beans", reference.bean_id].line
        message = f"component {reference.bean_id!r} is declared in line {line}: move it up, above its use"
        reading.report(reference.place, message)
    return _sorted(found, reading) if later and not misplaced else tuple(bean for bean, _ in found)


def read_worker_hooks(sections: Iterable[Section], reading: Reading) -> tuple[Bean, ...]:
    """The worker hooks; they are kept, not made, so their classes are not imported."""
    return tuple(bean for bean, _ in _read(sections, read_unimported, reading))


def check_references(beans: Iterable[Bean], reading: Reading) -> None:
    """Report references to beans that do not exist."""
    known = {bean.id for bean in beans}
    for reference in reading.references:
        if reference.bean_id in known:
            continue
        message = unknown("component", reference.bean_id, known)
        if reference.in_list:
            message += "; the list holds null in its place, as in Flux"
        reading.report(reference.place, message, warning=reference.in_list)


def _read(
    sections: Iterable[Section], read: Callable[[Section, Reading], ObjectDef], reading: Reading
) -> list[Read]:
    found: list[Read] = []
    for section in sections:
        start = len(reading.references)
        bean_id = section.required_text("id")
        definition = read(section, reading)
        if bean_id is not None:
            reading.places["beans", bean_id] = section.place
            found.append((Bean(bean_id, definition), reading.references[start:]))
    return found


def _sorted(found: Sequence[Read], reading: Reading) -> tuple[Bean, ...]:
    beans = {bean.id: bean for bean, _ in found}
    needs = {bean.id: [ref.bean_id for ref in references] for bean, references in found}
    try:
        return tuple(
            beans[name] for name in graphlib.TopologicalSorter(needs).static_order() if name in beans
        )
    except graphlib.CycleError as error:
        circle = error.args[1]
        message = f"components need each other in a circle: {' -> '.join(reversed(circle))}"
        reading.report(reading.places["beans", circle[0]], message)
        return tuple(bean for bean, _ in found)
