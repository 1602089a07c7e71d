"""Everything that the processes of a run share lies in one arena: channels, bells, the quota, trees,
black boxes, the cuts of a run and the numbers of tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from framework.model.config import Settings
from framework.model.errors import ConfigError
from framework.model.topology import Role
from framework.planning import Channel, Plan, WorkerKind, is_exact
from framework.runtime.coordination.cut_record import CutRecord
from framework.runtime.coordination.ownership import Ownership
from framework.runtime.coordination.scale_record import ScaleRecord
from framework.runtime.exchange.buffer import SPILL_AT
from framework.runtime.observation.statistics import (
    ChannelStatistics,
    ReaderStatistics,
    SourceStatistics,
    TakenStatistics,
)
from viper.arena import Arena
from viper.bell import Bell
from viper.blackbox import BlackBox
from viper.errors import ArenaError
from viper.forest import Forest
from viper.gate import ScaleGate
from viper.life import Life
from viper.link import Link
from viper.position import END, LEAST, Position
from viper.quota import Quota
from viper.reader import Reader
from viper.source import Source
from viper.statistics import GateStatistics

STATUS_BYTES = 4096
"""Bytes that a worker process has for its status report, whatever tasks it runs."""
STATUS_BYTES_PER_TASK = 4096
"""Bytes that it has in addition for each of its tasks."""


@dataclass(frozen=True, slots=True)
class NetworkMap:
    """The offset of everything in the arena, for processes that attach to it."""

    gates: tuple[int, ...]
    bells: tuple[int, ...]
    requests: int
    stand_ins: tuple[int, ...]
    """By process."""
    quota: int
    black_boxes: tuple[int, ...] = ()
    """By process; empty where all tasks run in this one."""
    lives: tuple[int, ...] = ()
    """By process; empty where all tasks run in this one, and where the system knows none."""
    forest: int | None = None
    """None where nothing is tracked."""
    record: int | None = None
    """That of the record of cuts; None where sources never come to one event time."""
    makes_checkpoints: bool = False
    scales: int | None = None
    """None where no component can be scaled."""


class Network:
    """One gate per channel, and one more for each task that sends back through a cycle.

    Made by `create`; a worker process has its own view of what its parent has made.
    """

    def __init__(
        self, plan: Plan, settings: Settings, arena: Arena, offsets: NetworkMap, process: int
    ) -> None:
        """
        Args:
            plan: says which tasks feed which, and which of them share a process.
            settings: the configuration it was planned with.
            arena: the memory that holds everything.
            offsets: where everything lies in the arena.
            process: index of this process; -1 for one that runs no tasks.
        """
        self.arena = arena
        self.offsets = offsets
        self._plan = plan
        self._executors = {t: i for i, e in enumerate(plan.placement.executors) for t in e.tasks}
        self._processes = {e: i for i, members in enumerate(plan.placement.processes) for e in members}
        self._links = {
            (channel.sources[0], channel.readers[0]): Link(**room_of_link(plan, settings, channel))
            for channel in plan.channels
            if channel.chained
        }
        self._ways = list(ways_of(plan))
        self._survives = is_exact(plan, settings)
        """True if waiting tuples are written as bytes even for readers of the same process."""
        here = set(_tasks_of(plan, process))
        self._gates = [
            ScaleGate.attach(
                arena,
                offset,
                local_readers=[i for i, r in enumerate(readers) if r in here],
                survives=self._survives,
            )
            for offset, (_, readers) in zip(offsets.gates, self._ways, strict=True)
        ]
        self._between = {
            (source, reader): (gate, sources.index(source), readers.index(reader))
            for gate, (sources, readers) in zip(self._gates, self._ways, strict=True)
            for source in sources
            for reader in readers
        }
        self._claiming = {
            reader: channel.readers
            for channel in plan.channels
            if channel.claims and plan.tasks[channel.readers[0] - 1].component in plan.scalable
            for reader in channel.readers
        }
        """By task that claims its input and may rest, the tasks that it shares this with."""
        self._encoding = {
            gate
            for gate, way in zip(self._gates, self._ways, strict=True)
            if self._survives or lies_between_processes(plan, way)
        }
        self.bells = [Bell.attach(arena, offset) for offset in offsets.bells]
        """By executor."""
        self.requests = Bell.attach(arena, offsets.requests)
        """Counts how often an executor has asked for heartbeats."""
        self._stand_ins = [Bell.attach(arena, offset) for offset in offsets.stand_ins]
        self.stand_in_bell = self._stand_ins[max(process, 0)]
        """Wakes who acts for the blocking tasks of this process."""
        self.quota = self.quota_of(max(process, 0))
        self.forest = None if offsets.forest is None else Forest.attach(arena, offsets.forest)
        """The trees of tracked tuples, with a table for each task; None where none are tracked."""
        self.record = None if offsets.record is None else CutRecord.attach(arena, offsets.record, plan)
        """The record of cuts; None where sources never agree on one."""
        has_cuts = offsets.makes_checkpoints or bool(plan.handing_over)
        self.cut = self.record if has_cuts else None
        """The same where bolts come to cuts, too; None where a drain is the only one."""
        self.makes_checkpoints = offsets.makes_checkpoints
        """True if the run has a folder for checkpoints."""
        self.scales = None if offsets.scales is None else ScaleRecord.attach(arena, offsets.scales, plan)
        """The tasks that get the tuples of each component; None where no component can be scaled."""
        self.ownership = Ownership(self.cut, self.scales, plan, settings["viper.key.groups"])
        """The key groups of each task."""

    @classmethod
    def create(
        cls, plan: Plan, settings: Settings, max_tuples: int | None = None, *, checkpoints: bool = False
    ) -> Network:
        """Make everything, in memory that worker processes can share if there are any.

        Args:
            plan: says which tasks feed which, and which of them share a process.
            settings: the configuration it was planned with.
            max_tuples: how many tuples all spouts may emit together; None for no limit.
            checkpoints: whether checkpoints can be made.

        Raises:
            ConfigError: the system has less memory than the channels need.
        """
        aligns = checkpoints or bool(plan.handing_over or plan.drained_at_cut)
        ways = list(ways_of(plan))
        sizes = [size_of(plan, settings, way) for way in ways]
        processes = plan.placement.processes
        small = (len(plan.placement.executors) + len(processes) + 1) * Bell.size()
        small += Quota.size(len(processes))
        small += CutRecord.size(plan) if aligns else 0
        small += ScaleRecord.size(plan)
        trees = _trees(plan, settings)
        boxes = list(_black_boxes(plan))
        small += sum(map(BlackBox.size, boxes)) + len(boxes) * Life.size()
        arena = _arena(plan, sum(sizes) + small + (Forest.size(*trees) if trees else 0))
        claiming = {channel.readers for channel in plan.channels if channel.claims and not channel.by_key}
        gates = [
            ScaleGate.create(
                arena, *dimensions(way), **capacity(plan, settings, way), claims=way[1] in claiming
            )
            for way in ways
        ]
        bells = [Bell.create(arena) for _ in plan.placement.executors]
        quota = Quota.create(arena, max_tuples, accounts=len(processes))
        forest = Forest.create(arena, trees[0], trees=trees[1], links=trees[2]) if trees else None
        offsets = NetworkMap(
            tuple(g.offset for g in gates),
            tuple(b.offset for b in bells),
            Bell.create(arena).offset,
            tuple(Bell.create(arena).offset for _ in processes),
            quota.offset,
            tuple(BlackBox.create(arena, capacity).offset for capacity in boxes),
            tuple(life.offset for _ in boxes if (life := Life.create(arena)) is not None),
            forest.offset if forest else None,
            CutRecord.create(arena, plan).offset if aligns else None,
            checkpoints,
            ScaleRecord.create(arena, plan).offset if plan.scalable else None,
        )
        process = -1 if plan.placement.kind is WorkerKind.PROCESS else 0
        network = cls(plan, settings, arena, offsets, process)
        network._connect_bells()
        return network

    def source(self, producer: int, reader: int) -> Source:
        """The producing end of the way from one task to another."""
        gate, source, _ = self._between[producer, reader]
        return gate.source(source)

    def link(self, producer: int, reader: int) -> Link | None:
        """The link from one task to another; None if they are not chained."""
        return self._links.get((producer, reader))

    def reader(self, reader: int) -> Reader | Link:
        """The consuming end of a task's channel."""
        first = self._plan.channel_of(reader).sources[0]
        return self.link(first, reader) or self.reader_of(first, reader)

    def reader_of(self, producer: int, reader: int) -> Reader:
        """The consuming end of the gate between two tasks."""
        gate, _, index = self._between[producer, reader]
        return gate.reader(index)

    def feedback(self, reader: int) -> list[Reader]:
        """The consuming ends of the ways back to a task, by producing task."""
        return [
            self._between[source, reader][0].reader(0) for source in self._plan.channel_of(reader).feedback
        ]

    def has_others(self, task: int) -> bool:
        """True if a task sends tuples to a task of another executor, or gets some from one, or shares claims
        with one."""
        ways = chain(self._between, ((task, other) for other in self._claiming.get(task, ())))
        return any(task in way and self.crosses(*way) for way in ways)

    def may_rest(self, task: int) -> bool:
        """True if a task claims its input, and may come to rest as others do that alone."""
        return task in self._claiming

    def crosses(self, producer: int, reader: int) -> bool:
        """True if two tasks are run by different executors."""
        return self._executors[producer] != self._executors[reader]

    def leaves_process(self, producer: int, reader: int) -> bool:
        """True if tuples from a task to another are encoded, for it or for another reader of its gate."""
        gate, *_ = self._between[producer, reader]
        return gate in self._encoding

    def encodes(self, producer: int, readers: Sequence[int]) -> bool:
        """True if a task writes its tuples as bytes for tasks that share a gate."""
        is_gate = self.link(producer, readers[0]) is None
        return is_gate and (self._survives or any(self.decodes(producer, reader) for reader in readers))

    def decodes(self, producer: int, reader: int) -> bool:
        """True if a task gets bytes from another, as another process runs that."""
        return self._processes[self._executors[producer]] != self._processes[self._executors[reader]]

    def gates(self) -> Iterator[tuple[Way, ScaleGate]]:
        """Every gate with its producing and consuming tasks."""
        return zip(self._ways, self._gates, strict=True)

    def bells_of(self, tasks: Sequence[int]) -> list[Bell]:
        """The bells of all that run these tasks."""
        return [self.bells[executor] for executor in sorted({self._executors[task] for task in tasks})]

    def wake_all(self) -> None:
        """Have every executor look for what its tasks may do; any thread may call it."""
        for bell in self.bells:
            bell.ring()

    def bells_of_spouts(self, but: int) -> list[Bell]:
        """The bells of all that can send heartbeats for spouts, except for one executor's.

        Args:
            but: index of that executor.
        """
        spouts = [task.id for task in self._plan.tasks if task.role is Role.SPOUT]
        executors = {self._executors[task] for task in spouts} - {but}
        blocking = {
            process
            for process, members in enumerate(self._plan.placement.processes)
            for task in spouts
            if self._executors[task] in members and self._blocks(task)
        }
        return [self.bells[e] for e in sorted(executors)] + [self._stand_ins[p] for p in sorted(blocking)]

    def take_over_stand_in(self, process: int) -> None:
        """Forget that the stand-in for a killed process's tasks slept; for the successor of that process."""
        self._stand_ins[process].take_over()

    def _blocks(self, task: int) -> bool:
        component = next(found.component for found in self._plan.tasks if found.id == task)
        return bool(self._plan.confs[component]["viper.blocking"])

    def quota_of(self, process: int) -> Quota:
        """The quota with the account of a process."""
        return Quota.attach(self.arena, self.offsets.quota, account=process)

    def black_box(self, process: int) -> BlackBox:
        """The black box in which a worker process writes what it is doing, for its parent."""
        capacity = list(_black_boxes(self._plan))[process]
        return BlackBox.attach(self.arena, self.offsets.black_boxes[process], capacity)

    def life(self, process: int) -> Life | None:
        """The life of a worker process; None where the system knows none."""
        lives = self.offsets.lives
        return Life.attach(self.arena, lives[process]) if lives else None

    def outlets(self, task: int) -> list[Source]:
        """All producing ends of a task."""
        return [gate.source(way[0].index(task)) for way, gate in self.gates() if task in way[0]]

    def floor(self, task: int) -> Position:
        """The least position that a task may still emit at; all below it was added or promised before."""
        return max((outlet.floor() for outlet in self.outlets(task)), default=LEAST)

    def has_ended(self, task: int) -> bool:
        """True if any consumer of a task has heard that it has ended; False if it has no consumers."""
        return self.floor(task) == END

    def told(self, task: int) -> int:
        """At least how many tuples of a task consumers have got; those of several gates may be copies."""
        gates = [(gate, way[0].index(task)) for way, gate in self.gates() if task in way[0]]
        return max((gate.statistics().sources[index].added_tuples for gate, index in gates), default=0)

    def statistics(self) -> list[tuple[Way, GateStatistics]]:
        """Every gate with its producing and consuming tasks; from any process, at any time."""
        found = [(way, gate.statistics()) for way, gate in self.gates()]
        found += [(((one,), (other,)), link.statistics()) for (one, other), link in self._links.items()]
        return sorted(found, key=lambda one: one[0][1])  # in the order of the channels

    def counts_waiting(self, tasks: Collection[int]) -> Callable[[], int]:
        """Return what counts the tuples that wait for tasks, by their ids; from any process, at any time.

        Tasks that claim key groups all come to each tuple, which waits as long as one of them has not.
        """
        by_key = {channel.readers for channel in self._plan.channels if channel.by_key}
        links = [link for (_, reader), link in self._links.items() if reader in tasks]
        gates = [
            (gate, [index for index, reader in enumerate(readers) if reader in tasks], readers in by_key)
            for (_, readers), gate in self.gates()
            if not set(readers).isdisjoint(tasks)
        ]

        def count() -> int:
            found = sum(link.waiting_tuples() for link in links)
            for gate, indexes, are_same in gates:
                each = ([index] for index in indexes)
                found += max(map(gate.waiting_tuples, each)) if are_same else gate.waiting_tuples(indexes)
            return found

        return count

    def _connect_bells(self) -> None:
        """Have each executor woken when another executor acts at the other end of one of its gates."""
        for (source, reader), (gate, source_index, reader_index) in self._between.items():
            if self.crosses(source, reader):
                gate.set_source_bell(source_index, self.bells[self._executors[source]])
            if self.crosses(source, reader) or (self.may_rest(reader) and self.has_others(reader)):
                gate.set_reader_bell(reader_index, self.bells[self._executors[reader]])
        if self.forest is not None and len(self.bells) > 1:
            for task in self._plan.tasks:
                if task.role is Role.SPOUT:
                    self.forest.set_bell(task.id - 1, self.bells[self._executors[task.id]])


