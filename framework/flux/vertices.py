"""Spouts and bolts."""

from __future__ import annotations

from typing import Any

from framework.declaration import chosen_parallelism
from framework.errors import ViperError
from framework.flux import keys
from framework.flux.classes import Declared, declared_by, is_java
from framework.flux.objects import read_object, read_unimported
from framework.flux.outputs import read_outputs
from framework.flux.reading import Reading
from framework.flux.section import Section, value_of
from framework.flux.shell import is_wrapper, read_shell
from framework.topology import (
    ComponentSpec,
    Implementation,
    JavaImplementation,
    Path,
    PythonImplementation,
    Role,
    unknown,
)

_LANGUAGES = ("java", "python")
_NOT_GIVEN = -1
"""What Flux has in place of a number that is not given."""


def read_vertex(section: Section, role: Role, reading: Reading) -> ComponentSpec | None:
    """The component in a section, without its inputs; None if it has no id."""
    component_id = section.required_text("id")
    implementation, declared = _implementation(section, role, reading)
    if component_id is None:
        return None
    path: Path = ("components", component_id)
    reading.places[path] = section.place
    reading.places[(*path, "parallelism")] = section.place_of("parallelism")
    outputs, tasks = read_outputs(section, reading), section.integer("numTasks")
    return ComponentSpec(
        component_id,
        role,
        implementation,
        declared.outputs if outputs is None else outputs,
        parallelism=_parallelism(section, declared, reading),
        tasks=None if tasks == _NOT_GIVEN else tasks,
        config=_config(section, path, declared, reading),
        resources=_resources(section),
    )


def _implementation(section: Section, role: Role, reading: Reading) -> tuple[Implementation, Declared]:
    class_name = section.raw("className") or ""
    if is_wrapper(class_name):
        return read_shell(section, role, reading)
    if _language(section, class_name, reading) == "java":
        return JavaImplementation(read_unimported(section, reading)), Declared()
    definition = read_object(section, reading)
    try:
        declared = declared_by(definition, reading.beans)
    except (TypeError, ValueError) as error:
        reading.report(section.place_of("className"), f"{definition.class_name}: {error}")
        declared = Declared()
    except ViperError as error:
        reading.report(section.place_of("className"), str(error))
        declared = Declared()
    return PythonImplementation(definition), declared


def _language(section: Section, class_name: str, reading: Reading) -> str:
    """What a class is written in, where its name leaves it open."""
    said = section.text("language")
    if said in _LANGUAGES:
        return said
    if said is not None:
        reading.report(section.place_of("language"), unknown("language", said, _LANGUAGES))
    return "java" if is_java(class_name) else "python"


def _parallelism(section: Section, declared: Declared, reading: Reading) -> int:
    given = section.integer("parallelism")
    if section.has("parallelism"):
        return 1 if given is None else given
    try:
        return chosen_parallelism(declared.par, None)
    except ValueError as error:
        reading.report(section.place, f"{section.what} without 'parallelism', and the class's {error}")
        return 1


def _config(section: Section, path: Path, declared: Declared, reading: Reading) -> dict[str, Any]:
    """A component's own config takes the place of its class's; a shell wrapper's is added to."""
    entries = section.entries("config")
    for name, (place, _) in entries.items():
        reading.places[(*path, "config", name)] = place
    own = {name: value_of(node, reading) for name, (_, node) in entries.items()}
    if is_wrapper(section.raw("className") or ""):
        return {**declared.config, **own}
    return own if section.has("config") else dict(declared.config)


def _resources(section: Section) -> dict[str, float]:
    found = {key: section.number(key) for key in keys.RESOURCES}
    return {key: value for key, value in found.items() if value not in (None, _NOT_GIVEN)}
