"""A profile as a file: YAML that people read, edit, and keep with the topology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.costs.profile import ComponentCost, Profile, StreamCost
from framework.errors import ViperError

if TYPE_CHECKING:
    import yaml

_HEAD = """\
# What the components of {topology} cost, for `viper plan --profile`. Times are nanoseconds of processor time.
#
# ns            for each tuple that a component processes; of a spout, that it brings
# inputs        the same for tuples of one input stream, source/stream, where they take another time
# selectivity   tuples of the stream for each one that was processed
# size          bytes of a tuple on its way to another process
# encode_ns     for each tuple that leaves for another process, at its producer; decode_ns at its consumer
# share         of a spout: its part of all tuples that spouts bring
# run_ns        for each run of tuples that a task takes from one of several sources
# jumbo_ns      for each jumbo tuple, of so many tuples
# rates         tuples a second that a spout can bring at most, where something else than time limits it
"""


class ProfileError(ViperError):
    """A file that is no profile: what was found, what was expected, and where."""


def save(path: Path, topology: str, profile: Profile, notes: Mapping[str, Any]) -> None:
    """Write a file that `load` reads.

    Args:
        path: the file, which is replaced.
        topology: its name.
        profile: what it costs.
        notes: what was measured and how, for people; any YAML.
    """
    import yaml

    told = {
        "topology": topology,
        "measured": dict(notes),
        "run_ns": _rounded(profile.run_ns),
        "jumbo_ns": _rounded(profile.jumbo_ns),
        "jumbo_tuples": _rounded(profile.jumbo_tuples),
        "rates": {name: _rounded(rate) for name, rate in profile.rates.items()},
        "components": {name: _component(cost) for name, cost in profile.components.items()},
    }
    text = yaml.safe_dump(told, sort_keys=False, width=110)
    path.write_text(_HEAD.format(topology=topology) + text, encoding="utf-8")


def load(path: Path) -> Profile:
    """Read a profile.

    Raises:
        ProfileError: the file cannot be read, or says something else than a profile does.
    """
    import yaml

    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ProfileError(f"{path}:{line}: no YAML: {error.problem}") from error
    return _Reader(path).profile(root)


def _component(cost: ComponentCost) -> dict[str, Any]:
    told: dict[str, Any] = {"ns": _rounded(cost.ns)}
    if cost.inputs:
        told["inputs"] = {name: _rounded(ns) for name, ns in cost.inputs.items()}
    if cost.share != 1.0:
        told["share"] = _rounded(cost.share)
    if cost.streams:
        told["streams"] = {
            name: {field.name: _rounded(getattr(stream, field.name)) for field in fields(StreamCost)}
            for name, stream in cost.streams.items()
        }
    return told


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


class _Reader:
    """Reads nodes of YAML, which know where they stand."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def profile(self, root: yaml.Node | None) -> Profile:
        if root is None:
            raise ProfileError(f"{self._path}:1: found nothing: expected a profile, a mapping")
        known = ("topology", "measured", "run_ns", "jumbo_ns", "jumbo_tuples", "rates", "components")
        entries = self._mapping(root, "a profile", known)
        if "components" not in entries:
            raise self._error(root, "found no components", "what each of them costs")
        components = self._mapping(entries["components"], "components")
        numbers = {
            name: self._number(entries[name], name)
            for name in ("run_ns", "jumbo_ns", "jumbo_tuples")
            if name in entries
        }
        if numbers.get("jumbo_tuples") == 0:
            raise self._error(entries["jumbo_tuples"], "jumbo_tuples is 0", "more than 0")
        rates = self._numbers(entries["rates"], "rates") if "rates" in entries else {}
        return Profile(
            {name: self._cost(name, node) for name, node in components.items()}, rates=rates, **numbers
        )

    def _cost(self, name: str, node: yaml.Node) -> ComponentCost:
        entries = self._mapping(node, name, ("ns", "inputs", "share", "streams"))
        if "ns" not in entries:
            raise self._error(node, f"{name} has no ns", "nanoseconds for each tuple")
        streams = self._mapping(entries["streams"], f"streams of {name}") if "streams" in entries else {}
        return ComponentCost(
            self._number(entries["ns"], f"ns of {name}"),
            {stream: self._stream(f"{name}/{stream}", found) for stream, found in streams.items()},
            self._numbers(entries["inputs"], f"inputs of {name}") if "inputs" in entries else {},
            self._number(entries["share"], f"share of {name}") if "share" in entries else 1.0,
        )

    def _stream(self, name: str, node: yaml.Node) -> StreamCost:
        known = [field.name for field in fields(StreamCost)]
        entries = self._mapping(node, name, known)
        for field in fields(StreamCost):
            if field.default is MISSING and field.name not in entries:
                raise self._error(node, f"{name} has no {field.name}", "a number")
        return StreamCost(**{key: self._number(found, f"{key} of {name}") for key, found in entries.items()})

    def _numbers(self, node: yaml.Node, what: str) -> dict[str, float]:
        return {
            name: self._number(found, f"{name} in {what}")
            for name, found in self._mapping(node, what).items()
        }

    def _number(self, node: yaml.Node, what: str) -> float:
        try:
            value = float(node.value) if node.tag.endswith((":int", ":float")) else None
        except ValueError:
            value = None
        if value is None or not 0 <= value < float("inf"):
            raise self._error(node, f"{what} is {_shown(node)}", "a number, 0 or more")
        return value

    def _mapping(self, node: yaml.Node, what: str, known: Any = None) -> dict[str, yaml.Node]:
        if not isinstance(node, _nodes().MappingNode):
            raise self._error(node, f"{what} is {_shown(node)}", "a mapping")
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if known is not None and key.value not in known:
                raise self._error(key, f"{what} has {key.value!r}", "one of " + ", ".join(known))
            if key.value in found:
                raise self._error(key, f"{what} has {key.value!r} twice", "each once")
            found[key.value] = value
        return found

    def _error(self, node: yaml.Node, found: str, expected: str) -> ProfileError:
        return ProfileError(f"{self._path}:{node.start_mark.line + 1}: {found}: expected {expected}")


def _shown(node: yaml.Node) -> str:
    if isinstance(node, _nodes().ScalarNode):
        return repr(node.value)
    return "a mapping" if isinstance(node, _nodes().MappingNode) else "a list"


def _nodes() -> Any:
    """The module of YAML's nodes, which is loaded where a file is read."""
    import yaml.nodes

    return yaml.nodes
