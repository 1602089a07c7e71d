"""YAML nodes as values that were expected there, and what is wrong with them, line by line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import yaml

from framework.model.topology import Place, Problem, unknown

_PLAIN = re.compile(r"[A-Za-z_][\w-]*")
_KEYWORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


class Nodes:
    """Reads nodes of one file, and gathers what is wrong with them.

    Args:
        file: its name, for messages.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self.problems: list[Problem] = []
        """The problems that were found so far."""

    def report(self, node: yaml.Node, message: str) -> None:
        """Say what is wrong with a node."""
        self.problems.append(Problem(Place(self._file, node.start_mark.line + 1), message))

    def unknown(self, node: yaml.Node, found: str, what: str, known: Iterable[str]) -> None:
        """Say that a name within a node stands for nothing."""
        self.report(node, unknown(what, found, known))

    def mapping(
        self, node: yaml.Node | None, expected: str, keys: Sequence[str] | None = None
    ) -> dict[str, yaml.Node]:
        """Read the nodes of a mapping, by key; none if there is no node, or none of that kind.

        Args:
            node: should be a mapping.
            expected: of it, in words.
            keys: that it may have; None for any.
        """
        if node is None:
            return {}
        if not isinstance(node, yaml.MappingNode):
            self.report(node, f"found {_described(node)}, expected {expected}")
            return {}
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.report(key, f"found {_described(key)}, expected a name")
            elif keys is not None and key.value not in keys:
                self.unknown(key, key.value, "key", keys)
            elif key.value in found:
                self.report(key, f"found {key.value} once more, expected it once")
            else:
                found[key.value] = value
        return found

    def items(self, node: yaml.Node | None, expected: str) -> list[yaml.Node]:
        """Read the nodes of a list; none if there is no node, or none of that kind."""
        if node is None:
            return []
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        self.report(node, f"found {_described(node)}, expected {expected}")
        return []

    def needed(self, found: Mapping[str, yaml.Node], key: str, within: yaml.Node) -> yaml.Node | None:
        """Read the node at a key that has to be there."""
        if key not in found and isinstance(within, yaml.MappingNode):
            self.report(within, f"found no {key}, expected one")
        return found.get(key)

    def text(self, node: yaml.Node | None, expected: str) -> str:
        """A text; an empty one where there is none."""
        if node is None or isinstance(node, yaml.ScalarNode):
            return "" if node is None else str(node.value)
        self.report(node, f"found {_described(node)}, expected {expected}")
        return ""

    def number(self, node: yaml.Node | None, default: float, *, above: float = -math.inf) -> float:
        """A finite number that is not negative.

        Args:
            node: should be one.
            default: where there is no node.
            above: it must be above this.
        """
        if node is None:
            return default
        number = _as_float(node)
        if number is not None and math.isfinite(number) and number >= 0 and number > above:
            return number
        least = "a number of 0 or more" if above < 0 else f"a number above {above:g}"
        self.report(node, f"found {_described(node)}, expected {least}")
        return default

    def whole(self, node: yaml.Node | None) -> int:
        """A whole number that is not negative; 0 where there is none."""
        if node is None:
            return 0
        if isinstance(node, yaml.ScalarNode) and node.value.isascii() and node.value.isdigit():
            return int(node.value)
        self.report(node, f"found {_described(node)}, expected a whole number of 0 or more")
        return 0


def quoted(text: str) -> str:
    """A text as YAML reads it back: as it is, or between quotes."""
    if _is_plain(text):
        return text
    written: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf)
    return written.rstrip("\n")


def _is_plain(text: str) -> bool:
    return text.isascii() and bool(_PLAIN.fullmatch(text)) and text.lower() not in _KEYWORDS


def _as_float(node: yaml.Node) -> float | None:
    """YAML 1.1 takes ``1e-05``, which Python writes, for a text."""
    if not isinstance(node, yaml.ScalarNode) or node.style is not None:
        return None
    try:
        return float(node.value)
    except ValueError:
        return None


def _described(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return repr(node.value) if node.value else "nothing"
