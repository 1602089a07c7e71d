"""Makes the inputs and outputs of tasks: the plan says who subscribes to which streams, and how."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from framework.model.config import Settings
from framework.model.instantiate import Beans
from framework.model.topology import Grouping, GroupingKind, PythonImplementation, Stream
from framework.model.topology.grouping import BY_FIELDS
from framework.operators.windows.key_input import InputMode
from framework.planning import Plan, Subscription, TaskSpec, is_exact
from framework.planning.routing import Router, ScalableRouter, SwitchingRouter, among, make_router
from framework.recording.tap import looks_on
from framework.runtime.coordination.route_switch import RouteSwitch, Switched
from framework.runtime.exchange.addressed import AddressedEdge
from framework.runtime.exchange.derived_keys import KeysOfRows
from framework.runtime.exchange.destination import CyclicDestination, Destination, LinkedDestination
from framework.runtime.exchange.groupings import (
    BroadcastEdge,
    ChosenEdge,
    ClaimedEdge,
    DirectEdge,
    Edge,
    SpreadEdge,
    WholeEdge,
)
from framework.runtime.exchange.inputs import BoltInput, values_class
from framework.runtime.exchange.output import ForwardingOutput, Output, Port
from framework.runtime.exchange.pieces import InputSource, InputStream
from framework.runtime.exchange.reader import SortedInPython
from framework.runtime.exchange.typed import TypedForm
from framework.runtime.execution.assembly.network import Network
from framework.runtime.tasks.hosts.context import make_context
from viper.addressed import VALUES, mask_of, mask_shift
from viper.hashing import groups_of_task
from viper.position import Level
from viper.reader import Reader
from viper.state import KeyClaimant


class OutputFactory:
    """Makes the outputs of tasks.

    Args:
        plan: says which tasks feed which.
        settings: the configuration it was planned with.
        network: the channels, as this process sees them.
        beans: the objects that custom groupings of this process share.
    """

    def __init__(self, plan: Plan, settings: Settings, network: Network, beans: Beans) -> None:
        self._plan = plan
        self._settings = settings
        self._network = network
        self._beans = beans

    def make(self, task: TaskSpec, *, kept: bool) -> Output:
        """Make the output of a task.

        Args:
            task: the task that will emit to it.
            kept: whether tuples matter that nobody subscribes to, because they are recorded.
        """
        behind = self._plan.behind(task.id)
        if behind is not None:
            return self._of_merge(task, behind)
        component = self._plan.topology.component(task.component)
        ports = [
            Port(tag, stream, kept=kept, form=_form(component.id, stream))
            for tag, stream in enumerate(component.outputs or ())
        ]
        destinations: dict[str, list[Destination]] = {}
        switched: list[Switched] = []
        for port in ports:
            for subscription in self._plan.subscriptions:
                if (subscription.source, subscription.stream) == (component.id, port.stream.name):
                    if subscription.target not in destinations:
                        destinations[subscription.target] = self._destinations(task, subscription)
                    edge = self._edge(port, subscription, task, destinations[subscription.target])
                    port.put(edge, watches=looks_on(subscription.target))
                    if isinstance(edge, SpreadEdge) and isinstance(edge.router, SwitchingRouter):
                        switched.append(Switched(port.tag, subscription.target, edge.router))
        fed = [destination for group in destinations.values() for destination in group]
        reached = self._plan.reached
        readers = frozenset(reached(task.id, reader) for destination in fed for reader in destination.tasks)
        heard = fed + self._only_heartbeats(task, readers)
        return Output(ports, heard, self._network.forest, self._switch(task, switched))

    def _of_merge(self, task: TaskSpec, behind: int) -> Output:
        """The output of a merge bolt's task: all to the task behind it."""
        component = self._plan.tasks[behind - 1].component
        subscription = next(s for s in self._plan.subscriptions if s.target == component)
        destination = self._destination(
            Destination,
            task,
            (behind,),
            self._settings["viper.jumbo.size"],
            self._settings["viper.columns.rows"],
            tagged=len(streams_of_merge(self._plan, component)) > 1,
            mask_shift=self._mask_shift(subscription),
        )
        return ForwardingOutput(destination, self._network.forest)

    def _switch(self, task: TaskSpec, switched: Sequence[Switched]) -> RouteSwitch | None:
        """Return the switch that changes routes from the cut of a reconfiguration on; None if none change."""
        record, scales = self._network.cut, self._network.scales
        if not switched or record is None or scales is None:
            return None
        return RouteSwitch(record, scales, task.id, switched)

    def _only_heartbeats(self, task: TaskSpec, readers: frozenset[int]) -> list[Destination]:
        """Destinations for tasks that receive no tuples from this one, only its heartbeats."""
        return [
            self._destination(Destination, task, channel.readers, 1, 1, tagged=False)
            for channel in self._plan.channels
            if task.id in channel.sources and not readers.intersection(channel.readers)
        ]

    def _destinations(self, task: TaskSpec, subscription: Subscription) -> list[Destination]:
        """One destination for each consuming task, or a single one where each gets everything it sends."""
        between = subscriptions_between(self._plan, task.component, subscription.target)
        kind = CyclicDestination if subscription.cyclic else Destination
        size, columns_rows = self._settings["viper.jumbo.size"], self._settings["viper.columns.rows"]
        readers = [reader.id for reader in self._plan.tasks_of(subscription.target)]
        together = all(s.is_shared for s in between)
        groups = [readers] if together else [[reader] for reader in readers]
        tagged = len(between) > 1
        mask_shift = self._mask_shift(subscription)
        return [
            self._destination(kind, task, group, size, columns_rows, tagged=tagged, mask_shift=mask_shift)
            for group in groups
        ]

    def _mask_shift(self, subscription: Subscription) -> int | None:
        found = subscription.key_input
        is_skipped = found is not None and found.mode is InputMode.SHARED and found.by_producer
        return mask_shift(self._settings["viper.key.groups"]) if is_skipped else None

    def _destination(
        self,
        kind: type[Destination],
        task: TaskSpec,
        readers: Sequence[int],
        size: int,
        columns_rows: int,
        *,
        tagged: bool,
        mask_shift: int | None = None,
    ) -> Destination:
        link = self._network.link(task.id, readers[0])
        if link is not None:
            return LinkedDestination(readers[0], link, tagged)
        # `Destination` wants the gates first that other processes read from.
        ends = [self._plan.reached(task.id, reader) for reader in readers]
        abroad = sorted(ends, key=lambda end: not self._network.leaves_process(task.id, end))
        sources = dict.fromkeys(self._network.source(task.id, end) for end in abroad)
        made = kind(readers, list(sources), size, tagged, columns_rows, mask_shift)
        if self._plan.channel_of(readers[0]).claims:
            made.let_claim()
        return made

    def _edge(
        self, port: Port, subscription: Subscription, task: TaskSpec, destinations: Sequence[Destination]
    ) -> Edge:
        grouping = subscription.grouping
        described = f"stream {subscription.stream!r} to {subscription.target!r}, grouped by {grouping!r}"
        conf = self._plan.confs[subscription.target]
        mutates = bool(conf["viper.mutates"])
        if grouping.kind is GroupingKind.DIRECT:
            return DirectEdge(destinations, mutates)
        if grouping.kind is GroupingKind.CUSTOM:
            choose = self._chooser(grouping, subscription, task, destinations)
            return ChosenEdge(destinations, mutates, choose, described, copies=subscription.copies)
        if subscription.key_input is not None and not subscription.key_input.is_plain:
            return self._addressed_edge(port, subscription, task, destinations, described)
        if grouping.kind is GroupingKind.FIELDS and destinations[0].claimed:
            router = self._router(port, subscription, task, len(destinations[0].tasks))
            return ClaimedEdge(destinations, mutates, router, described, may_refuse=True)
        if len(destinations) == 1 or grouping.kind is GroupingKind.GLOBAL:
            return WholeEdge(destinations, mutates)
        if grouping.kind is GroupingKind.ALL:
            return BroadcastEdge(destinations, mutates)
        router = self._router(port, subscription, task, len(destinations))
        by_key = grouping.kind in BY_FIELDS
        return SpreadEdge(destinations, mutates, router, described, may_refuse=by_key)

    def _addressed_edge(
        self,
        port: Port,
        subscription: Subscription,
        task: TaskSpec,
        destinations: Sequence[Destination],
        described: str,
    ) -> AddressedEdge:
        """The edge to an operator, one of which is made here to derive the keys."""
        assert subscription.key_input is not None
        source, target, fields = subscription.source, subscription.target, port.stream.fields
        implementation = self._plan.topology.component(target).implementation
        assert isinstance(implementation, PythonImplementation)
        operator: Any = self._beans.make(implementation.definition)
        keys = KeysOfRows(
            operator.keys,
            (source, port.stream.name, task.id),
            values_class(source, port.stream.name, fields) if fields else None,
            self._settings["viper.key.groups"],
            described,
        )
        return AddressedEdge(
            destinations,
            bool(self._plan.confs[target]["viper.mutates"]),
            subscription.key_input,
            keys,
            len(self._plan.tasks_of(target)),
            self._settings["viper.key.groups"],
        )

    def _router(self, port: Port, subscription: Subscription, task: TaskSpec, tasks: int) -> Router:
        """Divides the tuples of a subscription among so many tasks, or those of them that get any for now."""

        def make(tasks: int) -> Router:
            return make_router(
                subscription.grouping,
                port.stream.fields,
                tasks,
                task.index,
                self._settings["viper.grouping.hash"],
                longest_run=self._plan.confs[subscription.target]["viper.shuffle.run"],
                groups=self._settings["viper.key.groups"],
            )

        target, scales = subscription.target, self._network.scales
        if scales is None or target not in self._plan.scalable:
            return make(tasks)
        some = functools.partial(among, make=make)
        if target in self._plan.handing_over:
            return SwitchingRouter(some, scales.wanted(target))
        return ScalableRouter(
            some,
            self._plan.scalable[target],
            tasks,
            scales.reader(target),
            only_at_commits=is_exact(self._plan, self._settings),
        )

    def _chooser(
        self,
        grouping: Grouping,
        subscription: Subscription,
        task: TaskSpec,
        destinations: Sequence[Destination],
    ) -> Callable[[tuple[Any, ...]], Iterable[Any]]:
        """Make a custom grouping, prepare it for one producing task, and return its `choose_tasks`."""
        assert grouping.definition is not None
        custom: Any = self._beans.make(grouping.definition)
        targets = [destination.tasks[0] for destination in destinations]
        custom.prepare(make_context(self._plan, task), subscription.source, subscription.stream, targets)
        choose: Callable[[tuple[Any, ...]], Iterable[Any]] = custom.choose_tasks
        return choose


