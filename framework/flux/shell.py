"""Components that are programs: Flux's ``FluxShellSpout`` and ``FluxShellBolt``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml

from framework.flux import keys
from framework.flux.classes import Declared, class_or_problem
from framework.flux.hosted import hosted_class_name
from framework.flux.reading import Reading
from framework.flux.section import Section, text_of, texts_of, value_of
from framework.topology import (
    DEFAULT_STREAM,
    Implementation,
    ObjectDef,
    Place,
    PythonImplementation,
    Role,
    ShellImplementation,
    Stream,
    unknown,
)

WRAPPERS: Mapping[Role, str] = {
    Role.SPOUT: "org.apache.storm.flux.wrappers.spouts.FluxShellSpout",
    Role.BOLT: "org.apache.storm.flux.wrappers.bolts.FluxShellBolt",
}

NO_FIELDS = ("NONE_BUT_FLUX_WANTS_SOMETHING_HERE",)
"""What streamparse prints for a component without outputs."""


def is_wrapper(class_name: str) -> bool:
    """Whether a class name is that of a shell spout or bolt."""
    return class_name in WRAPPERS.values()


def read_shell(section: Section, role: Role, reading: Reading) -> tuple[Implementation, Declared]:
    """A program with the streams and the config that it is given; a Python component is hosted directly."""
    if section.raw("className") != WRAPPERS[role]:
        message = f"{section.what} of class {section.raw('className')!r}: expected {WRAPPERS[role]!r}"
        reading.report(section.place_of("className"), message)
    for key in ("factory", "factoryArgs", "properties", "constructorKwargs"):
        if section.has(key):
            reading.report(section.place_of(key), f"{key!r} has no effect on a program")
    wrapper = _Wrapper(reading)
    command = wrapper.construct(section)
    for method in section.sections("configMethods", "a config method", keys.CONFIG_METHOD):
        wrapper.call(method)
    streams = tuple(Stream(fields, name) for name, fields in wrapper.streams.items() if _is_one(fields))
    implementation = _implementation(command, role, section.place_of("constructorArgs"), reading)
    return implementation, Declared(streams, config=wrapper.config)


def _is_one(fields: Sequence[str]) -> bool:
    return fields not in ((), NO_FIELDS)


def _implementation(command: tuple[str, ...], role: Role, place: Place, reading: Reading) -> Implementation:
    class_name = hosted_class_name(command, role, reading.import_paths)
    if class_name is None:
        return ShellImplementation(command)
    return PythonImplementation(ObjectDef(class_name, cls=class_or_problem(class_name, place, reading)))


class _Wrapper:
    """What the constructor and the config methods of a shell wrapper are given."""

    def __init__(self, reading: Reading) -> None:
        self.streams: dict[str, tuple[str, ...]] = {}
        self.config: dict[str, Any] = {}
        self._reading = reading
        self._methods: Mapping[str, tuple[int, Callable[..., None]]] = {
            "setDefaultStream": (1, self._set_default_stream),
            "setNamedStream": (2, self._set_named_stream),
            "addComponentConfig": (2, self._add_config),
        }

    def construct(self, section: Section) -> tuple[str, ...]:
        """Take the constructor's arguments, and return the command."""
        args = section.items("constructorArgs")
        if not 1 <= len(args) <= 2:
            expected = "expected the command and perhaps the output fields, e.g. [[ruby, split.rb], [word]]"
            message = f"{section.what} with {len(args)} constructor arguments: {expected}"
            self._reading.report(section.place_of("constructorArgs"), message)
            return ()
        if len(args) == 2:
            self._set_default_stream(args[1])
        if isinstance(args[0], yaml.ScalarNode):
            command = text_of(args[0], "the command", self._reading)
            return () if command is None else (command,)
        return texts_of(args[0], "the command", self._reading)

    def call(self, section: Section) -> None:
        """Take the arguments of one config method."""
        name, args = section.required_text("name"), section.items("args")
        if name is None:
            return
        if name not in self._methods:
            self._reading.report(section.place_of("name"), unknown("config method", name, self._methods))
            return
        expected, method = self._methods[name]
        if len(args) == expected:
            method(*args)
        else:
            message = f"{name} with {len(args)} arguments: expected {expected}"
            self._reading.report(section.place_of("args"), message)

    def _set_default_stream(self, fields: yaml.Node) -> None:
        self.streams[DEFAULT_STREAM] = texts_of(fields, "the output fields", self._reading)

    def _set_named_stream(self, name: yaml.Node, fields: yaml.Node) -> None:
        stream = text_of(name, "the stream's name", self._reading)
        if stream is not None:
            self.streams[stream] = texts_of(fields, "the output fields", self._reading)

    def _add_config(self, key: yaml.Node, value: yaml.Node) -> None:
        name = text_of(key, "the config key", self._reading)
        if name is not None:
            self.config[name] = value_of(value, self._reading)
