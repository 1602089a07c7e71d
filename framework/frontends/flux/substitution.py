"""``${...}`` in a file: values from properties and from the environment.

Expressions are taken out of the text before it is parsed, and put back as values into the
nodes that it was parsed to. So a value can never break the file's structure, lines keep
their numbers, and comments stay comments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import yaml

from framework.frontends.flux.reading import UNRESOLVED, Reading, place_of, plain_value, scalar
from framework.model.errors import LoadError
from framework.model.topology import Place, did_you_mean, unknown

_ENTRY = re.compile(r"(?P<key>(?:\\.|[^\\=:\s])*)\s*[=:]?\s*(?P<value>.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<char>.))", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}

# A number between two characters of Unicode's private area stands for a part that was taken out.
_MARK = re.compile("\ue000(\\d+)\ue001")

# A file's own marks are taken out as well, so that all that are left are ours.
_EXPRESSION = re.compile(rf"(?P<escaped>\$\$\{{)|\$\{{(?P<inside>[^${{}}\n]*)\}}|{_MARK.pattern}")

_LIST_ITEM = re.compile(r"(?P<key>.+)\[(?P<index>\d+)\]")


def read_properties(path: str | os.PathLike[str]) -> dict[str, str]:
    """The entries of a ``.properties`` file in UTF-8, for `load_flux`.

    Raises:
        LoadError: the file cannot be read.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LoadError(f"properties file {os.fspath(path)!r} cannot be read: {reason}") from error
    return dict(map(_entry, _logical_lines(text)))


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments; one that ends in an odd number of backslashes continues in the next."""
    lines = iter(text.splitlines())
    for line in lines:
        line = line.lstrip()
        if not line or line[0] in "#!":
            continue
        while (len(line) - len(line.rstrip("\\"))) % 2:
            line = line[:-1] + next(lines, "").lstrip()
        yield line


def _entry(line: str) -> tuple[str, str]:
    match = _ENTRY.fullmatch(line)
    assert match is not None  # it matches anything
    return _unescaped(match["key"]), _unescaped(match["value"])


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match["code"]:
        return chr(int(match["code"], 16))
    return _CONTROLS.get(match["char"], match["char"])


class Substitution(Protocol):
    """The replacement of a file's expressions, before and after parsing."""

    def prepared(self, text: str, file: str, reading: Reading) -> str:
        """The text to parse."""

    def expanded(self, node: yaml.ScalarNode, reading: Reading) -> yaml.Node:
        """A node with its final value."""


class Values:
    """The source of the values of expressions.

    Args:
        properties: values by key.
        environ: values of ``${ENV-NAME}``.
    """

    def __init__(self, properties: Mapping[str, str], environ: Mapping[str, str]) -> None:
        self._properties = properties
        self._environ = environ

    def value(self, expression: str) -> str:
        """The value of ``key``, ``key:-default``, ``ENV-NAME`` or ``list[0]``.

        Raises:
            LookupError: it has none; the message says what there is.
        """
        key, has_default, default = expression.partition(":-")
        try:
            return self.known(key.strip())
        except LookupError:
            if has_default:
                return default
            raise

    def known(self, key: str) -> str:
        """As `value`, but without defaults, which are not in Flux."""
        if key.startswith("ENV-"):
            return self._of_environment(key.removeprefix("ENV-"))
        item = _LIST_ITEM.fullmatch(key)
        if item is not None and key not in self._properties:
            return self._item(item["key"], int(item["index"]))
        if key in self._properties:
            return str(self._properties[key])
        what = f"unknown substitution key {key!r}, and no values are given"
        if self._properties:
            what = unknown("substitution key", key, self._properties)
        raise LookupError(f"{what}; give it a value, or a default as in ${{key:-default}}")

    def _of_environment(self, name: str) -> str:
        if name in self._environ:
            return self._environ[name]
        near = did_you_mean(name, self._environ)
        raise LookupError(f"the environment variable {name!r} is not set{near}")

    def _item(self, key: str, index: int) -> str:
        items = _list_in(self.known(key))
        if items is None:
            raise LookupError(f"the value of {key!r} is {self.known(key)!r}, expected a list as in [a, b]")
        if index >= len(items):
            raise LookupError(f"the list {key!r} has no item {index}, only {len(items)}, counted from 0")
        return str(items[index])


class InNodes:
    """Substitution that keeps a file's structure; a line may hold several expressions."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._parts: list[tuple[str, str | None]] = []
        """The meanings of the marks of all files: the text for itself, or with an expression for its
        value."""

    def prepared(self, text: str, file: str, reading: Reading) -> str:
        """The text with a mark in place of each expression."""
        return _EXPRESSION.sub(self._mark, text)

    def _mark(self, match: re.Match[str]) -> str:
        self._parts.append(("${" if match["escaped"] else match[0], match["inside"]))
        return f"\ue000{len(self._parts) - 1}\ue001"

    def expanded(self, node: yaml.ScalarNode, reading: Reading) -> yaml.Node:
        """The node with values in place of marks; a whole plain value may become any YAML."""
        if not _MARK.search(node.value):
            return node
        before = len(reading.problems)
        text = _MARK.sub(lambda match: self._replaced(int(match[1]), place_of(node), reading), node.value)
        if len(reading.problems) > before:
            return yaml.ScalarNode(UNRESOLVED, text, node.start_mark, node.end_mark)
        if node.style:
            return scalar(text, node, quoted=True)
        return _parsed(text, node) if _MARK.fullmatch(node.value) else scalar(text, node)

    def _replaced(self, index: int, place: Place, reading: Reading) -> str:
        text, expression = self._parts[index]
        if expression is None:
            return text
        try:
            return self._values.value(expression)
        except LookupError as error:
            reading.report(place, str(error.args[0]))
            return text


class AsFlux:
    """Substitution in the text, exactly as Flux does it: only the last expression of a line counts."""

    _LAST = re.compile(r".*\$\{(?P<inside>.+)\}")

    def __init__(self, values: Values) -> None:
        self._values = values

    def prepared(self, text: str, file: str, reading: Reading) -> str:
        """The text with values in it; what has no value stays, with a warning."""
        lines = enumerate(text.split("\n"), start=1)
        return "\n".join(self._line(line, Place(file, number), reading) for number, line in lines)

    def _line(self, line: str, place: Place, reading: Reading) -> str:
        match = self._LAST.match(line)
        if match is None:
            return line
        try:
            return line.replace(f"${{{match['inside']}}}", self._values.known(match["inside"]))
        except LookupError as error:
            reading.report(place, f"{error.args[0]}: it stays as it is, as in Flux", warning=True)
            return line

    def expanded(self, node: yaml.ScalarNode, reading: Reading) -> yaml.Node:
        """The node itself."""
        return node


def _list_in(text: str) -> list[object] | None:
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        items = plain_value(root) if root is not None else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return items if isinstance(items, list) else None


def _parsed(text: str, original: yaml.ScalarNode) -> yaml.Node:
    """A whole value in YAML: a list, a mapping or a text where it has their brackets or quotes."""
    text = text.strip()
    if not text.startswith(("[", "{", '"', "'")):
        return scalar(text, original)
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        root = None
    if root is None:
        return scalar(text, original, quoted=True)
    _move(root, original)
    return root


def _move(node: yaml.Node, original: yaml.Node) -> None:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.start_mark is not original.start_mark:
            node.start_mark, node.end_mark = original.start_mark, original.end_mark
            if isinstance(node, yaml.SequenceNode):
                waiting.extend(node.value)
            elif isinstance(node, yaml.MappingNode):
                waiting.extend(part for pair in node.value for part in pair)
