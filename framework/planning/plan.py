"""The physical plan: tasks, the channels between them, and the layout of positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from framework.model.tables import TableGroup
from framework.model.topology import ComponentSpec, Grouping, GroupingKind, Role, Topology
from framework.operators.windows.key_input import InputMode, KeyInput
from framework.planning.evaluation import Evaluation
from framework.planning.layout import Layout
from framework.planning.place import Place
from framework.planning.placement import Placement
from framework.planning.routing import TaskSet
from framework.planning.time_mode import TimeMode
from framework.planning.traits import Traits


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One replica of a component, as the plan describes it; the runtime makes a `Task` from it."""

    id: int
    """From 1 upwards over the components sorted by id, as in Storm."""
    component: str
    index: int
    """From 0 upwards within the component; for a spout also its source partition."""
    role: Role
    depth: int
    """Hops on the longest way from a spout."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A stream that a component subscribes to."""

    source: str
    stream: str
    target: str
    grouping: Grouping
    feedback: bool
    """True if it closes a cycle: delivered as it arrives, without waiting for others."""
    cyclic: bool
    """True if it is part of a cycle: its producer must not wait for room at its consumer."""
    copies: bool
    """True if one tuple may go to several of its consumer's tasks."""
    key: tuple[int, ...] | None = None
    """Indexes of the fields that name the key of its consumer's state; None where that has none by key."""
    key_input: KeyInput | None = None
    """The way in which tuples come to a consumer that derives their keys; None for any other."""
    claimed: bool = False
    """True if the tasks of its consumer claim its tuples."""

    @property
    def is_shared(self) -> bool:
        """True if all tasks of its consumer have one input: each gets every tuple, or claims some."""
        if self.claimed:
            return True
        mode = InputMode.SHARED if self.key_input is None else self.key_input.mode
        return self.grouping.kind is GroupingKind.ALL and mode is InputMode.SHARED


