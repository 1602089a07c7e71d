"""A file together with the files that it includes.

Of two entries with the same id or config key one is kept: that of the including file, or that of the included
one if the include says ``override: true``. Streams are added up. An included file may include others; a file
is read once, however many include it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import yaml

from framework.frontends.flux import keys
from framework.frontends.flux.document import read_document
from framework.frontends.flux.reading import Reading, place_of
from framework.frontends.flux.section import Section
from framework.frontends.flux.substitution import Substitution
from framework.model.topology import Place, unknown

Entries = dict[str, tuple[Place, yaml.Node]]


@dataclass(slots=True)
class Draft:
    """The content of one file or several, section by section."""

    place: Place
    name: tuple[Place, str] | None = None
    config: Entries = field(default_factory=dict)
    beans: list[Section] = field(default_factory=list)
    spouts: list[Section] = field(default_factory=list)
    bolts: list[Section] = field(default_factory=list)
    streams: list[Section] = field(default_factory=list)
    order: dict[str, Place] = field(default_factory=dict)
    worker_hooks: list[Section] = field(default_factory=list)
    topology_source: Section | None = None

    def include(self, other: Draft, override: bool) -> None:
        """Add what an included file says."""
        if self.name is None or (override and other.name is not None):
            self.name = other.name
        self.config = {**self.config, **other.config} if override else {**other.config, **self.config}
        self.beans = _merged(self.beans, other.beans, override)
        self.spouts = _merged(self.spouts, other.spouts, override)
        self.bolts = _merged(self.bolts, other.bolts, override)
        self.streams += other.streams
        self.order |= other.order
        self.worker_hooks = _merged(self.worker_hooks, other.worker_hooks, override)
        self.topology_source = self.topology_source or other.topology_source


class Includes:
    """Reads files; each once.

    Args:
        substitution: replaces ``${...}`` in all of them.
        reading: collects what is wrong, and knows the folders of ``resource: true``.
    """

    def __init__(self, substitution: Substitution, reading: Reading) -> None:
        self._substitution = substitution
        self._reading = reading
        self._read: set[str] = set()
        self._open: list[str] = []

    def draft(self, path: str) -> Draft | None:
        """Read a file with its includes; None if it holds no mapping."""
        real = os.path.realpath(path)
        self._read.add(real)
        root = read_document(path, self._substitution, self._reading)
        if root is None:
            return None
        section = Section(root, "a topology", keys.TOPOLOGY, self._reading)
        draft = _own(section)
        self._open.append(real)
        for include in section.sections("includes", "an include", keys.INCLUDE):
            self._include(draft, include, os.path.dirname(path))
        self._open.pop()
        return draft

    def _include(self, draft: Draft, include: Section, folder: str) -> None:
        name = include.required_text("file")
        override = include.flag("override")
        path = None if name is None else self._found(name, include, folder)
        if path is None:
            return
        if os.path.realpath(path) in self._open:
            self._reading.report(include.place_of("file"), f"{name!r} includes itself")
        elif os.path.realpath(path) not in self._read:
            included = self.draft(path)
            if included is not None:
                draft.include(included, override)

    def _found(self, name: str, include: Section, folder: str) -> str | None:
        folders: Sequence[str] = (folder, "")
        if include.flag("resource"):
            # Names of Java's resources begin with a slash, but they lie in these folders all the same.
            folders, name = self._reading.import_paths, name.lstrip("/")
        candidates = [os.path.normpath(os.path.join(folder, name)) for folder in folders]
        found = next(filter(os.path.isfile, candidates), None)
        if found is None:
            tried = " or ".join(repr(path) for path in dict.fromkeys(candidates))
            self._reading.report(include.place_of("file"), f"no such file to include: {tried}")
        return found


def _own(section: Section) -> Draft:
    name, engine = section.text("name"), section.text("type")
    if engine is not None and engine not in keys.TYPES:
        section.report("type", unknown("type of a topology", engine, keys.TYPES))
    return Draft(
        section.place,
        None if name is None else (section.place_of("name"), name),
        section.entries("config"),
        section.sections("components", "a component", keys.BEAN),
        section.sections("spouts", "a spout", keys.VERTEX),
        section.sections("bolts", "a bolt", keys.VERTEX),
        section.sections("streams", "a stream", keys.STREAM),
        {node.value: place_of(node) for node in section.items("order") if isinstance(node, yaml.ScalarNode)},
        section.sections("workerHooks", "a worker hook", keys.BEAN),
        section.section("topologySource", "the topology source", keys.SOURCE),
    )


def _merged(own: list[Section], included: list[Section], override: bool) -> list[Section]:
    """Sections by id, the first file's first; what is overridden keeps its position."""
    ids = {section.raw("id") for section in own} - {None}
    if override:
        others = {section.raw("id"): section for section in included if section.raw("id") in ids}
        own = [others.get(section.raw("id"), section) for section in own]
    return own + [section for section in included if section.raw("id") not in ids]
