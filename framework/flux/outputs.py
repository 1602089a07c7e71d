"""Declared streams in a file: ``outputs`` of any component."""

from __future__ import annotations

from framework.flux import keys
from framework.flux.reading import Reading
from framework.flux.section import Section
from framework.topology import DEFAULT_STREAM, Stream


def read_outputs(section: Section, reading: Reading) -> tuple[Stream, ...] | None:
    """The streams under ``outputs``; None if there is no such key."""
    if not section.has("outputs"):
        return None
    found = section.sections("outputs", "an output stream", keys.OUTPUT)
    return tuple(
        Stream(output.texts("fields"), output.text("name") or DEFAULT_STREAM, output.flag("direct"))
        for output in found
    )
