"""Reading YAML: configuration files, with the line of each key, and single values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from framework.config.entry import Entry
from framework.topology.places import Place
from framework.topology.problems import Problem

if TYPE_CHECKING:
    import yaml


def read_mapping(text: str | bytes, file: str) -> tuple[dict[str, Entry], list[Problem]]:
    """The entries of a YAML mapping; what cannot be read is among the problems.

    Args:
        text: the file's content.
        file: its name, for the places.
    """
    import yaml

    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    try:
        for key, entry in _entries(text, file):
            if key in entries:
                message = f"configuration key {key!r} is set again, after line {entries[key].place.line}"
                problems.append(Problem(entry.place, message))
            entries[key] = entry
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problems.append(Problem(Place(file, mark.line + 1 if mark else 0), f"no valid YAML: {error.problem}"))
    except (yaml.YAMLError, ValueError) as error:
        problems.append(Problem(Place(file), f"no valid YAML: {error}"))
    return entries, problems


def read_value(text: str) -> Any:
    """The value that a text has in YAML: ``4`` a number, ``true`` a bool, and so on.

    Raises:
        ValueError: the text is no valid YAML.
    """
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"no valid YAML: {getattr(error, 'problem', error)}") from error


def _entries(text: str | bytes, file: str) -> Iterator[tuple[Any, Entry]]:
    import yaml

    loader = yaml.SafeLoader(text)
    root = loader.get_single_node()
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise _misplaced(root, "expected a mapping of configuration keys to values")
    for key_node, value_node in root.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _misplaced(key_node, "expected a configuration key")
        value = loader.construct_object(value_node, deep=True)
        yield loader.construct_object(key_node), Entry(value, Place(file, key_node.start_mark.line + 1))


def _misplaced(node: yaml.Node, message: str) -> yaml.MarkedYAMLError:
    import yaml

    return yaml.MarkedYAMLError(problem=message, problem_mark=node.start_mark)