_SPARE_TREES = 2 * SPILL_AT
"""Trees beyond ``viper.tracked.max``, for the tuples that one callback can emit before it is held up."""
_LINKS_PER_TREE = 2


def _trees(plan: Plan, settings: Settings) -> tuple[int, int, int] | None:
    """The number of tables of the forest, and of trees and links in each; None where nothing is tracked."""
    if settings["topology.acker.executors"] == 0:
        return None
    trees = settings["viper.tracked.max"] + _SPARE_TREES
    return len(plan.tasks), trees, _LINKS_PER_TREE * trees


def _tasks_of(plan: Plan, process: int) -> Sequence[int]:
    if process < 0:
        return ()
    executors = plan.placement.executors
    return [task for index in plan.placement.processes[process] for task in executors[index].tasks]


def _black_boxes(plan: Plan) -> Iterator[int]:
    """The capacity in bytes of each worker process's black box."""
    if plan.placement.kind is WorkerKind.PROCESS:
        for process in range(len(plan.placement.processes)):
            yield STATUS_BYTES + STATUS_BYTES_PER_TASK * len(_tasks_of(plan, process))


def _arena(plan: Plan, size_bytes: int) -> Arena:
    try:
        if plan.placement.kind is WorkerKind.PROCESS:
            return Arena.shared(size_bytes)
        return Arena.private(size_bytes)
    except ArenaError as error:
        ways = sum(len(channel.sources) for channel in plan.channels)
        raise ConfigError(
            f"{error}: the {ways} ways between tasks and the tracking of tuples need that much; lower "
            "viper.channel.tuples, viper.channel.bytes, viper.tracked.max or the parallelism"
        ) from error


