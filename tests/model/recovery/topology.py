"""The topology, and the promise: its sink shows what a run on one thread, without any fault, shows.

partitioned lines -- shuffle or partial key --> split [-- shuffle or partial key --> tag]
    -- fields --> count, with ticks -- global --> sink
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from tests.model.recovery.ring import Position, Row

GROUPS = 4
WORDS = "abcde"
SLOTS_FOR_ONE_LINE = 28
"""As many as all that is emitted for one line. With less, tasks may wait for one another for ever where
positions are saturated, since no promise then says that one of them is through with the line."""

Lines = tuple[tuple[int, str], ...]


def group_of(word: str) -> int:
    return ord(word) % GROUPS


def owner_of(group: int, tasks: int) -> int:
    return group * tasks // GROUPS


@dataclass(frozen=True)
class Topology:
    """A topology with its input."""

    partitions: tuple[Lines, ...]
    """Event times and lines of each."""
    groupings: tuple[str, ...]
    """Of the edge into each stateless component."""
    ticks: tuple[int, ...]
    """Event times at which counts are told of; the last of them lies after all lines."""
    depth: int
    """A position that has so many words is saturated: the outputs of its tuple have it, too."""

    def child(self, parent: Position, ordinal: int) -> Position:
        return parent if len(parent) >= self.depth else (*parent, ordinal)

    @property
    def saturates(self) -> bool:
        return self.depth == 3


@dataclass(frozen=True)
class Layout:
    """The division of a topology: tasks of each component, rings, and the worker of each task."""

    tasks: tuple[int, ...]
    """Of the sources, of the stateless components, of the counting one, and of the sink: one."""
    slots: int
    workers: tuple[int, ...]
    """The worker of each task, component by component."""


class State(Protocol):
    """State by key, as a component sees it; keys come in the order in which they were first written."""

    def get(self, key: str) -> int: ...
    def set(self, key: str, value: int) -> None: ...
    def keys(self, group: int) -> tuple[str, ...]: ...


# -- the components, as a user would write them


def split(line: str) -> Iterable[str]:
    return line


def tag(word: str) -> Iterable[str]:
    """Each word, and some of them twice."""
    return word * 2 if word == "c" else word


def count(word: str, state: State) -> list[tuple[str, int]]:
    """The number of times that a word came till now; now and then with more than a ring can take."""
    now = state.get(word) + 1
    state.set(word, now)
    return [(word, now)] * (5 if now % 4 == 0 else 1)


def tell(group: int, state: State) -> list[tuple[str, int, str]]:
    """At a tick: how many words of a group came, and which of them was the last that was new."""
    keys = state.keys(group)
    return [("tick", sum(map(state.get, keys)), keys[-1])] if keys else []


STATELESS = (split, tag)


def tick_position(time: int, group: int) -> Position:
    """Compute the position of a group's outputs of a tick: before all lines of that time."""
    return (time, -1, group)


# -- what must come out


class Dictionary:
    """State in an ordinary dictionary."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def get(self, key: str) -> int:
        return self.values.get(key, 0)

    def set(self, key: str, value: int) -> None:
        self.values[key] = value

    def keys(self, group: int) -> tuple[str, ...]:
        return tuple(key for key in self.values if group_of(key) == group)


def expected(topology: Topology, counting_tasks: int) -> list[Row]:
    """Compute the rows that the sink shows.

    Args:
        topology: the topology that is run.
        counting_tasks: tasks of the counting component; their number matters only where positions are
            saturated, as outputs of the same position come task by task.
    """
    state, shown, ticks = Dictionary(), list[Row](), list(topology.ticks)

    def emit(parent: Position, outputs: Iterable[object]) -> None:
        shown.extend((topology.child(parent, n), value) for n, value in enumerate(outputs))

    def tick_before(time: float) -> None:
        while ticks and ticks[0] <= time:
            at = ticks.pop(0)
            for group in range(GROUPS):
                emit(tick_position(at, group), tell(group, state))

    for position, line in merged(topology):
        rows: list[tuple[Position, str]] = [(position, line)]
        for component in STATELESS[: len(topology.groupings)]:
            outputs = [(at, n, output) for at, word in rows for n, output in enumerate(component(word))]
            rows = [(topology.child(at, n), output) for at, n, output in outputs]
        tick_before(position[0])
        for at, word in rows:
            emit(at, count(word, state))
    tick_before(float("inf"))
    if topology.saturates:
        shown.sort(key=lambda row: (row[0], owner_of(_group_of(row), counting_tasks)))
    return shown


def _group_of(row: Row) -> int:
    position, value = row
    return position[2] if position[1] < 0 else group_of(value[0])


def merged(topology: Topology) -> list[tuple[Position, str]]:
    """All lines with their positions, in order."""
    return sorted(
        ((time, partition, row), line)
        for partition, lines in enumerate(topology.partitions)
        for row, (time, line) in enumerate(lines)
    )


# -- by lot


def drawn_topology(draw: random.Random, saturates: bool) -> Topology:
    partitions = tuple(_lines(draw) for _ in range(draw.choice((1, 2, 2, 3))))
    stages = 1 if saturates else draw.choice((1, 1, 2))  # or the words of a line reach a counter unordered
    latest = max(lines[-1][0] for lines in partitions)
    period = draw.randint(1, 4)
    return Topology(
        partitions,
        tuple(draw.choice(("shuffle", "partial key")) for _ in range(stages)),
        tuple(range(period, latest + 2 * period, period)),
        3 if saturates else 9,
    )


def _lines(draw: random.Random) -> Lines:
    lines, time = [], 0
    for _ in range(draw.randint(3, 9)):
        time += draw.randint(0, 3)
        words = draw.choice((0, 1, 1, 2, 2, 3, 7))
        lines.append((time, "".join(draw.choice(WORDS) for _ in range(words))))
    return tuple(lines)


def drawn_layout(draw: random.Random, topology: Topology, counting_tasks: int | None = None) -> Layout:
    between = [draw.choice((1, 2, 2, 3)) for _ in topology.groupings]
    counting = counting_tasks or draw.choice((1, 2, 2, 3))
    tasks = (draw.randint(1, len(topology.partitions)), *between, counting, 1)
    workers = draw.randint(1, 3)
    slots = SLOTS_FOR_ONE_LINE if topology.saturates else draw.choice((1, 2, 3, 6))
    return Layout(tasks, slots, tuple(draw.randrange(workers) for _ in range(sum(tasks))))
