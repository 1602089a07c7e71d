"""A profile as a file of YAML, which people read, edit, and keep with the topology.

A written profile is read back exactly. All mistakes of a file are reported together, each with its line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from framework.model.errors import ProfileError
from framework.model.topology import Place, Problem
from framework.optimizer.costs.hardware import Cache, Crossing, Hardware
from framework.optimizer.costs.profile import ComponentCost, Profile, StreamCost, Variation
from framework.optimizer.costs.yaml_nodes import Nodes, quoted

_HEAD = """\
# What the components of a topology cost, for planning. All times are nanoseconds of processor time.
# Every number may be edited: a plan is predicted from what stands here, however it came about.
"""


@dataclass(frozen=True)
class ProfileFile:
    """The content of a file."""

    topology: str
    """Name of the topology."""
    profile: Profile
    hardware: Hardware | None = None
    """The machine that it was measured on; None if nobody has said so, as in a profile from a paper."""


def save(path: Path, content: ProfileFile) -> None:
    """Write a profile; a file that is there is replaced.

    Args:
        path: of the file.
        content: all numbers in it are finite, and none is negative.

    Raises:
        OSError: it cannot be written.
    """
    path.write_text(as_yaml(content), encoding="utf-8")


def as_yaml(content: ProfileFile) -> str:
    """The text of the file."""
    return "\n".join(_lines(content)) + "\n"


def load(path: Path) -> ProfileFile:
    """Read a profile.

    Raises:
        ProfileError: it cannot be read, or something in it is wrong; the error has all problems.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ProfileError([Problem(Place(str(path)), f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        message = f"found the byte {error.object[error.start]:#04x}, expected text in UTF-8"
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ProfileError([Problem(Place(str(path), line), message)]) from error
    return from_yaml(text, str(path))


def from_yaml(text: str, file: str) -> ProfileFile:
    """Read a profile from a text.

    Args:
        text: of a file.
        file: its name, for messages.

    Raises:
        ProfileError: something in it is wrong; the error has all problems.
    """
    nodes = Nodes(file)
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(filter(None, [error.context, error.problem]))
        place = Place(file, mark.line + 1 if mark else 0)
        raise ProfileError([Problem(place, f"no valid YAML: {said}")]) from error
    except yaml.reader.ReaderError as error:
        place = Place(file, text.count("\n", 0, error.position) + 1)
        raise ProfileError([Problem(place, f"no valid YAML: the character {error.character!r}")]) from error
    except RecursionError as error:
        raise ProfileError([Problem(Place(file), "mappings and lists are nested too deeply")]) from error
    if root is None:
        raise ProfileError([Problem(Place(file, 1), "the file is empty, expected a profile")])
    content = _content(root, nodes)
    if nodes.problems:
        raise ProfileError(nodes.problems)
    return content


# -- writing


def _lines(content: ProfileFile) -> Iterator[str]:
    profile = content.profile
    yield _HEAD
    yield f"topology: {quoted(content.topology)}"
    yield ""
    yield "# For each run of tuples that a task takes from one of several sources before it turns to another."
    yield f"run_ns: {profile.run_ns!r}"
    yield "# For each jumbo tuple, at its producer and its consumer together, and how many tuples it has."
    yield f"jumbo_ns: {profile.jumbo_ns!r}"
    yield f"jumbo_tuples: {profile.jumbo_tuples!r}"
    yield "# Tuples a second that a spout brings at most, where something else than its processor limits it."
    yield from _numbers("rates", profile.rates, "")
    yield ""
    yield "# ns: for each tuple that a component processes; of a spout, that it brings."
    yield "# share: the part of all tuples that a spout brings."
    yield "# memory: bytes that each tuple moves in memory, if that is known."
    yield "# spread: the standard deviation of the times of its tuples, divided by their mean."
    yield "# slow: the part of their time in tuples of 50 ms and more that take 1,000 times as long as half"
    yield "# of the tuples do. Spread and slow decide whether its tasks share their input by claims."
    yield "# inputs: other ns, for tuples of an input that take another time: {component/stream: ns}."
    yield "# streams: selectivity is tuples emitted for each one processed; size is bytes of a tuple on its"
    yield "# way to another process; ns is added for each tuple emitted, encode_ns where it leaves its"
    yield "# process, and decode_ns where it arrives in another one."
    yield "components:" if profile.components else "components: {}"
    for name, cost in profile.components.items():
        yield from _component(name, cost)
    yield from hardware_lines(content.hardware)


def _component(name: str, cost: ComponentCost) -> Iterator[str]:
    yield f"  {quoted(name)}:"
    yield f"    ns: {cost.ns!r}"
    yield f"    share: {cost.share!r}"
    yield from [f"    memory: {cost.memory!r}"] if cost.memory else []
    for key in _OF_VARIATION if cost.variation is not None else ():
        yield f"    {key}: {getattr(cost.variation, key)!r}"
    yield from _numbers("inputs", cost.inputs, "    ")
    yield "    streams:" if cost.streams else "    streams: {}"
    for stream, found in cost.streams.items():
        yield f"      {quoted(stream)}:"
        for key in _OF_STREAM:
            yield f"        {key}: {getattr(found, key)!r}"


def _numbers(key: str, numbers: Mapping[str, float], indent: str) -> Iterator[str]:
    yield f"{indent}{key}:" if numbers else f"{indent}{key}: {{}}"
    for name, number in numbers.items():
        yield f"{indent}  {quoted(name)}: {number!r}"


# -- reading

_OF_STREAM = ("selectivity", "size", "ns", "encode_ns", "decode_ns")
_OF_VARIATION = ("spread", "slow")
_OF_COMPONENT = ("ns", "share", "memory", *_OF_VARIATION, "inputs", "streams")
_KEYS = ("topology", "run_ns", "jumbo_ns", "jumbo_tuples", "rates", "components", "machine")


def _content(root: yaml.Node, nodes: Nodes) -> ProfileFile:
    top = nodes.mapping(root, "a profile: a mapping with topology and components", _KEYS)
    topology = nodes.text(nodes.needed(top, "topology", root), "the name of a topology")
    components = nodes.mapping(nodes.needed(top, "components", root), "components, each with its costs")
    profile = Profile(
        {name: _read_component(node, nodes) for name, node in components.items()},
        run_ns=nodes.number(top.get("run_ns"), 0.0),
        jumbo_ns=nodes.number(top.get("jumbo_ns"), 0.0),
        jumbo_tuples=nodes.number(top.get("jumbo_tuples"), 1000.0, above=0.0),
        rates=_read_numbers(top.get("rates"), "tuples a second, by spout", nodes, above=0.0),
    )
    for name in profile.rates:
        if name not in profile.components:
            nodes.unknown(top["rates"], name, "component", profile.components)
    return ProfileFile(topology, profile, read_hardware(top.get("machine"), nodes))


def _read_component(node: yaml.Node, nodes: Nodes) -> ComponentCost:
    of_it = nodes.mapping(node, "costs of a component", _OF_COMPONENT)
    streams = nodes.mapping(of_it.get("streams"), "streams, each with its costs")
    return ComponentCost(
        nodes.number(nodes.needed(of_it, "ns", node), 0.0),
        {name: _read_stream(found, nodes) for name, found in streams.items()},
        _read_numbers(of_it.get("inputs"), "nanoseconds, by component/stream", nodes),
        share=nodes.number(of_it.get("share"), 1.0),
        memory=nodes.number(of_it.get("memory"), 0.0),
        variation=_read_variation(of_it, nodes),
    )


def _read_variation(of_it: Mapping[str, yaml.Node], nodes: Nodes) -> Variation | None:
    """Read both numbers of it; None where neither is there, as in a profile of an earlier version."""
    found = [of_it.get(key) for key in _OF_VARIATION]
    if all(node is None for node in found):
        return None
    return Variation(*(nodes.number(node, 0.0) for node in found))


def _read_stream(node: yaml.Node, nodes: Nodes) -> StreamCost:
    of_it = nodes.mapping(node, "costs of a stream", _OF_STREAM)
    needed = nodes.number(nodes.needed(of_it, "selectivity", node), 0.0)
    return StreamCost(needed, *(nodes.number(of_it.get(key), 0.0) for key in _OF_STREAM[1:]))


def _read_numbers(
    node: yaml.Node | None, expected: str, nodes: Nodes, *, above: float = -math.inf
) -> dict[str, float]:
    found = nodes.mapping(node, expected)
    return {name: nodes.number(value, 0.0, above=above) for name, value in found.items()}


def hardware_lines(hardware: Hardware | None) -> Iterator[str]:
    """The lines of the section; none where the machine is not known."""
    if hardware is None:
        return
    yield ""
    yield "# The machine of the measurements. Nothing here is part of a prediction."
    yield "# caches: those that several processors share, in bytes. crossings: nanoseconds until a change"
    yield "# that one processor makes to a cache line is seen by another one."
    yield "machine:"
    yield f"  model: {quoted(hardware.model)}"
    yield f"  cpus: {_listed(hardware.cpus)}"
    yield "  caches:" if hardware.caches else "  caches: []"
    for cache in hardware.caches:
        yield f"    - {{level: {cache.level}, size: {cache.size}, cpus: {_listed(cache.cpus)}}}"
    yield "  crossings:" if hardware.crossings else "  crossings: []"
    for way in hardware.crossings:
        yield f"    - {{cpus: {_listed((way.first, way.second))}, ns: {way.ns!r}}}"


def read_hardware(node: yaml.Node | None, nodes: Nodes) -> Hardware | None:
    """Read the section, if there is one; mistakes in it are reported to `nodes`."""
    if node is None:
        return None
    top = nodes.mapping(node, "a machine", ("model", "cpus", "caches", "crossings"))
    return Hardware(
        nodes.text(nodes.needed(top, "model", node), "the name of a processor"),
        _cpus(nodes.needed(top, "cpus", node), nodes),
        tuple(_cache(one, nodes) for one in nodes.items(top.get("caches"), "a list of caches")),
        tuple(_crossing(one, nodes) for one in nodes.items(top.get("crossings"), "a list of crossings")),
    )


def _cache(node: yaml.Node, nodes: Nodes) -> Cache:
    found = nodes.mapping(node, "a cache", ("level", "size", "cpus"))
    level, size = (nodes.whole(nodes.needed(found, key, node)) for key in ("level", "size"))
    return Cache(level, size, _cpus(nodes.needed(found, "cpus", node), nodes))


def _crossing(node: yaml.Node, nodes: Nodes) -> Crossing:
    found = nodes.mapping(node, "a crossing", ("cpus", "ns"))
    cpus = _cpus(both := nodes.needed(found, "cpus", node), nodes)
    if both is not None and len(cpus) != 2:
        nodes.report(both, f"found {len(cpus)} processors, expected two")
    first, second = cpus if len(cpus) == 2 else (0, 0)
    return Crossing(first, second, nodes.number(nodes.needed(found, "ns", node), 0.0))


def _cpus(node: yaml.Node | None, nodes: Nodes) -> tuple[int, ...]:
    return tuple(nodes.whole(one) for one in nodes.items(node, "a list of numbers of processors"))


def _listed(numbers: Sequence[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"