Way = tuple[tuple[int, ...], tuple[int, ...]]
"""Ids of the producing tasks and of the consuming tasks that share a gate."""


def ways_of(plan: Plan) -> Iterator[Way]:
    """Every way of a plan that has a gate."""
    for channel in plan.channels:
        if channel.arriving:
            yield from (((source,), channel.readers) for source in channel.sources)
        elif not channel.chained:
            yield channel.sources, channel.readers
        for source in channel.feedback:
            yield (source,), channel.readers


def dimensions(way: Way) -> tuple[int, int]:
    """Return the numbers of tasks at both ends of a way."""
    sources, readers = way
    return len(sources), len(readers)


_BATCHES_AHEAD = 8
"""Batches of columns that a task may be ahead of another executor's.

With two, the tasks wake each other for each batch, and word count on two processes made 9.6 million words a
second; 12.5 with three, and 14.3 with eight. Within one executor more than two would only leave its caches.
"""
_WHOLE_AHEAD = 16
"""The same, where the only source of a way hands over batches whole, which may be four times as large.

With eight, which is two of these, word count on two processes took 326 ms instead of 204; with 32, 220.
"""


def capacity(plan: Plan, settings: Settings, way: Way) -> dict[str, int]:
    """Return the capacity of the gate of a way, as arguments for `ScaleGate.create`."""
    is_read_elsewhere = is_exact(plan, settings) or lies_between_processes(plan, way)
    store = settings["viper.channel.bytes"] if is_read_elsewhere else 0
    return {**_room(plan, settings, way), "payload_bytes": store}


