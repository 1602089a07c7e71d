"""Components that are programs: Flux's shell wrappers, and the Python components behind some of them.

A Python component is hosted directly, instead of through pipes and JSON. Its script is looked at without
being run: one that does more than define a component at its top level stays a program."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import yaml

from framework.frontends.flux import keys
from framework.frontends.flux.objects import Declared, class_or_problem
from framework.frontends.flux.reading import Reading, described, place_of
from framework.frontends.flux.section import Section, text_of, texts_of, value_of
from framework.model.topology import (
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

_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_LIBRARIES = ("viperstorm", "framework", "streamparse", "pystorm")
_BASES = {
    Role.SPOUT: ("Spout", "ReliableSpout"),
    Role.BOLT: ("Bolt", "BatchingBolt", "TicklessBatchingBolt"),
}

WRAPPERS: Mapping[Role, str] = {
    Role.SPOUT: "org.apache.storm.flux.wrappers.spouts.FluxShellSpout",
    Role.BOLT: "org.apache.storm.flux.wrappers.bolts.FluxShellBolt",
}

NO_FIELDS = ("NONE_BUT_FLUX_WANTS_SOMETHING_HERE",)
"""The outputs that streamparse prints for a component without outputs."""


def hosted_class_name(command: Sequence[str], role: Role, folders: Sequence[str]) -> str | None:
    """The dotted path of the component that a command runs; None if it is another program.

    Args:
        command: ``streamparse_run [-s serializer] module.Class`` or ``python script.py``, in one
            string or several.
        role: whether the script's spouts or its bolts count.
        folders: where scripts are looked up.
    """
    words = " ".join(command).split()
    if not words:
        return None
    program = PurePath(words[0]).name
    if program == "streamparse_run":
        return _of_streamparse_run(words[1:])
    if _PYTHON.fullmatch(program) and len(words) == 2 and words[1].endswith(".py"):
        return _of_script(PurePath(words[1]), role, folders)
    return None


def _of_streamparse_run(arguments: list[str]) -> str | None:
    if arguments and arguments[0] in ("-s", "--serializer"):
        arguments = arguments[2:]
    return arguments[0] if len(arguments) == 1 else None


def _of_script(script: PurePath, role: Role, folders: Sequence[str]) -> str | None:
    if script.is_absolute() or ".." in script.parts:
        return None
    file = next((found for folder in folders if (found := Path(folder, script)).is_file()), None)
    tree = None if file is None else _parsed(file)
    if tree is None or _does_something(tree):
        return None
    classes = [
        node.name for node in tree.body if isinstance(node, ast.ClassDef) and _is_component(node, tree, role)
    ]
    return ".".join([*script.with_suffix("").parts, classes[0]]) if len(classes) == 1 else None


def _parsed(file: Path) -> ast.Module | None:
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _does_something(tree: ast.Module) -> bool:
    """True if importing a module calls something, e.g. ``SplitBolt().run()``, which reads from stdin."""
    calls = (node for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return any(calls)


def _is_component(node: ast.ClassDef, tree: ast.Module, role: Role) -> bool:
    names = set(_base_names(tree, role))
    return any(ast.unparse(base) in names for base in node.bases)


def _base_names(tree: ast.Module, role: Role) -> Iterator[str]:
    """The names under which a module knows the libraries' base classes."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in _LIBRARIES:
            for alias in node.names:
                name = alias.asname or alias.name
                yield from (
                    [name] if alias.name in _BASES[role] else [f"{name}.{base}" for base in _BASES[role]]
                )
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in _LIBRARIES:
                    yield from (f"{alias.asname or alias.name}.{base}" for base in _BASES[role])


def is_wrapper(class_name: str) -> bool:
    """True if a class name is that of a shell spout or bolt."""
    return class_name in WRAPPERS.values()


def read_shell(section: Section, role: Role, reading: Reading) -> tuple[Implementation, Declared]:
    """A program with the streams and the config that it is given; a Python component is hosted directly."""
    if section.raw("className") != WRAPPERS[role]:
        message = f"{section.what} of class {section.raw('className')!r}: expected {WRAPPERS[role]!r}"
        reading.report(section.place_of("className"), message)
    for key in ("factory", "factoryArgs", "constructorKwargs"):
        if section.has(key):
            reading.report(section.place_of(key), f"{key!r} has no effect on a program")
    wrapper = _Wrapper(reading)
    command = wrapper.construct(section)
    for given in section.sections("properties", "a property", keys.PROPERTY):  # before the methods, as Flux
        wrapper.set(given)
    for method in section.sections("configMethods", "a config method", keys.CONFIG_METHOD):
        wrapper.call(method)
    streams = tuple(Stream(fields, name) for name, fields in wrapper.streams.items() if _is_one(fields))
    program = ShellImplementation(command, wrapper.env, wrapper.stays)
    implementation = _implementation(program, role, section.place_of("constructorArgs"), reading)
    return implementation, Declared(streams, config=wrapper.config)


def _is_one(fields: Sequence[str]) -> bool:
    return fields not in ((), NO_FIELDS)


def _implementation(
    program: ShellImplementation, role: Role, place: Place, reading: Reading
) -> Implementation:
    if program.env or program.stays:  # which a component that shares its process cannot have for itself
        return program
    class_name = hosted_class_name(program.command, role, reading.import_paths)
    if class_name is None:
        return program
    return PythonImplementation(ObjectDef(class_name, cls=class_or_problem(class_name, place, reading)))


class _Wrapper:
    """Takes the arguments of the constructor and of the config methods of a shell wrapper.

    Its methods are those of `FluxShellBolt` and `FluxShellSpout`, and those that they inherit from Storm's
    `ShellBolt` and `ShellSpout` and that can be called from a file: `setEnv` and `changeChildCWD`. Flux takes
    a property for the argument of the setter of its name.
    """

    def __init__(self, reading: Reading) -> None:
        self.streams: dict[str, tuple[str, ...]] = {}
        self.config: dict[str, Any] = {}
        self.env: dict[str, str] = {}
        self.stays = False
        self._reading = reading
        self._methods: Mapping[str, tuple[int, Callable[..., None]]] = {
            "setDefaultStream": (1, self._set_default_stream),
            "setNamedStream": (2, self._set_named_stream),
            "addComponentConfig": (2, self._add_config),
            "setEnv": (1, self._set_env),
            "changeChildCWD": (1, self._change_child_cwd),
        }
        self._properties = {"defaultStream": self._set_default_stream, "env": self._set_env}

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

    def set(self, section: Section) -> None:
        """Take the value of one property."""
        name, value = section.required_text("name"), section.node("value")
        if name is None:
            return
        if name not in self._properties:
            message = unknown("property of a program", name, self._properties)
            self._reading.report(section.place_of("name"), message)
        elif value is None:
            self._reading.report(section.place, f"the property {name!r} without 'value': expected one")
        else:
            self._properties[name](value)

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

    def _set_env(self, env: yaml.Node) -> None:
        if not isinstance(env, yaml.MappingNode):
            found = f"the environment is {described(env)}, expected a mapping of variables to texts"
            self._reading.report(place_of(env), found)
            return
        self.env = {}
        for name, value in env.value:
            variable = text_of(name, "the name of a variable", self._reading)
            text = text_of(value, f"the variable {variable!r}", self._reading)
            if variable is not None and text is not None:
                self.env[variable] = text

    def _change_child_cwd(self, changes: yaml.Node) -> None:
        value = value_of(changes, self._reading)
        if isinstance(value, bool):
            self.stays = not value
        else:
            found = f"changeChildCWD of {described(changes)}, expected true or false"
            self._reading.report(place_of(changes), found)
