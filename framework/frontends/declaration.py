"""Declarations of components, for all front ends in Python, and the lines that hold them.

Topology classes, ours and streamparse's, and the builder all become a list of specs with the lines that
declare them. Nothing after this differs between them.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from framework.model.errors import TopologyError
from framework.model.specs import LATE, Par, Spec, with_late_stream
from framework.model.topology import (
    Argument,
    ComponentSpec,
    Input,
    JavaImplementation,
    Loaded,
    ObjectDef,
    Problem,
    PythonImplementation,
    ShellImplementation,
    SourceMap,
    Stream,
    Topology,
    deserialized,
    last_subscriptions,
    unknown,
)
from framework.model.topology.places import Path as ArgumentPath
from framework.model.topology.places import Place
from framework.operators.standins import STAND_INS

ANY_ENVIRONMENT = "*"
"""The environment in place of one that is chosen later; of all numbers it takes the smallest."""

_PARTS = {"par": "parallelism", "inputs": "inputs", "config": "config"}
"""Arguments of ``spec`` that have a place of their own, and what they are called in a path."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A topology as a front end in Python declares it."""

    name: str
    """Name of the topology, if no other is asked for."""
    specs: Sequence[Spec]
    """In order of definition; every spec has its name."""
    config: Mapping[str, Any]
    sources: SourceMap
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Specs, and a config, that a topology class does not inherit: the class that has each, by attribute."""

    def topology(self, name: str | None = None, environment: str | None = None) -> Loaded:
        """The topology, not validated, and a problem for each part that does not fit into one.

        Args:
            name: name of the topology, if not that of the declaration.
            environment: chooses from a ``par`` that is given per environment.
        """
        problems: list[Problem] = []
        components = tuple(self._component(spec, environment, problems) for spec in self.specs)
        config = deepcopy(dict(self.config))
        topology = Topology(name or self.name, components, config, sources=self.sources)
        topology, replaced = last_subscriptions(topology)
        return Loaded(topology, (*self._not_inherited(), *problems, *replaced))

    def _not_inherited(self) -> Iterator[Problem]:
        """A warning if the class extends one with specs that are not in its own body."""
        if self.left_out:
            owners = " and ".join(dict.fromkeys(self.left_out.values()))
            lines = "; ".join(f"{name} = {owner}.{name}" for name, owner in self.left_out.items())
            yield Problem(
                self.sources.at(),
                "a topology class has the specs and the config of its own body only, and inherits none, as "
                f"in streamparse: to have those of {owners}, too, write in its body: {lines}",
                warning=True,
            )

    def _component(self, spec: Spec, environment: str | None, problems: list[Problem]) -> ComponentSpec:
        name = spec.name or ""
        try:
            parallelism = chosen_parallelism(spec.par, environment)
        except ValueError as error:
            parallelism = 1
            problems.append(Problem(self.sources.at("components", name, "parallelism"), str(error)))
        return ComponentSpec(
            name,
            spec.role,
            spec.implementation,
            self._outputs(spec),
            tuple(Input(stream.component_name, how, stream.streamId) for stream, how in spec.inputs),
            parallelism,
            spec.tasks,
            deepcopy(spec.config),
            dict(spec.resources),
        )

    def _outputs(self, spec: Spec) -> tuple[Stream, ...]:
        """The streams of a component, with the one that its configuration or the topology's has named."""
        if not (spec.outputs and getattr(spec.component_cls, "declares_late_stream", False)):
            return spec.outputs
        return with_late_stream(spec.outputs, spec.config.get(LATE, self.config.get(LATE)))


def class_declaration(
    file: str,
    qualname: str,
    specs: Mapping[str, Spec],
    config: Mapping[str, Any],
    left_out: Mapping[str, str] = {},
) -> Declaration:
    """The declaration of a topology class.

    Args:
        file: path of the file that defines the class.
        qualname: its qualified name there.
        specs: its specs, by attribute.
        config: the topology's configuration.
        left_out: as of `Declaration`.

    Its topology has the name of its file, as for ``sparse``.
    """
    source = class_source(file, qualname)
    name = PurePath(source.file).stem or source.name
    places = SourceMap(dict(_places(source, specs)))
    return Declaration(name, list(specs.values()), config, places, left_out)


def _places(source: ClassSource, specs: Mapping[str, Spec]) -> Iterator[tuple[ArgumentPath, Place]]:
    yield (), source.place()
    yield ("config",), source.place("config")
    for attribute, spec in specs.items():
        component: ArgumentPath = ("components", spec.name or attribute)
        yield component, source.place(attribute)
        for keyword, part in _PARTS.items():
            yield (*component, part), source.place(attribute, keyword)


def chosen_parallelism(par: Par, environment: str | None) -> int:
    """The parallelism in an environment, or the only one there is.

    Raises:
        ValueError: it depends on the environment, and `environment` is None or not named in ``par``.
    """
    if isinstance(par, int):
        return par
    if environment == ANY_ENVIRONMENT:
        return min(par.values())
    if environment is None:
        return _the_only(par)
    if environment not in par:
        raise ValueError(unknown("environment", environment, par))
    return par[environment]


def _the_only(par: Mapping[str, int]) -> int:
    if len(set(par.values())) > 1:
        entries = ", ".join(f"{name!r}: {number}" for name, number in par.items())
        raise ValueError(f"par depends on the environment ({entries}): choose one, with --environment")
    return next(iter(par.values()))