def _room(plan: Plan, settings: Settings, way: Way) -> dict[str, int]:
    # A jumbo tuple must fit beside one that is being read.
    least = 2 * settings["viper.jumbo.size"]
    if _is_typed(plan, way):
        if len(way[0]) == 1 and lies_between_processes(plan, way):
            ahead = _WHOLE_AHEAD
        else:
            ahead = _BATCHES_AHEAD if len(_executors_of(plan, way)) > 1 else 2
        least = max(least, ahead * settings["viper.columns.rows"])
    return {
        "slots": settings["viper.channel.jumbos"],
        "tuples": max(settings["viper.channel.tuples"], least),
    }


def room_of_link(plan: Plan, settings: Settings, channel: Channel) -> dict[str, int]:
    """As much as its gate would have: what is handed over there at once is not cut into jumbo tuples."""
    way = channel.sources, channel.readers
    room = _room(plan, settings, way)
    of_rows, of_columns = settings["viper.jumbo.size"], settings["viper.columns.rows"]
    size = of_columns if _is_typed(plan, way) else of_rows
    return {**room, "tuples": min(room["tuples"], room["slots"] * size)}


def _is_typed(plan: Plan, way: Way) -> bool:
    """True if any stream on a way has a schema."""
    sources, readers = way
    behind = {found for reader in readers if (found := plan.behind(reader)) is not None} or set(readers)
    producing, consuming = (
        {task.component for task in plan.tasks if task.id in end} for end in (sources, behind)
    )
    is_merged = any(plan.behind(source) is not None for source in sources)
    return any(
        stream is not None and stream.schema is not None
        for s in plan.subscriptions
        if s.target in consuming and (is_merged or s.source in producing)
        for stream in [plan.topology.component(s.source).stream(s.stream)]
    )


