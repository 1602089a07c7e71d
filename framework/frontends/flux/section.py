"""One mapping of a file, read key by key.

A wrong value is reported, and read as absent, so that the rest of the file is read as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from framework.frontends.flux.reading import (
    UNRESOLVED,
    Reading,
    described,
    is_null,
    kind_of,
    place_of,
    plain_value,
    scalar,
)
from framework.model.topology import Place, unknown

_TEXT_AS_WRITTEN = ("str", "int", "float", "bool", "timestamp", "value", UNRESOLVED)


class Section:
    """A mapping whose keys are known.

    Args:
        node: the mapping.
        what: what it describes, e.g. ``"a bolt"``.
        keys: its keys; any other is reported.
        reading: collects what is wrong.
    """

    def __init__(self, node: yaml.MappingNode, what: str, keys: Iterable[str], reading: Reading) -> None:
        self.place = place_of(node)
        self.what = what
        self._reading = reading
        self._keys: dict[str, yaml.Node] = {}
        self._values: dict[str, yaml.Node] = {}
        allowed = list(keys)
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else described(key)
            if name in allowed:
                self._keys[name], self._values[name] = key, value
            else:
                reading.report(place_of(key), unknown(f"key of {what}", name, allowed))

    def place_of(self, key: str) -> Place:
        """Return the place of a key; the section's own place if it is absent."""
        return place_of(self._keys[key]) if key in self._keys else self.place

    def report(self, key: str, message: str) -> None:
        """Add a problem at a key's place."""
        self._reading.report(self.place_of(key), message)

    def node(self, key: str) -> yaml.Node | None:
        """The value of a key; None if it is null or absent."""
        node = self._values.get(key)
        return None if node is None or is_null(node) else node

    def has(self, key: str) -> bool:
        """True if a key has a value."""
        return self.node(key) is not None

    def raw(self, key: str) -> str | None:
        """A scalar as it is written; None if it is none. Nothing is reported."""
        node = self.node(key)
        return node.value if isinstance(node, yaml.ScalarNode) else None

    def text(self, key: str) -> str | None:
        """A text. Numbers and bools are taken as they are written, as by Flux: an id may be 1."""
        node = self.node(key)
        return None if node is None else text_of(node, key, self._reading)

    def required_text(self, key: str) -> str | None:
        """A text that must be there."""
        if not self.has(key):
            self._reading.report(self.place, f"{self.what} without {key!r}: expected a text")
        return self.text(key)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty if absent."""
        node = self.node(key)
        return () if node is None else texts_of(node, key, self._reading)

    def integer(self, key: str) -> int | None:
        """A whole number."""
        value = self._unquoted(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        self._refuse(key, "a whole number")
        return None

    def number(self, key: str) -> float | None:
        """A number."""
        value = self._unquoted(key)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        self._refuse(key, "a number")
        return None

    def flag(self, key: str) -> bool:
        """A bool; false if absent."""
        value = self._unquoted(key)
        if value is None or isinstance(value, bool):
            return bool(value)
        self._refuse(key, "true or false")
        return False

    def value(self, key: str) -> Any:
        """Any plain value."""
        node = self.node(key)
        return None if node is None else value_of(node, self._reading)

    def items(self, key: str) -> list[yaml.Node]:
        """The items of a list; none if absent."""
        node = self.node(key)
        if node is not None and not isinstance(node, yaml.SequenceNode):
            self._refuse(key, "a list")
            return []
        return [] if node is None else list(node.value)

    def entries(self, key: str) -> dict[str, tuple[Place, yaml.Node]]:
        """The entries of a mapping with keys of the user's own; none if absent."""
        node = self.node(key)
        if node is not None and not isinstance(node, yaml.MappingNode):
            self._refuse(key, "a mapping")
            return {}
        pairs = [] if node is None else node.value
        named = ((text_of(name, f"a key of {key}", self._reading), name, value) for name, value in pairs)
        return {text: (place_of(name), value) for text, name, value in named if text is not None}

    def section(self, key: str, what: str, keys: Iterable[str]) -> Section | None:
        """A mapping with known keys; None if absent."""
        node = self.node(key)
        return None if node is None else self._section_of(node, what, keys)

    def sections(self, key: str, what: str, keys: Iterable[str]) -> list[Section]:
        """A list of mappings with known keys."""
        found = [self._section_of(node, what, keys) for node in self.items(key)]
        return [section for section in found if section is not None]

    def _section_of(self, node: yaml.Node, what: str, keys: Iterable[str]) -> Section | None:
        if isinstance(node, yaml.MappingNode):
            return Section(node, what, keys, self._reading)
        _unexpected(node, what, "a mapping", self._reading)
        return None

    def _unquoted(self, key: str) -> Any:
        """A plain value; as for Flux, a number may be in quotes, where it was perhaps substituted."""
        node = self.node(key)
        if isinstance(node, yaml.ScalarNode):
            node = scalar(node.value, node)
        return None if node is None else value_of(node, self._reading)

    def _refuse(self, key: str, expected: str) -> None:
        _unexpected(self._values[key], key, expected, self._reading)


def _unexpected(node: yaml.Node, what: str, expected: str, reading: Reading) -> None:
    if node.tag != UNRESOLVED:
        reading.report(place_of(node), f"{what} is {described(node)}, expected {expected}")


def value_of(node: yaml.Node, reading: Reading) -> Any:
    """The plain value of a node; None, and a problem, for what is none."""
    try:
        return plain_value(node)
    except ValueError as error:
        reading.report(place_of(node), str(error))
        return None


def text_of(node: yaml.Node, what: str, reading: Reading) -> str | None:
    """The text of a scalar as it is written; None, and a problem, for anything else."""
    if isinstance(node, yaml.ScalarNode) and kind_of(node) in _TEXT_AS_WRITTEN:
        return str(node.value)
    _unexpected(node, what, "a text", reading)
    return None


def texts_of(node: yaml.Node, what: str, reading: Reading) -> tuple[str, ...]:
    """The texts in a list; what is none is reported and left out."""
    if not isinstance(node, yaml.SequenceNode):
        _unexpected(node, what, "a list of texts", reading)
        return ()
    found = [text_of(item, f"an item of {what}", reading) for item in node.value]
    return tuple(text for text in found if text is not None)
