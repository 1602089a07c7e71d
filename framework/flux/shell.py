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

from framework.flux import keys
from framework.flux.objects import Declared, class_or_problem
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
"""What streamparse prints for a component without outputs."""


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
    """Whether importing a module calls something, e.g. ``SplitBolt().run()``, which reads from stdin."""
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
        methods: Mapping[str, tuple[int, Callable[..., None]]] = {
            "setDefaultStream": (1, self._set_default_stream),
            "setNamedStream": (2, self._set_named_stream),
            "addComponentConfig": (2, self._add_config),
        }
        if name not in methods:
            self._reading.report(section.place_of("name"), unknown("config method", name, methods))
            return
        expected, method = methods[name]
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
