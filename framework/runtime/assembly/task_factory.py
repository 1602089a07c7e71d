"""From a plan to tasks that are connected by channels."""

from __future__ import annotations

import copy
import importlib
import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from framework.components import PartitionedSpout
from framework.components.component import LOGGER_PREFIX
from framework.config import Settings
from framework.instantiate import Beans
from framework.log import Origin, speaking_as
from framework.planning import Plan, Subscription, Task, TimeMode
from framework.planning.beside import emits_beside_input
from framework.routing import make_router
from framework.runtime.assembly.network import Network
from framework.runtime.assembly.recording import Deck
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.edges.destination import CyclicDestination, Destination
from framework.runtime.edges.groupings import (
    BroadcastEdge,
    ChosenEdge,
    DirectEdge,
    Edge,
    SpreadEdge,
    WholeEdge,
)
from framework.runtime.edges.limits import SPILL_AT
from framework.runtime.edges.output import Output, Port
from framework.runtime.edges.spout_collector import SpoutCollector
from framework.runtime.hosts.context import make_context
from framework.runtime.hosts.faults import OnError, Recovery, RestartBudget
from framework.runtime.hosts.host import Host, Identity
from framework.runtime.hosts.making import make_host
from framework.runtime.inputs.bolt_input import BoltInput
from framework.runtime.inputs.pieces import InputSource, InputStream, values_class
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.positions.clocks import make_clock
from framework.runtime.tasks.aligned_stop import OF_THE_DRAIN, CommonStop
from framework.runtime.tasks.blocking_tasks import BlockingBoltTask, BlockingSpoutTask
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.partitioned_task import PartitionedTask
from framework.runtime.tasks.replay_task import ReplayTask
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.spout_task import SpoutTask
from framework.runtime.tasks.task import RunningTask
from framework.runtime.tracking.pending import Pending
from framework.topology import Grouping, GroupingKind, Role
from viper.position import Level
from viper.reader import Reader

_COPYING = (GroupingKind.ALL, GroupingKind.CUSTOM)


