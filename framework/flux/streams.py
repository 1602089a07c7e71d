"""Streams: what each bolt receives, and how it is divided among its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from framework.flux import keys
from framework.flux.objects import read_object
from framework.flux.reading import Reading
from framework.flux.section import Section
from framework.topology import (
    DEFAULT_STREAM,
    ComponentSpec,
    Grouping,
    GroupingKind,
    Input,
    ObjectDef,
    Path,
    Role,
    did_you_mean,
    one_of,
    unknown,
)

_KEYED = (GroupingKind.FIELDS, GroupingKind.PARTIAL_KEY)


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
    if names and kind not in _KEYED:
        message = f"'args' have no effect on {kind}: expected them with {one_of(map(str, _KEYED))}"
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