def _executors_of(plan: Plan, way: Way) -> set[int]:
    """The indexes of the executors at either end."""
    ends = {*way[0], *way[1]}
    return {e for e, executor in enumerate(plan.placement.executors) if not ends.isdisjoint(executor.tasks)}


def lies_between_processes(plan: Plan, way: Way) -> bool:
    """True if its ends are in several processes."""
    executors = _executors_of(plan, way)
    return sum(not executors.isdisjoint(process) for process in plan.placement.processes) > 1


def size_of(plan: Plan, settings: Settings, way: Way) -> int:
    """Bytes that the gate of a way takes of an arena."""
    return ScaleGate.size(*dimensions(way), **capacity(plan, settings, way))


def channel_statistics(plan: Plan, network: Network) -> Sequence[ChannelStatistics]:
    """The statistics of all channels of a run, whichever process their tasks are in.

    It may be called from any thread. The counts are read one after the other while tuples flow, so they are
    not all of the same moment.
    """
    names = [f"{task.component}:{task.id}" for task in plan.tasks]  # ids are from 1 on
    found = []
    for way, gate in network.statistics():
        sources = [names[source - 1] for source in way[0]]
        adding = [
            SourceStatistics(
                task=name,
                tuples=added.added_tuples,
                jumbos=added.added_jumbos,
                payload_bytes=added.added_bytes,
                refused=added.refused,
                blocked_s=added.blocked_ns / 1e9,
                encoded=added.added_tuples if network.encodes(source, way[1]) else 0,
            )
            for name, source, added in zip(sources, way[0], gate.sources, strict=True)
        ]
        reading = [
            ReaderStatistics(
                task=names[task - 1],
                delivered=sum(source.delivered_tuples for source in taken.sources),
                runs=sum(source.runs for source in taken.sources),
                waiting={s: d.waiting_tuples for s, d in zip(sources, taken.sources, strict=True)},
                held_by=None if taken.holding is None else sources[taken.holding],
                taken=dict(zip(sources, _taken(network, way, gate, index), strict=True)),
                claims=taken.claims,
            )
            for index, (task, taken) in enumerate(zip(way[1], gate.readers, strict=True))
        ]
        found.append(ChannelStatistics(adding, reading, gate.tuples))
    return found


def _taken(network: Network, way: Way, gate: GateStatistics, reader: int) -> Iterator[TakenStatistics]:
    """Yield what a reader, by its index at a gate, has taken of each source."""
    for source, added, taken in zip(way[0], gate.sources, gate.readers[reader].sources, strict=True):
        yield TakenStatistics(
            tuples=taken.delivered_tuples,
            runs=taken.runs,
            jumbos=max(added.added_jumbos - taken.waiting_jumbos, 0),
            decoded=taken.delivered_tuples if network.decodes(source, way[1][reader]) else 0,
        )