class Wiring:
    """Makes the tasks of an executor; nothing of the user's but constructors is called.

    Args:
        plan: the whole run.
        settings: the configuration it was planned with.
        network: its channels, as this process sees them.
        beans: the objects that components of this process share.
        deck: what is recorded, and what is replayed.
        incarnation: how many processes have died in the place of this one.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        beans: Beans,
        deck: Deck,
        incarnation: int = 0,
    ) -> None:
        self.incarnation = incarnation
        self._plan = plan
        self._settings = settings
        self._network = network
        self._beans = beans
        self._deck = deck
        self._tasks = {task.id: task for task in plan.tasks}

    def tasks(self, ids: Sequence[int]) -> tuple[list[SourceTask], list[BoltTask]]:
        """The tasks of these ids, connected.

        Raises:
            ComponentError: a constructor raised.
        """
        made = {task_id: self._made(self._tasks[task_id]) for task_id in ids}
        for running in made.values():
            neighbours = self._neighbours(running)
            running.neighbours = tuple(made[task_id] for task_id in neighbours if task_id in made)
        spouts = [running for running in made.values() if isinstance(running, SourceTask)]
        return spouts, [running for running in made.values() if isinstance(running, BoltTask)]

    def _neighbours(self, running: RunningTask) -> list[int]:
        """Tasks that may have something to do once this one has run: those that read from it,
        and those that wait in a cycle for room to send something to it."""
        reading = [task for destination in running.output.destinations for task in destination.tasks]
        sending = [
            task.id
            for subscription in self._plan.subscriptions
            if subscription.cyclic and subscription.target == running.task.component
            for task in self._plan.tasks_of(subscription.source)
        ]
        return list(dict.fromkeys(reading + sending))

    # -- one task

    def _made(self, task: Task) -> RunningTask:
        with speaking_as(Origin(task.component, task.id)):
            return self._make(task)

    def _make(self, task: Task) -> RunningTask:
        conf = copy.deepcopy(dict(self._plan.confs[task.component]))
        logger = logging.getLogger(f"{LOGGER_PREFIX}.{task.component}")
        identity = Identity(
            self._plan.topology.name, task.component, task.id, conf, make_context(self._plan, task), logger
        )
        running = self._running(task, self._output(task), identity)
        running.recorder = self._deck.recorder(task)
        return running

    def _running(self, task: Task, output: Output, identity: Identity) -> RunningTask:
        if task.role is Role.SPOUT and self._deck.replays:
            return self._replay(task, output, identity)
        host = self._host(task)
        if isinstance(host.component, PartitionedSpout):
            return self._partitioned(task, host, output, identity)
        if task.role is Role.SPOUT:
            return self._spout(task, host, output, identity)
        return self._bolt(task, host, output, identity)

    def _host(self, task: Task) -> Host:
        topology = self._plan.topology
        return make_host(topology.component(task.component), task, self._beans, topology.import_paths)

    def _replay(self, task: Task, output: Output, identity: Identity) -> ReplayTask:
        collector = TaskCollector(task.component, output, TaskCounters(), identity.logger, limit=SPILL_AT)
        source = self._deck.source(task)
        recovery, quota = self._recovery(task, identity, Host.restart_tries), self._network.quota
        return ReplayTask(task, collector, output, identity, recovery, source=source, quota=quota)

    def _collector_options(self, identity: Identity, host: Host) -> dict[str, Any]:
        # A polled spout may never return from next_tuple, so each of its emits looks around.
        return {
            "limit": 1 if host.is_polled else SPILL_AT,
            "undeclared_is_error": identity.conf["viper.emit.undeclared"] == "error",
            "guarded": self._settings["viper.values"] == "json",
        }

    def _carry_as_configured(self, collector: TaskCollector) -> None:
        if self._settings["viper.values"] == "json":
            # What writes JSON as pystorm does is imported only where it is needed.
            importlib.import_module("framework.runtime.edges.json_values").emit_as_json(collector)

    def _partitioned(self, task: Task, host: Host, output: Output, identity: Identity) -> PartitionedTask:
        collector = TaskCollector(task.component, output, TaskCounters(), identity.logger, limit=SPILL_AT)
        return PartitionedTask(
            task,
            host,
            collector,
            output,
            identity,
            self._recovery(task, identity, host.restart_tries),
            tasks=len(self._plan.tasks_of(task.component)),
            level=self._plan.layout.components[task.component],
            places=self._plan.places.get(task.component, {}),
            quota=self._network.quota,
            max_pause_s=self._settings["viper.poll.pause.max.ms"] / 1000,
            common_stop=CommonStop(
                self._network.cut_of(task.id), self._settings["viper.drain.timeout.secs"] * OF_THE_DRAIN
            ),
        )

    def _spout(self, task: Task, host: Host, output: Output, identity: Identity) -> SpoutTask:
        conf, unit = identity.conf, identity.conf["viper.timestamp.unit"]
        options = self._collector_options(identity, host)
        options["takes_ids"] = self._network.forest is not None
        collector = SpoutCollector(task.component, output, TaskCounters(), identity.logger, **options)
        collector.time, collector.unit = self._plan.time, unit
        self._carry_as_configured(collector)
        level = self._plan.layout.components[task.component].level(copy=task.index)
        kind = BlockingSpoutTask if conf["viper.blocking"] else SpoutTask
        return kind(
            task,
            host,
            collector,
            output,
            identity,
            self._recovery(task, identity, host.restart_tries),
            clock=make_clock(
                self._plan.time, level, f"{task.component}:{task.id}", _time_fields(output, conf), unit
            ),
            quota=self._network.quota,
            linger_s=self._settings["viper.jumbo.linger.ms"] / 1000,
            max_pause_s=self._settings["viper.poll.pause.max.ms"] / 1000,
            pending=self._pending(task, conf),
            skips=emits_beside_input(
                self._plan.topology, self._plan.confs, self._plan.time, self._plan.subscriptions
            ),
        )

    def _pending(self, task: Task, conf: Mapping[str, Any]) -> Pending | None:
        forest = self._network.forest
        if forest is None:
            return None
        most = min(conf["topology.max.spout.pending"] or sys.maxsize, self._settings["viper.tracked.max"])
        times_out = conf["topology.enable.message.timeouts"]
        timeout_s = conf["topology.message.timeout.secs"] if times_out else None
        return Pending(forest, task.id - 1, most, timeout_s)

    def _recovery(self, task: Task, identity: Identity, default_tries: int | None) -> Recovery:
        conf = identity.conf
        said, tries = conf["viper.on.error"], conf["viper.restart.tries"]
        return Recovery(
            OnError(said) if said else None,
            RestartBudget(default_tries if tries is None else tries, conf["viper.restart.window.secs"]),
            lambda: self._host(task),
        )

    def _bolt(self, task: Task, host: Host, output: Output, identity: Identity) -> BoltTask:
        blocking = identity.conf["viper.blocking"]
        options = self._collector_options(identity, host)
        options["guarded"] = options["guarded"] or blocking
        collector = TaskCollector(task.component, output, TaskCounters(), identity.logger, **options)
        self._carry_as_configured(collector)
        channel = self._plan.channel_of(task.id)
        kind = BlockingBoltTask if blocking else BoltTask
        return kind(
            task,
            host,
            collector,
            output,
            identity,
            self._recovery(task, identity, host.restart_tries),
            received=BoltInput(
                self._network.reader(task.id),
                [self._input_source(source, task) for source in channel.sources],
                self._feedback(task, channel.feedback),
                shares=bool(identity.conf["viper.mutates"]) and self._is_copied_to(task),
            ),
            level=self._level_beside(task),
            event_tick_s=identity.conf["topology.tick.tuple.freq.secs"]
            if self._plan.time is TimeMode.EVENT
            else None,
            replayed_ticks=self._deck.ticks(task),
            forest=self._network.forest,
        )

    def _level_beside(self, task: Task) -> Level:
        """Where outputs that belong to no input are marked: as those for inputs that are copied."""
        copy = task.index if self._is_copied_to(task) else 0
        return self._plan.layout.components[task.component].level(copy)

    # -- input

    def _feedback(self, task: Task, producers: Sequence[int]) -> list[tuple[Reader, InputSource]]:
        sources = [self._input_source(producer, task) for producer in producers]
        return list(zip(self._network.feedback(task.id), sources, strict=True))

    def _is_copied_to(self, task: Task) -> bool:
        """Whether a replica of a task gets the very same values."""
        copied = [
            s for s in self._plan.subscriptions if s.target == task.component and s.grouping.kind in _COPYING
        ]
        return bool(copied) and len(self._plan.tasks_of(task.component)) > 1

    def _input_source(self, source_id: int, reader: Task) -> InputSource:
        source = self._tasks[source_id]
        component = self._plan.topology.component(source.component)
        tags = {stream.name: tag for tag, stream in enumerate(component.outputs or ())}
        streams = {
            tags[subscription.stream]: self._input_stream(subscription, source.id, reader)
            for subscription in self._subscriptions(source.component, reader.component)
        }
        return InputSource(f"{source.component}:{source.id}", streams)

    def _input_stream(self, subscription: Subscription, producer: int, reader: Task) -> InputStream:
        stream = self._plan.topology.component(subscription.source).stream(subscription.stream)
        fields = stream.fields if stream else ()
        copy = reader.index if subscription.grouping.kind in _COPYING else 0
        return InputStream(
            subscription.source,
            subscription.stream,
            producer,
            values_class(subscription.source, subscription.stream, fields) if fields else None,
            self._plan.layout.components[reader.component].level(copy),
        )

    def _subscriptions(self, source: str, target: str) -> list[Subscription]:
        return [s for s in self._plan.subscriptions if s.source == source and s.target == target]

    # -- output

    def _output(self, task: Task) -> Output:
        component = self._plan.topology.component(task.component)
        kept = self._deck.records
        ports = [Port(tag, stream, kept=kept) for tag, stream in enumerate(component.outputs or ())]
        destinations: dict[str, list[Destination]] = {}
        for port in ports:
            for subscription in self._plan.subscriptions:
                if (subscription.source, subscription.stream) == (component.id, port.stream.name):
                    if subscription.target not in destinations:
                        destinations[subscription.target] = self._destinations(task, subscription)
                    port.edges.append(self._edge(port, subscription, task, destinations[subscription.target]))
        told = [d for group in destinations.values() for d in group]
        readers = frozenset(reader for destination in told for reader in destination.tasks)
        return Output(ports, told + self._only_told(task, readers), self._network.forest)

    def _only_told(self, task: Task, readers: frozenset[int]) -> list[Destination]:
        """Tasks that receive nothing from this one but how far it is."""
        return [
            self._destination(Destination, task, channel.readers, 1, tagged=False)
            for channel in self._plan.channels
            if task.id in channel.sources and not readers.intersection(channel.readers)
        ]

    def _destinations(self, task: Task, subscription: Subscription) -> list[Destination]:
        """One for each consuming task, or one for all where each gets everything from this task."""
        between = self._subscriptions(task.component, subscription.target)
        kind = CyclicDestination if subscription.cyclic else Destination
        size = self._settings["viper.jumbo.size"]
        readers = [reader.id for reader in self._plan.tasks_of(subscription.target)]
        together = all(s.grouping.kind is GroupingKind.ALL for s in between)
        groups = [readers] if together else [[reader] for reader in readers]
        return [self._destination(kind, task, group, size, tagged=len(between) > 1) for group in groups]

    def _destination(
        self, kind: type[Destination], task: Task, readers: Sequence[int], size: int, *, tagged: bool
    ) -> Destination:
        # Those that other processes read from come first.
        abroad = sorted(readers, key=lambda reader: not self._network.leaves_process(task.id, reader))
        sources = dict.fromkeys(self._network.source(task.id, reader) for reader in abroad)
        return kind(readers, list(sources), size, tagged)

    def _edge(
        self, port: Port, subscription: Subscription, task: Task, destinations: Sequence[Destination]
    ) -> Edge:
        grouping = subscription.grouping
        described = f"stream {subscription.stream!r} to {subscription.target!r}, grouped by {grouping!r}"
        mutates = bool(self._plan.confs[subscription.target]["viper.mutates"])
        if grouping.kind is GroupingKind.DIRECT:
            return DirectEdge(destinations, mutates)
        if grouping.kind is GroupingKind.CUSTOM:
            choose = self._chooser(grouping, subscription, task, destinations)
            return ChosenEdge(destinations, mutates, choose, described)
        if len(destinations) == 1 or grouping.kind is GroupingKind.GLOBAL:
            return WholeEdge(destinations, mutates)
        if grouping.kind is GroupingKind.ALL:
            return BroadcastEdge(destinations, mutates)
        hash_name = self._settings["viper.grouping.hash"]
        router = make_router(grouping, port.stream.fields, len(destinations), task.index, hash_name)
        return SpreadEdge(destinations, mutates, router, described)

    def _chooser(
        self, grouping: Grouping, subscription: Subscription, task: Task, destinations: Sequence[Destination]
    ) -> Callable[[tuple[Any, ...]], Iterable[Any]]:
        """`choose_tasks` of a custom grouping that has been prepared for one producing task."""
        assert grouping.definition is not None
        custom: Any = self._beans.make(grouping.definition)
        targets = [destination.tasks[0] for destination in destinations]
        custom.prepare(make_context(self._plan, task), subscription.source, subscription.stream, targets)
        choose: Callable[[tuple[Any, ...]], Iterable[Any]] = custom.choose_tasks
        return choose


def _time_fields(output: Output, conf: Mapping[str, Any]) -> dict[int, int]:
    name = conf.get("viper.timestamp.field")
    return {
        port.tag: port.stream.fields.index(name)
        for port in output.ports
        if name and name in port.stream.fields
    }