def _form(component: str, stream: Stream) -> TypedForm | None:
    return None if stream.schema is None else TypedForm(component, stream, stream.schema)


class InputFactory:
    """Makes the inputs of tasks.

    Args:
        plan: says which tasks feed which.
        settings: the configuration it was planned with.
        network: the channels, as this process sees them.
    """

    def __init__(self, plan: Plan, settings: Settings, network: Network) -> None:
        self._settings = settings
        self._groups = settings["viper.key.groups"]
        self._plan = plan
        self._network = network
        self._tasks = {task.id: task for task in plan.tasks}

    def make(
        self,
        task: TaskSpec,
        *,
        mutates: bool,
        whole: bool,
        borrows: bool = False,
        claimant: KeyClaimant | None = None,
    ) -> BoltInput:
        """Make the input of a bolt's task.

        Args:
            task: the task that will read it.
            mutates: whether the task's component may change values that it receives.
            whole: whether it takes many tuples at once, and so payloads, not lists of rows.
            borrows: whether it keeps none of the columns that it receives.
            claimant: the task, where it claims key groups with others; None for most.
        """
        behind = self._plan.behind(task.id)
        if behind is not None:
            return self._of_merge(task, self._tasks[behind])
        channel, own = self._plan.channel_of(task.id), self._skipping(task)
        reader = self._network.reader(task.id)
        if own is not None and isinstance(reader, Reader):
            reader.skip_but(mask_of(own, self._groups))
        return BoltInput(
            reader,
            [self._source(source, task) for source in channel.sources],
            self._feedback(task, channel.feedback),
            # Tasks that claim key groups look at the keys of one another's tuples.
            shares=mutates and (self.is_copied_to(task) or claimant is not None),
            whole=whole,
            borrows=borrows and not channel.claims,
            own=own if claimant is None else claimant,
        )

    def _of_merge(self, task: TaskSpec, behind: TaskSpec) -> BoltInput:
        """The input of a merge bolt's task: what the task behind it would get."""
        channel = self._plan.channel_of(task.id)
        sources = [self._source(source, behind) for source in channel.sources]
        if not channel.arriving:
            return BoltInput(self._network.reader(task.id), sources, (), shares=False, whole=True)
        readers = [self._network.reader_of(source, task.id) for source in channel.sources]
        reader = SortedInPython(readers, self._settings["viper.channel.tuples"])
        return BoltInput(reader, sources, (), shares=False, whole=True)

    def _skipping(self, task: TaskSpec) -> range | None:
        """The key groups of a task that skips what concerns none of them; None if it gets no such thing.

        One that may get other groups while it runs skips nothing: what was delivered may concern these.
        """
        found = (s.key_input for s in self._plan.subscriptions if s.target == task.component)
        is_skipped = any(i is not None and i.mode is InputMode.SHARED and i.by_producer for i in found)
        tasks = len(self._plan.tasks_of(task.component))
        if not is_skipped or tasks == 1 or task.component in self._plan.scalable:
            return None
        return groups_of_task(task.index, tasks, self._groups)

    def is_copied_to(self, task: TaskSpec) -> bool:
        """True if another replica of a task gets the very same values."""
        copied = any(s.copies for s in self._plan.subscriptions if s.target == task.component)
        return copied and len(self._plan.tasks_of(task.component)) > 1

    def level_beside(self, task: TaskSpec) -> Level:
        """The level of a path at which a task marks outputs that belong to no input.

        A task marks its replica there if other replicas, too, may have such outputs at the same position.
        """
        layout = self._plan.layout
        is_one_of_several = task.component in layout.ticked or self.is_copied_to(task)
        return layout.components[task.component].level(task.index if is_one_of_several else 0)

    def _feedback(self, task: TaskSpec, producers: Sequence[int]) -> list[tuple[Reader, InputSource]]:
        sources = [self._source(producer, task) for producer in producers]
        return list(zip(self._network.feedback(task.id), sources, strict=True))

    def _source(self, source_id: int, reader: TaskSpec) -> InputSource:
        source = self._tasks[source_id]
        if self._plan.behind(source_id) is not None:
            return self._merged(source, reader)
        component = self._plan.topology.component(source.component)
        tags = {stream.name: tag for tag, stream in enumerate(component.outputs or ())}
        streams = {
            tags[subscription.stream]: self._stream(subscription, source.id, reader)
            for subscription in subscriptions_between(self._plan, source.component, reader.component)
        }
        return InputSource(f"{source.component}:{source.id}", streams)

    def _merged(self, merge: TaskSpec, reader: TaskSpec) -> InputSource:
        """A merge bolt's task, whose tuples are of the streams that it has merged."""
        streams = streams_of_merge(self._plan, reader.component)
        found = {
            streams[s.source, s.stream]: self._stream(s, merge.id, reader)
            for s in self._plan.subscriptions
            if s.target == reader.component
        }
        return InputSource(f"{merge.component}:{merge.id}", found)

    def _stream(self, subscription: Subscription, producer: int, reader: TaskSpec) -> InputStream:
        stream = self._plan.topology.component(subscription.source).stream(subscription.stream)
        fields = stream.fields if stream else ()
        return InputStream(
            subscription.source,
            subscription.stream,
            producer,
            values_class(subscription.source, subscription.stream, fields) if fields else None,
            self._level(reader, subscription),
            stream.schema if stream else None,
            subscription.key,
            VALUES if subscription.key_input is not None and subscription.key_input.by_producer else 0,
        )

    def _level(self, reader: TaskSpec, subscription: Subscription) -> Level:
        """Return the level that a reader's outputs for the tuples of a subscription have in the path."""
        level = self._plan.layout.components[reader.component]
        if subscription.copies and self._plan.traits[reader.component].joins:
            return level.level()  # each replica has matches of its own, which are numbered alike in all
        if subscription.copies:
            return level.level(copy=reader.index)
        return level.behind_ticks if reader.component in self._plan.layout.ticked else level.level()


def streams_of_merge(plan: Plan, behind: str) -> Mapping[tuple[str, str], int]:
    """The index of each stream that the merge bolts before a bolt pass on, by its component and name."""
    names = dict.fromkeys((s.source, s.stream) for s in plan.subscriptions if s.target == behind)
    return {name: index for index, name in enumerate(names)}


def subscriptions_between(plan: Plan, source: str, target: str) -> list[Subscription]:
    """The streams of one component that another subscribes to."""
    return [s for s in plan.subscriptions if s.source == source and s.target == target]
