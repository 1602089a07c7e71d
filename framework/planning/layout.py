"""The division of the 128 bits of a position's path among the hops of a topology.

A component writes into the field of its depth, the longest way from a spout. So a tuple that took a shorter
way has zeros in between, and whoever reads it compares like with like. The layout depends on the topology
alone, never on the parallelism.

    depth 0   | spout, partition | number of the tuple within its timestamp |
    depth d   | component, replica if it has them | number of the output of its input |

Output of bolts at the end of windows has nothing at depth 0. If there are such bolts, two bits before all
others distinguish it from tuples. Windows by key, which do not hold tuples at the time of their end, come
before all tuples of that time. Windows of tasks, which do hold them, come after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from framework.model.topology import GroupingKind, Role, Topology
from framework.model.topology.graph import depths
from viper.position import Level, Position

PATH_BITS = 128
PARTITION_BITS = 12
"""Room for 4,096 partitions of a spout."""
REPLICA_BITS = 10
"""Room for 1,024 replicas of a component that a tuple may reach more than once."""
SEQUENCE_BITS = 24
"""Room for 16.7 million tuples of one partition with the same timestamp."""
AGENDA_BITS = 2
"""Room for the kind of entry at a time, if windows end at times."""
_OF_TICKS, _OF_TUPLES, _OF_TASK_WINDOWS = 1, 2, 3
"""The values of these bits; windows by key have 0."""
_WORD_BITS = PATH_BITS // 2
BEHIND_TUPLES = _OF_TASK_WINDOWS << _WORD_BITS - AGENDA_BITS
"""The upper word of the path of windows of tasks: after all tuples of their end."""
_BESIDE_GROUPS = 2
"""Bits that distinguish outputs of key groups at the ends of windows from those below tuples."""
MAX_ORDINAL_BITS = 32
MIN_ORDINAL_BITS = 2
"""A hop with one output per input needs these; below that, the last hops of a deep topology get none."""

_COPYING = (GroupingKind.ALL, GroupingKind.CUSTOM)


@dataclass(frozen=True, slots=True)
class ComponentLevel:
    """The field of a path that one component writes into the positions of its tuples."""

    depth: int
    offset: int
    """Lowest bit of the field, counted from the end of the path."""
    ordinal_bits: int
    tag_bits: int
    tag: int
    """The component's own part of the tag."""
    copy_bits: int
    """Bits of the tag that hold the partition (spouts) or the replica (where tuples are copied)."""

    def level(self, copy: int = 0) -> Level:
        """The level for one partition of a spout, or for one replica of a component."""
        return Level(self.offset, self.ordinal_bits, self.tag_bits, self.tag << self.copy_bits | copy)

    def place(self, ts: int, group: int) -> Position:
        """Return the position of a key group's output at a time, ahead of all tuples of that time."""
        path = (self.tag << self.copy_bits | group) << self.offset + self.ordinal_bits
        return Position(ts, path >> _WORD_BITS, path & (1 << _WORD_BITS) - 1)

    @property
    def in_place(self) -> Level:
        """The level for that below its place."""
        return Level(self.offset, self.ordinal_bits, 0, 0)

    @property
    def behind_ticks(self) -> Level:
        """The level for outputs of inputs, in a component whose replicas have outputs of their own at ticks.

        It is the same for all replicas, and behind theirs: an input at the position of a tick comes after it.
        """
        return self.level(copy=(1 << self.copy_bits) - 1)


@dataclass(frozen=True, slots=True)
class Layout:
    """The levels of all components, by id."""

    components: Mapping[str, ComponentLevel]
    ticked: frozenset[str] = frozenset()
    """The components that emit at ticks, for batches or when windows end, where each replica has outputs of
    its own."""
    tick_path: int = 0
    """The upper word of the path of ticks: after windows that end at their time."""


def make_layout(
    topology: Topology,
    ticked: frozenset[str] = frozenset(),
    *,
    has_windows: bool = False,
    by_key: frozenset[str] = frozenset(),
    groups: int = 1,
) -> Layout:
    """Divide the path's bits among the depths of a topology.

    Args:
        topology: a valid one.
        ticked: the components that emit at ticks or for batches. Output of their replicas at the same tick
            has the replica in its position, as no input distinguishes it.
        has_windows: whether windows end at times, or may do so.
        by_key: the components with windows by key. Output of these has the key group in its position.
        groups: the number of key groups.

    If a topology is so deep that nothing is left for its last levels, tuples there share positions, and their
    order falls back to the order of their sources.
    """
    by_depth: dict[int, list[str]] = {}
    for component_id, depth in depths(topology).items():
        by_depth.setdefault(depth, []).append(component_id)
    copying = _copying_depths(topology, by_depth, ticked)
    for depth, ids in by_depth.items() if by_key else ():
        if by_key.intersection(ids):
            copying[depth] = max(copying[depth], _bits(groups) + _BESIDE_GROUPS)
    agenda_bits = AGENDA_BITS if has_windows else 0
    ordinal_bits = _ordinal_bits(by_depth, copying, agenda_bits)
    spouts = {spout.id for spout in topology.spouts} if has_windows else set()
    levels: dict[str, ComponentLevel] = {}
    free = PATH_BITS - agenda_bits
    for depth in sorted(by_depth):
        # In order of definition within a depth, so that ties are broken as the user wrote them.
        ids = [c.id for c in topology.components if c.id in by_depth[depth]]
        copy_bits = min(copying[depth], free)
        tag_bits = min(_bits(len(ids)) + copy_bits, free)
        bits = min(SEQUENCE_BITS if depth == 0 else ordinal_bits, free - tag_bits)
        free -= tag_bits + bits
        for tag, component_id in enumerate(ids):
            level = ComponentLevel(depth, free, bits, tag_bits, tag, copy_bits)
            levels[component_id] = _behind_agenda(level) if component_id in spouts else level
    return Layout(levels, ticked, _OF_TICKS << _WORD_BITS - AGENDA_BITS if has_windows else 0)


def _behind_agenda(level: ComponentLevel) -> ComponentLevel:
    """The level of a spout where work that is due at a time comes before all tuples of that time."""
    tag = level.tag | _OF_TUPLES << level.tag_bits - level.copy_bits
    return replace(level, tag_bits=level.tag_bits + AGENDA_BITS, tag=tag)


def _bits(choices: int) -> int:
    return (choices - 1).bit_length()


def _copying_depths(
    topology: Topology, by_depth: Mapping[int, list[str]], ticked: frozenset[str]
) -> dict[int, int]:
    """Bits for partitions or replicas, by depth."""
    copied = {
        component.id
        for component in topology.components
        if any(subscription.grouping.kind in _COPYING for subscription in component.inputs)
    }
    copied |= ticked
    spouts = {component.id for component in topology.components if component.role is Role.SPOUT}
    return {
        depth: PARTITION_BITS if spouts & set(ids) else REPLICA_BITS if copied & set(ids) else 0
        for depth, ids in by_depth.items()
    }


def _ordinal_bits(by_depth: Mapping[int, list[str]], copying: Mapping[int, int], agenda_bits: int) -> int:
    tags = sum(_bits(len(ids)) + copying[depth] for depth, ids in by_depth.items())
    hops = max(len(by_depth) - 1, 1)
    share = max(PATH_BITS - agenda_bits - SEQUENCE_BITS - tags, 0) // hops
    return min(max(share, MIN_ORDINAL_BITS), MAX_ORDINAL_BITS)
