"""Spouts, bolts, and the streams that lead from one to the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from framework.frontends.declaration import chosen_parallelism
from framework.frontends.flux import keys
from framework.frontends.flux.objects import Declared, declared_by, is_java, read_object, read_unimported
from framework.frontends.flux.reading import Reading
from framework.frontends.flux.section import Section, value_of
from framework.frontends.flux.shell import is_wrapper, read_shell
from framework.model.errors import ViperError
from framework.model.specs import merged_config
from framework.model.topology import (
    DEFAULT_STREAM,
    ComponentSpec,
    Grouping,
    GroupingKind,
    Implementation,
    Input,
    JavaImplementation,
    ObjectDef,
    Path,
    PythonImplementation,
    Role,
    Stream,
    did_you_mean,
    one_of,
    unknown,
)
from framework.model.topology.grouping import BY_FIELDS

_LANGUAGES = ("java", "python")

_NOT_GIVEN = -1
"""Flux's value for a number that is absent."""


def read_outputs(section: Section, reading: Reading) -> tuple[Stream, ...] | None:
    """The streams under ``outputs``; None if there is no such key."""
    if not section.has("outputs"):
        return None
    found = section.sections("outputs", "an output stream", keys.OUTPUT)
    return tuple(_output(output, reading) for output in found)


def _output(section: Section, reading: Reading) -> Stream:
    schema = section.value("schema") if section.has("schema") else None
    fields = section.texts("fields") if section.has("fields") or schema is None else None
    name, direct = section.text("name") or DEFAULT_STREAM, section.flag("direct")
    try:
        return Stream(fields, name, direct, schema)
    except (TypeError, ValueError) as error:
        reading.report(section.place_of("schema"), str(error))
        return Stream(fields, name, direct)


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
    """Return the language of a class, if its name leaves it open."""
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
    return merged_config(None, declared.own_config, own) if section.has("config") else dict(declared.config)


def _resources(section: Section) -> dict[str, float]:
    found = {key: section.number(key) for key in keys.RESOURCES}
    return {key: value for key, value in found.items() if value not in (None, _NOT_GIVEN)}


def with_inputs(
    components: Sequence[ComponentSpec], streams: Iterable[Section], reading: Reading
) -> tuple[ComponentSpec, ...]:
    """The components with the streams that lead to them, in the order of the file."""
    inputs: dict[str, list[Input]] = {component.id: [] for component in components}
    bolts = [component.id for component in components if component.role is Role.BOLT]
    for section in streams:
        target = section.required_text("to")
        if target is not None and target not in inputs:
            reading.report(section.place_of("to"), unknown("bolt", target, bolts))
        # A stream that leads nowhere is read for what else may be wrong with it.
        _read_stream(section, target, inputs.get(target or "", []), reading)
    # Of several components with one id, which is a mistake anyway, only the first gets them.
    return tuple(replace(component, inputs=tuple(inputs.pop(component.id, ()))) for component in components)


def _read_stream(section: Section, target: str | None, inputs: list[Input], reading: Reading) -> None:
    section.text("name")
    source = section.required_text("from")
    grouping, stream = _read_grouping(section, reading)
    if target is None or source is None:
        return
    path: Path = ("components", target, "inputs", len(inputs))
    reading.places[path] = section.place
    reading.places[(*path, "grouping")] = section.place_of("grouping")
    inputs.append(Input(source, grouping, stream))


def _read_grouping(section: Section, reading: Reading) -> tuple[Grouping, str]:
    found = section.section("grouping", "a grouping", keys.GROUPING)
    if found is None:
        if not section.has("grouping"):
            reading.report(section.place, "a stream without 'grouping': expected one, e.g. {type: SHUFFLE}")
        return Grouping.SHUFFLE, DEFAULT_STREAM
    kind = _kind(found, reading)
    names = found.texts("args")
    custom = _custom(found, reading)
    if names and kind not in BY_FIELDS:
        message = f"'args' have no effect on {kind}: expected them with {one_of(map(str, BY_FIELDS))}"
        reading.report(found.place_of("args"), message, warning=True)
        names = ()
    if custom is not None and kind is not GroupingKind.CUSTOM:
        message = f"'customClass' has no effect on {kind}: expected it with {GroupingKind.CUSTOM.value!r}"
        reading.report(found.place_of("customClass"), message, warning=True)
        custom = None
    return Grouping(kind, names, custom), found.text("streamId") or DEFAULT_STREAM


def _kind(section: Section, reading: Reading) -> GroupingKind:
    name = section.required_text("type")
    if name is None or name in GroupingKind.__members__:
        return GroupingKind[name or "SHUFFLE"]
    kinds = list(GroupingKind.__members__)
    message = f"unknown grouping type {name!r}: expected {one_of(kinds)}{did_you_mean(name.upper(), kinds)}"
    reading.report(section.place_of("type"), message)
    return GroupingKind.SHUFFLE


def _custom(section: Section, reading: Reading) -> ObjectDef | None:
    custom = section.section("customClass", "a custom grouping", keys.OBJECT)
    return None if custom is None else read_object(custom, reading)