def accepted(loaded: Loaded) -> Topology:
    """The topology, if it is well-formed: ids, inputs, streams, fields and parallelism fit together.

    Raises:
        TopologyError: it is not; the error has whatever else is wrong with it, too.
    """
    # Importing the framework needs no validation, only declaring a topology does.
    from framework.planning.validation import validate

    topology, problems = loaded.topology, loaded.problems
    if topology is None or not all(found.warning for found in problems) or not _is_well_formed(topology):
        wrong = [found for found in validate(topology) if not found.warning] if topology is not None else ()
        # A warning of the declaration may be the cause: that its class inherits no specs.
        raise TopologyError((*problems, *wrong))
    return topology


def _is_well_formed(topology: Topology) -> bool:
    from framework.planning.validation import structure, subscriptions

    rules = (
        structure.check_component_ids,
        structure.check_spouts,
        structure.check_bolts,
        subscriptions.check_sources,
        subscriptions.check_stream_names,
        subscriptions.check_fields,
        structure.check_parallelism,
    )
    return all(problem.warning for rule in rules for problem in rule(topology))


def shell_implementation(command: str | Sequence[str] | None, script: str | None) -> ShellImplementation:
    """A command and its argument, as streamparse splits them; an empty script means no argument.

    Raises:
        ValueError: no command.
        TypeError: ``script`` is None.
    """
    if not command:
        raise ValueError(f"command is required: the program to start, e.g. 'ruby'; found {command!r}")
    if script is None:
        raise TypeError("script is required: the argument of the command, or '' if it takes none")
    head = (command,) if isinstance(command, str) else tuple(command)
    return ShellImplementation((*head, script) if script else head)


def java_implementation(
    serialized_java: bytes | None, full_class_name: str | None, args_list: Sequence[Argument] | None
) -> JavaImplementation | PythonImplementation:
    """A Java class with its constructor's arguments, or a serialized Java object.

    Some of Storm's own classes have a stand-in in Python, which is taken.

    Raises:
        ValueError: there is neither.
        TypeError: an argument of the wrong type.
    """
    if serialized_java is not None:
        return JavaImplementation(deserialized(serialized_java))
    if not full_class_name:
        raise ValueError("full_class_name is required, or serialized_java")
    if args_list is None:
        raise TypeError("args_list is required: the constructor's arguments, [] if it takes none")
    for arg in args_list:
        if not isinstance(arg, bool | int | float | str | bytes):
            raise TypeError(f"a Java argument must be a bool, int, float, str or bytes, found {arg!r}")
    definition = ObjectDef(full_class_name, tuple(args_list), cls=STAND_INS.get(full_class_name))
    return JavaImplementation(definition) if definition.cls is None else PythonImplementation(definition)


_FRAMEWORK = str(Path(__file__).parents[1]) + os.sep

_Statement = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def shown(file: str) -> str:
    """A file's path as a user would write it: relative to the current folder where it is below it."""
    relative = os.path.relpath(file)
    return os.path.abspath(file) if relative.startswith(os.pardir) else relative


def calling_place() -> Place:
    """The line of user code that called into the framework."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_FRAMEWORK) and frame.f_back is not None:
        frame = frame.f_back
    return Place(shown(frame.f_code.co_filename), frame.f_lineno)


@dataclass(frozen=True, slots=True)
class ClassSource:
    """The lines of a class statement; lines that cannot be found are those of what is around them."""

    name: str
    file: str = ""
    line: int = 0
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Lines by (attribute, keyword of the call that makes it); the keyword is "" for the whole."""

    def place(self, attribute: str = "", keyword: str = "") -> Place:
        """The place of an attribute of the class, or of a keyword argument in its value."""
        attribute = written(attribute, self.name)
        line = self.lines.get((attribute, keyword)) or self.lines.get((attribute, "")) or self.line
        return Place(self.file, line, f"{self.name}.{attribute}" if attribute else self.name)

    def attribute_at(self, line: int) -> str:
        """The attribute whose definition covers a line."""
        begun = [(begin, attribute) for (attribute, _), begin in self.lines.items() if begin <= line]
        return max(begun, default=(0, ""))[1]


def written(attribute: str, class_name: str) -> str:
    """A class's attribute as its author wrote it: Python itself calls ``__x`` of a class Y ``_Y__x``."""
    prefix = f"_{class_name.lstrip('_')}"
    return attribute.removeprefix(prefix) if attribute.startswith(f"{prefix}__") else attribute


def file_of(cls: type) -> str:
    """The file that a class is defined in; "" where there is none."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or ""


def class_source(file: str, qualname: str) -> ClassSource:
    """The lines of a class in a file; only its name where the file does not hold it."""
    name = qualname.rpartition(".")[2]
    if not file:
        return ClassSource(name)
    statement = _statement(file, qualname)
    if statement is None:
        return ClassSource(name, shown(file))
    return ClassSource(name, shown(file), statement.lineno, dict(_lines(statement)))


def _statement(file: str, qualname: str) -> ast.ClassDef | None:
    linecache.checkcache(file)
    try:
        found: ast.AST = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None
    for name in qualname.replace(".<locals>", "").split("."):
        named = [node for node in ast.walk(found) if isinstance(node, _Statement) and node.name == name]
        if not named:
            return None
        # Of several definitions of one name the last is the one that counts.
        found = named[-1]
    return found if isinstance(found, ast.ClassDef) else None


def _lines(statement: ast.ClassDef) -> Iterator[tuple[tuple[str, str], int]]:
    for node in statement.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name):
                yield (target.id, ""), node.lineno
                value = getattr(node, "value", None)
                for keyword in value.keywords if isinstance(value, ast.Call) else ():
                    if keyword.arg is not None:
                        yield (target.id, keyword.arg), keyword.lineno
