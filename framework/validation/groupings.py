"""Groupings: they fit the streams that they divide."""

from __future__ import annotations

from collections.abc import Iterator

from framework.errors import LoadError
from framework.importing import import_class, importable
from framework.topology import GroupingKind, ObjectDef, Problem, Topology, unknown
from framework.validation.classes import is_java
from framework.validation.names import repeated
from framework.validation.subscriptions import Subscription, subscriptions

_KEYED = (GroupingKind.FIELDS, GroupingKind.PARTIAL_KEY)


def check_fields(topology: Topology) -> Iterator[Problem]:
    """A grouping by key names fields of the stream, each once, and at least one."""
    for found in subscriptions(topology):
        if found.input.grouping.kind in _KEYED:
            for message in _wrong_with_fields(found):
                yield found.problem(message, "grouping")


def check_direct(topology: Topology) -> Iterator[Problem]:
    """Direct streams, and only these, have a direct grouping."""
    for found in subscriptions(topology):
        if found.stream is None:
            continue
        name, kind = found.stream.name, found.input.grouping.kind
        if found.stream.direct and kind is not GroupingKind.DIRECT:
            message = f"stream {name!r} is direct: expected a {GroupingKind.DIRECT} grouping, found {kind}"
            yield found.problem(message, "grouping")
        if kind is GroupingKind.DIRECT and not found.stream.direct:
            message = f"stream {name!r} is not direct: expected another grouping than {kind}, or direct=True"
            yield found.problem(f"{message} where it is declared", "grouping")


def check_custom(topology: Topology) -> Iterator[Problem]:
    """A custom grouping has a class with the two methods that will be called."""
    for found in subscriptions(topology):
        if found.input.grouping.kind is GroupingKind.CUSTOM:
            complaint = _wrong_with_class(topology, found.input.grouping.definition)
            if complaint:
                yield found.problem(complaint, "grouping")


def _wrong_with_fields(found: Subscription) -> Iterator[str]:
    names = found.input.grouping.names
    if not names:
        yield f"{found.input.grouping.kind} grouping without fields: expected at least one"
    for name in repeated(names):
        yield f"the grouping names the field {name!r} more than once"
    for name in dict.fromkeys(names):
        if found.stream is not None and name not in found.stream.fields:
            yield unknown("field", name, found.stream.fields)


def _wrong_with_class(topology: Topology, definition: ObjectDef | None) -> str | None:
    if definition is None:
        return "a custom grouping without a class"
    if definition.factory is not None or is_java(definition):
        return None
    try:
        with importable(topology.import_paths):
            cls = definition.cls or import_class(definition.class_name)
    except LoadError as error:
        return str(error)
    missing = [name for name in ("prepare", "choose_tasks") if not hasattr(cls, name)]
    if not missing:
        return None
    return f"{definition.class_name} is no custom grouping: it has no {' and no '.join(missing)}"
