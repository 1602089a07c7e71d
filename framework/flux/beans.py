"""Shared objects, Flux's ``components``, and the references to them."""

from __future__ import annotations

import graphlib
from collections.abc import Callable, Iterable, Sequence

from framework.flux.objects import read_object, read_unimported
from framework.flux.reading import Reading, Reference
from framework.flux.section import Section
from framework.topology import Bean, ObjectDef, unknown

Read = tuple[Bean, Sequence[Reference]]
"""A bean and what it refers to."""


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
    known = [bean.id for bean in beans]
    for reference in reading.references:
        if reference.bean_id not in known:
            reading.report(reference.place, unknown("component", reference.bean_id, known))


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
