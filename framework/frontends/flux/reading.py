"""Shared parts of a load: YAML nodes with their places, and the problems found so far."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from framework.model.topology import Bean, Path, Place, Problem

UNRESOLVED = "!unresolved"
"""Tag of a text with an expression that has no value; that was reported, and need not be again."""

_NAMES = {"bool": "the bool", "int": "the number", "float": "the number", "timestamp": "the date"}

_resolver = yaml.resolver.Resolver()
_short = reprlib.Repr()
_short.maxstring = 60


def place_of(node: yaml.Node) -> Place:
    """File and line at which a node begins."""
    mark = node.start_mark
    return Place(mark.name, mark.line + 1)


def kind_of(node: yaml.Node) -> str:
    """``str``, ``int``, ``float``, ``bool``, ``null``, ``seq``, ``map`` or another of YAML's tags."""
    return str(node.tag).rpartition(":")[2]


def is_null(node: yaml.Node) -> bool:
    """True if a node is null or missing, as after ``key:``."""
    return isinstance(node, yaml.ScalarNode) and kind_of(node) == "null"


def described(node: yaml.Node) -> str:
    """A node's kind and value, to be placed after "found"."""
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if is_null(node):
        return "nothing"
    if kind_of(node) in _NAMES:
        return f"{_NAMES[kind_of(node)]} {node.value}"
    return f"the text {_short.repr(node.value)}"


def scalar(text: str, like: yaml.Node, *, quoted: bool = False) -> yaml.ScalarNode:
    """A scalar in place of another node: text if quoted, else of the kind that YAML sees in it."""
    if quoted:
        return yaml.ScalarNode("tag:yaml.org,2002:str", text, like.start_mark, like.end_mark, '"')
    tag = _resolver.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return yaml.ScalarNode(tag, text, like.start_mark, like.end_mark)


class _Constructor(yaml.SafeLoader):
    """Makes plain values; an unresolved text stays as it is."""


def _as_text(constructor: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    return str(constructor.construct_scalar(node))


def _refused(constructor: yaml.SafeLoader, node: yaml.Node) -> NoReturn:
    message = f"found '!!{kind_of(node)}', expected a list, a mapping or a single value"
    raise yaml.constructor.ConstructorError(problem=message)


_Constructor.add_constructor(UNRESOLVED, _as_text)
for _kind in ("set", "omap", "pairs"):
    _Constructor.add_constructor(f"tag:yaml.org,2002:{_kind}", _refused)


def plain_value(node: yaml.Node) -> Any:
    """The value of a node and all below it, in Python's own types.

    Raises:
        ValueError: a tag that stands for no plain value, or a scalar that does not fit its tag.
    """
    constructor = _Constructor("")
    try:
        return constructor.construct_object(node, deep=True)
    except yaml.YAMLError as error:
        raise ValueError(getattr(error, "problem", None) or str(error)) from error
    except RecursionError as error:
        raise ValueError("lists and mappings are nested too deeply") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{described(node)} is no value of its kind") from error
    finally:
        constructor.dispose()


@dataclass(frozen=True, slots=True)
class Reference:
    """A ``ref`` to a bean, or a member of a ``reflist``."""

    bean_id: str
    place: Place
    in_list: bool = False


@dataclass(slots=True)
class Reading:
    """One load of a file with its includes."""

    import_paths: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    places: dict[Path, Place] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    """Every reference to a bean, in the order of reading."""
    beans: tuple[Bean, ...] = ()
    """The shared objects, which are read before the components."""

    def report(self, place: Place, message: str, warning: bool = False) -> None:
        """Add a problem; reading continues."""
        self.problems.append(Problem(place, message, warning))
