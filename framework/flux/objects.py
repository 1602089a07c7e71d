"""Definitions of objects: classes, arguments, properties, config methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import yaml

from framework.flux import keys
from framework.flux.classes import class_or_problem
from framework.flux.fitting import check_fit
from framework.flux.nodes import place_of
from framework.flux.reading import Reading, Reference
from framework.flux.section import Section, value_of
from framework.topology import Argument, ConfigMethod, ObjectDef, Property, Ref, RefList


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
    """The definition in a section as it stands there."""
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
            reading.references.append(Reference(str(item.value), place_of(item)))
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
