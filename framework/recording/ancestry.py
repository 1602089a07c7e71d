"""The ancestors of a tuple, read from its position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framework.planning import ComponentLevel
from framework.recording.header import Header, RecordedComponent
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
    """The hops of a tuple, from its spout to the tuple itself.

    A tuple that was emitted outside of input (at a tick, by a timer, in `initialize`) or that comes back
    through a cycle descends from a point in time, so that its first hop may be no spout's.

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
    """Whether it had no room at that depth: all bits from there on are ones."""
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
