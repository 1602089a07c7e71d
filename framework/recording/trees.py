"""What became of each tuple of a spout: trees of tuples, read from the positions in a recording."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from framework.model.topology import Role, Stream
from framework.recording.ancestry import Hop, line_of_descent
from framework.recording.header import RecordedComponent
from framework.recording.reading import Recorded, Recording
from viper.position import Position


@dataclass(slots=True)
class TreeNode:
    """A tuple, with those that descend from it."""

    component: str
    stream: Stream
    values: tuple[Any, ...]
    is_unplanted: bool
    """Whether it is no spout's and descends from no tuple: a bolt emitted it at a tick, for a window, at its
    beginning, or of what has come back through a cycle."""
    children: list[TreeNode] = field(default_factory=list)

    def walk(self, depth: int = 0) -> Iterator[tuple[int, TreeNode]]:
        """It and all that descends from it, in the order of positions, each with its depth below it."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


class _Emitted(NamedTuple):
    position: Position
    depth: int
    """How far its component is from the spouts."""
    recorded: Recorded
    component: RecordedComponent
    line: Sequence[Hop]

    @property
    def root(self) -> Position:
        """Where the tuple stands that it descends from."""
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
