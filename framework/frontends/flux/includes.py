"""A file together with the files that it includes.

Of two entries with the same id or config key one is kept: that of the including file, or that of the included
one if the include says ``override: true``. Streams are added up. An included file may include others; a file
is read once, however many include it.

A file becomes YAML nodes that can be walked without care. Every ``${...}`` has been replaced, and merge keys
(``<<``) have been followed. No mapping has a key twice, and nothing contains itself.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import yaml

from framework.frontends.flux import keys
from framework.frontends.flux.reading import Reading, described, kind_of, place_of
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


Pair = tuple[yaml.Node, yaml.Node]


def read_document(path: str, substitution: Substitution, reading: Reading) -> yaml.MappingNode | None:
    """The top mapping of a file; None, and a problem reported, if there is none."""
    text = _text(path, reading)
    root = None if text is None else _composed(text, path, substitution, reading)
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        expected = "expected a topology: a mapping with name, spouts, bolts and streams"
        reading.report(place_of(root), f"found {described(root)}, {expected}")
        return None
    return root


def _text(path: str, reading: Reading) -> str | None:
    try:
        with open(path, "rb") as file:
            content = file.read()
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        reading.report(
            Place(path, line), f"found the byte {content[error.start]:#04x}, expected text in UTF-8"
        )
    except (OSError, ValueError) as error:
        reading.report(Place(path), f"cannot be read: {getattr(error, 'strerror', None) or error}")
    return None


def _composed(text: str, path: str, substitution: Substitution, reading: Reading) -> yaml.Node | None:
    stream = io.StringIO(substitution.prepared(text, path, reading))
    # The name shows in the marks of all nodes.
    stream.name = path
    try:
        root = yaml.compose(stream, yaml.SafeLoader)
        if root is None:
            reading.report(Place(path, 1), "the file is empty, expected a topology")
            return None
        return _Tidying(substitution, reading).tidy(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(filter(None, [error.context, error.problem]))
        reading.report(Place(path, mark.line + 1 if mark else 0), f"no valid YAML: {said}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        reading.report(Place(path, line), f"no valid YAML: the character {error.character!r} is not allowed")
    except RecursionError:
        reading.report(Place(path), "no valid topology: mappings and lists are nested too deeply")
    return None


class _Tidying:
    """One walk over all nodes of a file."""

    def __init__(self, substitution: Substitution, reading: Reading) -> None:
        self._substitution = substitution
        self._reading = reading
        # With the node itself: an id counts only as long as its node lives.
        self._done: dict[int, tuple[yaml.Node, yaml.Node]] = {}
        self._open: set[int] = set()

    def tidy(self, node: yaml.Node) -> yaml.Node:
        """The node that replaces a node.

        Raises:
            MarkedYAMLError: it contains itself.
        """
        if id(node) in self._open:
            message = "an alias refers to what it is a part of"
            raise yaml.MarkedYAMLError(problem=message, problem_mark=node.start_mark)
        if id(node) not in self._done:
            self._open.add(id(node))
            self._done[id(node)] = (node, self._tidied(node))
            self._open.discard(id(node))
        return self._done[id(node)][1]

    def _tidied(self, node: yaml.Node) -> yaml.Node:
        if isinstance(node, yaml.ScalarNode):
            expanded = self._substitution.expanded(node, self._reading)
            return expanded if isinstance(expanded, yaml.ScalarNode) else self.tidy(expanded)
        if isinstance(node, yaml.MappingNode):
            node.value = self._without_merges(
                [(self.tidy(key), self.tidy(value)) for key, value in node.value]
            )
        elif isinstance(node, yaml.SequenceNode):
            node.value = [self.tidy(item) for item in node.value]
        return node

    def _without_merges(self, pairs: list[Pair]) -> list[Pair]:
        own = [pair for pair in pairs if kind_of(pair[0]) != "merge"]
        unique = {_name(key): (key, value) for key, value in reversed(own)}
        for key, _ in own:
            first = unique[_name(key)][0]
            if first is not key:
                message = f"the key {key.value!r} is given again, after line {place_of(first).line}"
                self._reading.report(place_of(key), message)
        merged = [pair for pair in pairs if kind_of(pair[0]) == "merge"]
        for key, value in (inner for _, source in merged for inner in self._merged(source)):
            unique.setdefault(_name(key), (key, value))
        return _in_order(own, unique)

    def _merged(self, source: yaml.Node) -> Iterator[Pair]:
        sources = source.value if isinstance(source, yaml.SequenceNode) else [source]
        for mapping in sources:
            if isinstance(mapping, yaml.MappingNode):
                yield from mapping.value
            else:
                self._reading.report(
                    place_of(mapping), f"'<<' merges {described(mapping)}, expected a mapping"
                )


def _name(key: yaml.Node) -> tuple[str, object]:
    """Return a value that is equal for equal keys of a mapping."""
    return (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else (key.tag, id(key))


def _in_order(own: list[Pair], unique: dict[tuple[str, object], Pair]) -> list[Pair]:
    names = dict.fromkeys([_name(key) for key, _ in own] + list(unique))
    return [unique[name] for name in names]
