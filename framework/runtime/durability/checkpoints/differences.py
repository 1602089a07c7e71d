"""The differences between the topology of a checkpoint and that which resumes from it.

Whatever is remembered keeps its meaning only if the parameters are the same that made it: such a difference
is refused. Code may have been corrected, so a difference of digests is reported, and the run continues.
Everything else that differs and may show in a row is reported as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.runtime.durability.checkpoints.fingerprints import ORDER, Fingerprints
from framework.runtime.durability.checkpoints.meaning import DIGEST, FUNCTION, IS, PYTHON, Plain, shown

WHOLE = ("window", "join", "batch", "key window")
"""Kinds of states that hold tuples as they came, with a value for each field."""
_MAKE_KEYS = ("KeyBy",)
"""Bolts that remember nothing, but make the keys by which others do."""
_FOLDS = ("ReduceByKey", "AggregateByKey")
"""Bolts that remember values by their places in a tuple."""
WITHOUT_FINGERPRINTS = ("value", "table", "list", "map", "key-value")
"""Kinds of states that mean what their declaration and users' code say, whatever else there is."""
_DIGESTS = (
    ("arguments", "arguments"),
    ("custom groupings", "groupings"),
)
"""The entries that are digests by name: how messages call each, and its key."""
_TICKS = "seconds between ticks"
_OF_PLACES = ("field of the time", "unit of the time")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs."""

    told: str
    """In a sentence: where, what was there, and what was found."""
    refused: bool
    """True if the saved state would get another meaning, so that no run may resume with it."""


@dataclass(frozen=True, slots=True)
class _Other:
    """A part of two plain values that differs."""

    path: tuple[str, ...]
    before: Plain
    now: Plain
    is_code: bool = False
    """True if only the code of one name differs, or only the name of the same code."""


def differences(before: Fingerprints, now: Fingerprints) -> Iterator[Difference]:
    """All differences, but for components that only one of them has.

    Args:
        before: of the run that has written the checkpoint.
        now: of the run that is to resume from it.
    """
    if before["version"] != now["version"]:
        told = f"ViperStorm {before['version']} has written it, and this is {now['version']}"
        yield Difference(told, False)
    same_python = before["python"] == now["python"]
    if not same_python:
        told = f"the checkpoint was written by Python {before['python']}, this is {PYTHON}"
        yield Difference(f"code is not compared: {told}", False)
    yield from _of_topology(before["topology"], now["topology"], before["components"].values())
    for table in before["tables"].keys() & now["tables"].keys():
        for other in _others(before["tables"][table], now["tables"][table]):
            yield Difference(_told(f"shared table {table!r}", other), True)
    for table in before["tables"].keys() - now["tables"].keys():
        yield Difference(f"shared table {table!r} is missing: name it as it was, used or not", True)
    yield from _of_configuration(before["components"], now["components"])
    for name in before["components"].keys() & now["components"].keys():
        one, other = before["components"][name], now["components"][name]
        same = {"same_python": same_python, "same_version": before["version"] == now["version"]}
        yield from _of_component(name, one, other, **same)


def _of_configuration(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Users' own configuration keys, with the components that see other values there than before."""
    changed: dict[str, list[str]] = {}
    for name in sorted(before.keys() & now.keys()):
        for key in _changed(before[name]["own configuration"], now[name]["own configuration"]):
            changed.setdefault(key, []).append(name)
    for key, names in changed.items():
        yield Difference(f"configuration key {key} is another than before: of {', '.join(names)}", False)