@dataclass(frozen=True, slots=True)
class Channel:
    """The input of one task, or of all tasks of a component that each get every tuple, or claim them."""

    readers: tuple[int, ...]
    """Ids of the consuming tasks."""
    sources: tuple[int, ...]
    """Ids of the producing tasks; ties are broken in this order."""
    feedback: tuple[int, ...] = ()
    """Ids of the producing tasks whose tuples come back through a cycle; then there is one reader."""
    chained: bool = False
    """True if the only producing task hands its tuples to the only consuming one without a gate."""
    claims: bool = False
    """True if each tuple goes to one of several readers, which claims it."""
    by_key: bool = False
    """True if it claims its key group, as long as tuples of that are left."""
    arriving: bool = False
    """True if the tuples of each producing task come by a gate of their own, in no order with the others'."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that running a topology needs to know, before anything runs."""

    topology: Topology
    time: TimeMode
    tasks: tuple[TaskSpec, ...]
    """By id."""
    subscriptions: tuple[Subscription, ...]
    channels: tuple[Channel, ...]
    """By reader; every task of a bolt reads from one."""
    placement: Placement
    layout: Layout
    confs: Mapping[str, Mapping[str, Any]]
    """Each component's resolved configuration, by id."""
    traits: Mapping[str, Traits]
    """Facts about each component's class, by id."""
    emits_outside_input: bool = False
    """True if a bolt may emit by the wall clock, or for tuples that come back to it through a cycle."""
    offsets: Mapping[str, Mapping[int, Place]] = field(default_factory=dict)
    """For each partitioned spout that resumes where an earlier run had stopped, the place in each of its
    partitions: time of the last row in microseconds, number of rows of that time, and what belongs to the
    offset, where rows have one."""
    start_id: int | None = None
    """The id of the checkpoint that the run resumes from; None if it resumes none."""
    saved: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """For each task that resumes from a checkpoint, the data that the task of that run has saved, by id."""
    aligned_sources: tuple[tuple[int, ...], ...] = ()
    """Ids of the tasks of spouts that come to one event time for a checkpoint, group by group."""
    scalable: Mapping[str, TaskSet] = field(default_factory=dict)
    """For each bolt whose tasks may change while it runs, which of them get tuples at first; the others stand
    by."""
    movable: frozenset[str] = frozenset()
    """The bolts among these that the run moves from worker to worker by itself."""
    controlled: Mapping[str, Any] = field(default_factory=dict)
    """For each of these that has a controller, what the configuration says of that (``viper.controller``)."""
    merges: Mapping[int, int] = field(default_factory=dict)
    """For each task behind a merge bolt the task of that, by ids; empty but in the operator layer."""
    table_groups: tuple[TableGroup, ...] = ()
    """The groups of shared tables."""
    evaluation: Evaluation | None = None
    """The evaluation of their transactions; None if there are none."""

    @property
    def drained_at_cut(self) -> tuple[int, ...]:
        """The ids of the tasks that end at one event time when the run drains.

        They are those of partitioned spouts, so that a drained run is a whole part of the replay. No consumer
        keeps the tasks of a spout that nobody reads from being far ahead of one another: these are left out.
        """
        read = {subscription.source for subscription in self.subscriptions}
        spouts = {spout.id for spout in self.topology.spouts if self.traits[spout.id].partitioned} & read
        return tuple(
            task.id
            for task in self.tasks
            if task.component in spouts and any(task.id in part for part in self.aligned_sources)
        )

    @property
    def handing_over(self) -> tuple[str, ...]:
        """The bolts among those whose tasks hand state by key over to one another then, by id."""
        return tuple(name for name in sorted(self.scalable) if self.traits[name].keyed)

    @property
    def claiming(self) -> tuple[str, ...]:
        """The bolts whose tasks share their input by claims, by id."""
        claimed = (channel.readers[0] for channel in self.channels if channel.claims)
        return tuple(sorted(self.tasks[task - 1].component for task in claimed))

    @property
    def claimed_by_key(self) -> tuple[str, ...]:
        """The bolts whose tasks claim key groups, by id."""
        readers = [channel.readers[0] for channel in self.channels if channel.by_key]
        return tuple(sorted(self.tasks[reader - 1].component for reader in readers))

    def transactional(self, group: TableGroup) -> tuple[TaskSpec, ...]:
        """The tasks that have transactions in a group: by component in order of definition, then by index."""
        return tuple(task for member in group.members for task in self.tasks_of(member))

    def tasks_of(self, component: str) -> tuple[TaskSpec, ...]:
        """The tasks of a component, by index."""
        return tuple(task for task in self.tasks if task.component == component)

    def reached(self, sender: int, reader: int) -> int:
        """The id of the task that gets what one task sends to another: that one, or its merge bolt's."""
        merge = self.merges.get(reader, reader)
        return reader if merge == sender else merge

    @property
    def declared(self) -> tuple[ComponentSpec, ...]:
        """The components that the topology declares, in order of definition: all but merge bolts."""
        merges = {self.tasks[merge - 1].component for merge in self.merges.values()}
        return tuple(component for component in self.topology.components if component.id not in merges)

    def behind(self, merge: int) -> int | None:
        """The id of the task behind a merge bolt's task; None for the task of any other bolt."""
        return next((reader for reader, found in self.merges.items() if found == merge), None)

    def is_behind_cycle(self, component: str) -> bool:
        """True if a component receives tuples that go round in a cycle, or that descend from such tuples."""
        seen, todo = {component}, [component]
        while todo:
            target = todo.pop()
            for subscription in self.subscriptions:
                if subscription.target == target:
                    if subscription.cyclic:
                        return True
                    if subscription.source not in seen:
                        seen.add(subscription.source)
                        todo.append(subscription.source)
        return False

    def channel_of(self, reader: int) -> Channel:
        """The channel that a task of a bolt reads from.

        Raises:
            KeyError: the task does not belong to a bolt.
        """
        for channel in self.channels:
            if reader in channel.readers:
                return channel
        raise KeyError(reader)
