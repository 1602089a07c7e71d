"""The findings of ``viper diff``, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from framework.cli.messages import counted
from framework.cli.table import table
from framework.model.topology import Role
from framework.recording import Hop, Recorded, Recording
from framework.recording.comparing import Ancestor, Difference, StreamComparison, ancestors
from viper.position import LEAST, Position

LONGEST_VALUES = 1000
"""Characters of a tuple's values that are shown."""
_AFTER_ALL_INPUT = 1 << 62
"""From this timestamp on stand last ticks and batches, and what still goes round in cycles."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The recordings that were compared, and their differences, ready to be shown."""

    a: Recording
    b: Recording
    comparisons: Sequence[StreamComparison]
    first: Difference | None


def lines(shown: Shown) -> Iterator[str]:
    """The comparison as text."""
    yield f"A: {_described(shown.a)}"
    yield f"B: {_described(shown.b)}"
    yield ""
    header = ("component", "stream", "in both", "only in A", "only in B", "other values")
    yield from table(
        header,
        [(c.component, c.stream, c.both, c.only_a, c.only_b, c.other_values) for c in shown.comparisons],
    )
    yield ""
    yield from ["no difference"] if shown.first is None else _about(shown, shown.first)


def _described(recording: Recording) -> str:
    header = recording.header
    tasks = counted(len(header.tasks), "task")
    return f"{recording.path}, {header.topology}, {header.time} time, {tasks}, {header.reason}"


def _about(shown: Shown, found: Difference) -> Iterator[str]:
    yield f"first difference, in {found.component}/{found.stream}: {found.kind}"
    yield f"  A: {_tuple(shown.a, found.component, found.a) if found.a else 'no more tuples'}"
    yield f"  B: {_tuple(shown.b, found.component, found.b) if found.b else 'no more tuples'}"
    if _is_spouts(shown, found.component):
        return
    yield f"what is at {_place(found.position)} descends from"
    line = list(ancestors(shown.a, shown.b, found))
    if not line or line[0].hop.component is None or not _is_spouts(shown, line[0].hop.component):
        yield "  no tuple of a spout: a tick, a timer, `initialize`, or what came back through a cycle"
    for ancestor in line:
        yield from _about_ancestor(shown, ancestor)


def _about_ancestor(shown: Shown, ancestor: Ancestor) -> Iterator[str]:
    hop = ancestor.hop
    if hop.component is None:
        yield "  tuples that the path had no room left to name"
        return
    yield f"  {_named(shown, hop)}, the same in both" if ancestor.same else f"  {_named(shown, hop)}"
    sides = [("", shown.a, ancestor.a)] if ancestor.same else _sides(shown, ancestor)
    for side, recording, found in sides:
        for recorded in found:
            yield f"    {side}{_tuple(recording, hop.component, recorded)}"
        if not found:
            yield f"    {side}not recorded: there was none, or it went to nobody"


def _sides(shown: Shown, ancestor: Ancestor) -> list[tuple[str, Recording, tuple[Recorded, ...]]]:
    return [("A: ", shown.a, ancestor.a), ("B: ", shown.b, ancestor.b)]


def _named(shown: Shown, hop: Hop) -> str:
    assert hop.component is not None
    if _is_spouts(shown, hop.component):
        return f"{hop.component}, partition {hop.copy}, tuple {hop.ordinal} of its time"
    return f"{hop.component}, output {hop.ordinal} of its input"


def _is_spouts(shown: Shown, component: str) -> bool:
    found = shown.a.header.component(component)
    return found is not None and found.role is Role.SPOUT


def _tuple(recording: Recording, component: str, recorded: Recorded) -> str:
    stream = recording.streams_of(component)[recorded.tag].name
    values = repr(recorded.values)
    shown = values if len(values) <= LONGEST_VALUES else f"{values[:LONGEST_VALUES]} ..."
    return f"{shown} on {stream} of task {recorded.task} at {_place(recorded.position)}"


def _place(position: Position) -> str:
    ts = str(position.ts)
    if position.ts >= _AFTER_ALL_INPUT:
        ts = f"the end + {position.ts - _AFTER_ALL_INPUT}"
    elif position.ts == LEAST.ts:
        ts = "the beginning"
    return f"{ts}, path {_path(position)}"


def _path(position: Position) -> str:
    return f"{position.hi:016x}{position.lo:016x}"


# -- for programs


def as_object(shown: Shown) -> dict[str, Any]:
    """The comparison as plain values for JSON; a tuple's values as Python would write them."""
    return {
        "same": shown.first is None,
        "a": _recording_object(shown.a),
        "b": _recording_object(shown.b),
        "streams": [_stream_object(comparison) for comparison in shown.comparisons],
        "first": None if shown.first is None else _first_object(shown, shown.first),
    }


def _recording_object(recording: Recording) -> dict[str, Any]:
    header = recording.header
    return {
        "path": str(recording.path),
        "topology": header.topology,
        "time": str(header.time),
        "tasks": len(header.tasks),
        "complete": header.complete,
        "reason": header.reason,
    }


def _stream_object(comparison: StreamComparison) -> dict[str, Any]:
    return {
        "component": comparison.component,
        "stream": comparison.stream,
        "both": comparison.both,
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "other_values": comparison.other_values,
    }


def _first_object(shown: Shown, found: Difference) -> dict[str, Any]:
    return {
        "component": found.component,
        "stream": found.stream,
        "kind": str(found.kind),
        "a": _tuple_object(found.a),
        "b": _tuple_object(found.b),
        "ancestry": [_ancestor_object(ancestor) for ancestor in ancestors(shown.a, shown.b, found)],
    }


def _ancestor_object(ancestor: Ancestor) -> dict[str, Any]:
    return {
        "component": ancestor.hop.component,
        "copy": ancestor.hop.copy,
        "ordinal": ancestor.hop.ordinal,
        "a": [_tuple_object(recorded) for recorded in ancestor.a],
        "b": [_tuple_object(recorded) for recorded in ancestor.b],
    }


def _tuple_object(recorded: Recorded | None) -> dict[str, Any] | None:
    if recorded is None:
        return None
    return {
        "ts": recorded.position.ts,
        "path": _path(recorded.position),
        "task": recorded.task,
        "values": [repr(value) for value in recorded.values],
    }