def other_arguments(before: Fingerprints, now: Fingerprints, name: str) -> list[str]:
    """The arguments of a component's definition that are others than before; none where nothing is known."""
    told = [found.get("components", {}).get(name, {}).get("arguments", {}) for found in (before, now)]
    return _changed(*told)


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The keys that have other values."""
    return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))


def of_input(
    name: str, source: str, stream: str, before: Fingerprints, now: Fingerprints, kinds: Sequence[str]
) -> Iterator[Difference]:
    """The difference in the fields of a stream that a component takes, before and now.

    Args:
        name: the component.
        source: whose stream it is.
        stream: the name of the stream.
        before: as of `differences`.
        now: likewise.
        kinds: those of the component's states in the checkpoint.
    """
    was, found = (
        told["components"].get(source, {}).get("streams", {}).get(stream) for told in (before, now)
    )
    if was is None or found is None or was == found:
        return
    folds = before["components"][name].get("things", {}).get("bolt", {}).get("kind") in _FOLDS
    refused = folds or any(kind in WHOLE for kind in kinds)
    read = _fields_read(before["components"][name])
    if refused and read is not None:
        refused = [_types(was).get(field) for field in read] != [_types(found).get(field) for field in read]
    told = f"{name!r}: stream {stream!r} of {source!r} had {_fields(was)}: found {_fields(found)}"
    yield Difference(told, refused)


def _fields_read(component: Mapping[str, Any]) -> list[str] | None:
    """The fields that windows of a component keep anything of; None where they may keep whole tuples."""
    things = component.get("things", {})
    if things.get("bolt", {}).get("kind") != "APlus" or "aggregate" not in things:
        return None
    parts = [part for part in things["aggregate"].values() if isinstance(part, Mapping)]
    of_all = [part for part in parts if part.get("field") is None and part.get(IS) != "Count"]
    read = [part[key] for part in parts for key in ("field", "of") if part.get(key) is not None]
    return None if of_all else read


def _types(stream: Mapping[str, Any]) -> dict[str, Plain]:
    typed = stream["types"] or {}
    return {field: typed.get(field, "any") for field in stream["fields"]}


def _fields(stream: Mapping[str, Any]) -> str:
    found = _types(stream)
    return f"({', '.join(field if kind == 'any' else f'{field}: {kind}' for field, kind in found.items())})"


def _of_topology(
    before: Mapping[str, Any], now: Mapping[str, Any], components: Sequence[Any]
) -> Iterator[Difference]:
    keeps = any(component["keeps"] for component in components)
    one, another = ([id for id in found[ORDER] if id in both] for found, both in
                    ((before, now[ORDER]), (now, before[ORDER])))  # fmt: skip
    for other in _others({**before, ORDER: one}, {**now, ORDER: another}):
        refused = other.path[0] == "time" or (keeps and other.path[0] not in ("name", ORDER))
        yield Difference(_told("the topology", other), refused)


def _of_component(
    name: str, before: Mapping[str, Any], now: Mapping[str, Any], *, same_python: bool, same_version: bool
) -> Iterator[Difference]:
    where = repr(name)
    keeps = before["keeps"] or before.get("things", {}).get("bolt", {}).get("kind") in _MAKE_KEYS
    for thing, was in before.get("things", {}).items():
        found = now.get("things", {}).get(thing)
        if found is None:
            if not thing.startswith("state "):  # which is refused elsewhere, and says how to name another
                yield Difference(f"{where}: {thing} was {shown(was)}: found none", keeps)
            continue
        for other in _others(was, found):
            if other.is_code and not same_python:
                continue
            # The version before may not have known a parameter that this one has.
            unknown = not same_version and len(other.path) == 1 and other.path[0] not in was
            refused = keeps and not (other.is_code or unknown or other.path[-1:] == ("ttl",))
            yield Difference(_told(f"{where}: {thing}", other), refused)
    for other in _others(before["configuration"], now["configuration"]):
        refused = other.path[0] in _OF_PLACES or (other.path[0] == _TICKS and keeps)
        yield Difference(_told(where, other), refused)
    yield from _of_users(where, before, now, same_python=same_python)


def _of_users(
    where: str, before: Mapping[str, Any], now: Mapping[str, Any], *, same_python: bool
) -> Iterator[Difference]:
    """The differences in all that only users' code knows the meaning of."""
    if before["class"] != now["class"]:
        yield Difference(f"{where}: the class was {before['class']}: found {now['class']}", False)
    elif same_python and before["code"] != now["code"]:
        yield Difference(f"{where}: the code of {now['class']} has changed", False)
    for what, key in _DIGESTS:
        if changed := _changed(before.get(key, {}), now.get(key, {})):
            yield Difference(f"{where}: {what} are others than before: {', '.join(changed)}", False)


def _others(before: Plain, now: Plain, path: tuple[str, ...] = ()) -> Iterator[_Other]:
    """The innermost parts that differ."""
    if before == now:
        return
    if not (isinstance(before, Mapping) and isinstance(now, Mapping)):
        if _are_objects(before) and _are_objects(now) and len(before) == len(now):
            for number, (one, other) in enumerate(zip(before, now, strict=True), 1):
                yield from _others(one, other, (*path, str(number)))
        else:
            yield _Other(path, before, now)
    elif FUNCTION in before and FUNCTION in now:
        same = before[FUNCTION] == now[FUNCTION] or before[DIGEST] == now[DIGEST]
        yield _Other(path, before, now, same)
    elif before.get(IS) != now.get(IS):
        yield _Other(path, before, now)
    else:
        for key in [*before, *(key for key in now if key not in before)]:
            if key == DIGEST and before.get(IS) != "bytes":
                if before.get(key) != now.get(key):
                    yield _Other(path, before, now, True)
            else:
                yield from _others(before.get(key), now.get(key), (*path, key))


def _are_objects(value: Plain) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)


def _told(where: str, other: _Other) -> str:
    what = " ".join((where, *other.path))
    before, now = shown(other.before), shown(other.now)
    if other.is_code and before == now:
        return f"{what}: the code of {now} has changed"
    return f"{what} was {before}: found {now if now != before else 'another one'}"
