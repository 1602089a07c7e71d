"""The ancestors of a tuple, and the tree of tuples below one of a spout, read from positions."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from framework.model.topology import Role, Stream
from framework.planning import ComponentLevel
from framework.recording.header import Header, RecordedComponent
from framework.recording.reading import Recorded, Recording
from viper.position import Position

_WORD = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Hop:
    """One tuple of a line of descent, the spout's first."""

    position: Position
    component: str | None
    """The component that emitted it; None where the path had no room left for it."""
    copy: int = 0
    """The source partition, or the replica where tuples are copied to several."""
    ordinal: int = 0
    """Number of the tuple within its time, or of the output of its input, from 1 upwards; 0 where the path
    had no room for it."""


def line_of_descent(position: Position, component: str, header: Header) -> tuple[Hop, ...]:
    """Return the hops of a tuple, from its spout to the tuple itself.

    A tuple that was emitted outside of input (at a tick, by a timer, in `initialize`) or that comes back
    through a cycle descends from a point in time. So its first hop need not be a spout's.

    Args:
        position: of the tuple.
        component: its component.
        header: of the recording; says which bits are whose.
    """
    own = header.component(component)
    assert own is not None
    hops: list[Hop] = []
    for members in _by_depth(header)[: own.level.depth]:
        if _is_saturated(position, members[0].level):
            hops.append(Hop(position, None))
            break
        hop = _hop(position, members)
        if hop is not None:
            hops.append(hop)
    itself = _hop(position, [own])
    saturated = itself is None or _is_saturated(position, own.level)
    return (*hops, Hop(position, component) if saturated or itself is None else itself)


def _by_depth(header: Header) -> Sequence[Sequence[RecordedComponent]]:
    depths = sorted({c.level.depth for c in header.components})
    return [[c for c in header.components if c.level.depth == depth] for depth in depths]


def _hop(position: Position, members: Sequence[RecordedComponent]) -> Hop | None:
    """The hop that the bits of one depth describe; None if the tuple did not come that way."""
    level = members[0].level
    bits = _path(position) >> level.offset
    ordinal = bits & _ones(level.ordinal_bits)
    tag = bits >> level.ordinal_bits & _ones(level.tag_bits)
    if not ordinal:  # they count from 1
        return None
    found = next((c.id for c in members if tag >> level.copy_bits == c.level.tag), None)
    return Hop(_above(position, level.offset), found, tag & _ones(level.copy_bits), ordinal)


def _is_saturated(position: Position, level: ComponentLevel) -> bool:
    """True if it had no room at that depth: all bits from there on are ones."""
    ones = _ones(level.offset + level.ordinal_bits + level.tag_bits)
    return _path(position) & ones == ones


def _above(position: Position, offset: int) -> Position:
    """The position without what lower levels wrote: that of an ancestor."""
    path = _path(position) >> offset << offset
    return Position(position.ts, path >> 64, path & _WORD)


def _path(position: Position) -> int:
    return position.hi << 64 | position.lo


def _ones(count: int) -> int:
    return (1 << count) - 1


@dataclass(slots=True)
class TreeNode:
    """A tuple, with those that descend from it."""

    component: str
    stream: Stream
    values: tuple[Any, ...]
    is_unplanted: bool
    """True if it is no spout's and descends from no tuple.

    A bolt emitted it at a tick, for a window, at its beginning, or for a tuple that has come back through a
    cycle.
    """
    children: list[TreeNode] = field(default_factory=list)

    def walk(self, depth: int = 0) -> Iterator[tuple[int, TreeNode]]:
        """It and all that descends from it, in the order of positions, each with its depth below it."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


class _Emitted(NamedTuple):
    position: Position
    depth: int
    """The distance of its component from the spouts."""
    recorded: Recorded
    component: RecordedComponent
    line: Sequence[Hop]

    @property
    def root(self) -> Position:
        """The position of the tuple that it descends from."""
        return self.line[0].position


def trees(recording: Recording) -> Iterator[TreeNode]:
    """All trees in the order of positions, which is the same for every parallelism.

    One of them at a time is in memory.
    """
    emitted = heapq.merge(*(_of(recording, known) for known in recording.header.components), key=_order)
    for _, group in groupby(emitted, lambda found: found.root):
        yield from _planted(list(group))


def _of(recording: Recording, component: RecordedComponent) -> Iterator[_Emitted]:
    for recorded in recording.tuples(component.id):
        line = line_of_descent(recorded.position, component.id, recording.header)
        yield _Emitted(recorded.position, component.level.depth, recorded, component, line)


def _order(found: _Emitted) -> tuple[Position, int]:
    return found.position, found.depth


def _planted(group: Sequence[_Emitted]) -> Iterator[TreeNode]:
    """The trees of tuples that descend from one position."""
    known: dict[tuple[str | None, Position], TreeNode] = {}
    roots: list[TreeNode] = []
    for found in group:
        nearest = (known.get((hop.component, hop.position)) for hop in reversed(found.line[:-1]))
        parent = next((node for node in nearest if node is not None), None)
        node = TreeNode(
            found.component.id,
            found.component.streams[found.recorded.tag],
            found.recorded.values,
            is_unplanted=parent is None and found.component.role is not Role.SPOUT,
        )
        known[found.component.id, found.position] = node
        (roots if parent is None else parent.children).append(node)
    yield from roots
