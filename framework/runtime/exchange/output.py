"""The output of a task: its streams, with the edges and destinations that tuples leave by."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import NoReturn, Protocol

from framework.model.errors import EmitError
from framework.model.topology import Stream
from framework.planning.routing import CountingRouter, ScalableRouter
from framework.runtime.exchange.addressed import AddressedEdge, Merged
from framework.runtime.exchange.destination import Destination
from framework.runtime.exchange.groupings import DirectEdge, Edge, Refused, put_members
from framework.runtime.exchange.typed import TypedForm
from framework.runtime.observation.counters import StreamCounters
from viper.forest import Forest
from viper.jumbo import Emission
from viper.link import Link
from viper.payload import Payload
from viper.position import Position, Positions
from viper.rows import partition
from viper.source import Heartbeats, Source


@dataclass(slots=True)
class Port:
    """One output stream of a task, and the edges to its subscribers."""

    tag: int
    """The index of the stream among the component's streams."""
    stream: Stream
    edges: list[Edge] = field(default_factory=list)
    kept: bool = False
    """True if tuples are kept although nobody subscribes to the stream, because they are recorded."""
    form: TypedForm | None = None
    """Makes values fit a typed stream's schema; None for a stream that carries any values."""
    counts: StreamCounters = field(default_factory=StreamCounters)
    """Counts the tuples of the stream."""
    subscribed: bool = False
    """True if a component of the topology receives the stream, and not only what watches or records it."""

    @property
    def is_used(self) -> bool:
        """True if tuples of the stream go anywhere; otherwise they can be dropped at their emit."""
        return self.kept or bool(self.edges)

    def reaches(self, task: int) -> bool:
        """True if a task receives tuples of a direct stream that name it."""
        return any(isinstance(edge, DirectEdge) and edge.reaches(task) for edge in self.edges)

    def put(self, edge: Edge, *, watches: bool = False) -> None:
        """Send the tuples of the stream by one more edge, which leads to a tap if it `watches`."""
        self.edges.append(edge)
        # A typed stream's tuples are of its types wherever they go.
        self.subscribed = self.subscribed or not watches or self.form is not None
        tagged = (destination for destination in edge.destinations if destination.is_tagged)
        self.counts.sent.update((task, 0) for destination in tagged for task in destination.tasks)

    def count_sent(self, destination: Destination, count: int) -> None:
        """Count tuples that go to a destination, if other streams go there as well."""
        for task in destination.tasks if destination.is_tagged else ():
            self.counts.sent[task] += count

    def name_tasks(self, named: Sequence[int]) -> None:
        """Give the edges of a direct stream the tasks that were named for the tuples that they get next."""
        for edge in self.edges:
            if isinstance(edge, DirectEdge):
                edge.name_tasks(named)


class Switch(Protocol):
    """Has routers use new routes from one of these tuples on."""

    def look(self, emission: Emission) -> None:
        """Give the routers the first of the next tuples to which the new routes apply."""

    def settle(self) -> None:
        """Note that the tuples have been divided."""

    def committed(self, published: Position) -> None:
        """Note that all divided tuples are committed, and that none before a position is divided any more."""


OnRefused = Callable[[EmitError, bool], None]
"""Deals with a tuple for which no task can be chosen: called with the reason, and whether it is tracked."""


def raise_refused(error: EmitError, is_tracked: bool) -> NoReturn:
    """An `OnRefused` for an emit, which is to say it itself.

    Raises:
        EmitError: why.
    """
    raise error


class Output:
    """Routes the tuples that one task emits, and sends the task's heartbeats to its consumers."""

    def __init__(
        self,
        ports: Sequence[Port],
        destinations: Sequence[Destination],
        forest: Forest | None = None,
        switch: Switch | None = None,
    ) -> None:
        """
        Args:
            ports: the component's streams.
            destinations: all destinations of its edges, and those that only heartbeats go to.
            forest: counts tracked tuples; None where none are tracked.
            switch: changes the routes of edges at the cut of a reconfiguration; None where there are none.
        """
        self._switch = switch
        self.ports = tuple(ports)
        self.destinations = tuple(destinations)
        self.handed_over = 0
        """The number of tuples that gates have taken so far."""
        self._forest = forest
        self._scalable = tuple(router for _, router in self._counting() if isinstance(router, ScalableRouter))
        self.on_refused: OnRefused = raise_refused
        """The function that deals with a tuple for which no task can be chosen."""
        self.may_refuse = any(edge.may_refuse for port in self.ports for edge in port.edges)
        """True if an edge may find no task for a tuple."""
        outlets = [outlet for destination in destinations for outlet in destination.outlets]
        self._links = tuple(outlet for outlet in outlets if isinstance(outlet, Link))
        gates = [outlet for outlet in outlets if isinstance(outlet, Source)]
        self._gates = Heartbeats(gates) if gates else None
        self.last_ts: int | None = None
        """The latest event time that `tell_last_ts` has sent to consumers; None before that."""

    def refuse_by(self, call: OnRefused) -> None:
        """Say what deals with a tuple for which no task can be chosen, and which goes to nobody.

        Args:
            call: called before the tuples beside it are divided; if it raises, they go to nobody either.
        """
        self.on_refused = call

    @property
    def is_used(self) -> bool:
        """True if tuples of any stream go anywhere."""
        return bool(self.destinations) or any(port.kept for port in self.ports)

    @property
    def counts(self) -> Mapping[str, StreamCounters]:
        """By name what is counted of the streams that somebody receives."""
        return {port.stream.name: port.counts for port in self.ports if port.edges}

    @property
    def counts_routing(self) -> bool:
        """True if any of its edges routes by counts, which `save_routing` returns."""
        return any(True for _ in self._counting())

    def scale(self) -> None:
        """Have the edges divide tuples among as many tasks as their consumers shall have from now on."""
        for router in self._scalable:
            router.follow()

    @property
    def may_divide_anew(self) -> bool:
        """True if edges may change their routes at the cut of a reconfiguration."""
        return self._switch is not None

    def committed(self, published: Position) -> None:
        """Note that all output of the task is committed, and that it emits nothing before a position any
        more."""
        if self._switch is not None:
            self._switch.committed(published)

    def save_routing(self) -> dict[str, list[int]]:
        """The counts of the edges that go by counts, by name; for `restore_routing`."""
        return {name: router.save() for name, router in self._counting()}

    def restore_routing(self, counts: Mapping[str, Sequence[int]]) -> None:
        """Have the edges resume the counts of another run, as far as they are the same."""
        for name, router in self._counting():
            if name in counts:
                router.restore(counts[name])

    @property
    def is_scalable(self) -> bool:
        """True if the number of tasks of a consumer may change."""
        return bool(self._scalable)

    def _counting(self) -> Iterator[tuple[str, CountingRouter]]:
        return (e.counting for port in self.ports for e in port.edges if e.counting is not None)

    def waiting_untracked(self) -> int:
        """The number of untracked tuples that wait for room."""
        waiting = 0
        for destination in self.destinations:  # no generators, here and below: most often nothing waits
            if destination.count:
                waiting += destination.waiting_untracked()
        return waiting

    def choose(self, emission: Emission) -> Refused:
        """Choose ahead for the tuples that `deliver` gets next, as far as a choice may fail.

        Returns:
            By index the tuples for which no task can be chosen; if there are any, `leave_out` follows.
        """
        if self._switch is not None:
            self._switch.look(emission)
        refused: Refused = {}
        if not self.may_refuse:
            return refused
        if emission.tags is None:
            for edge in self.ports[0].edges:
                if edge.may_refuse:
                    refused.update(edge.choose(emission.payload))
            return refused
        for port, mine, part in self._by_port(emission.payload, array("H", emission.tags)):
            for edge in port.edges:
                if edge.may_refuse:
                    refused.update((mine[index], error) for index, error in edge.choose(part).items())
        return refused

    def leave_out(self, emission: Emission, refused: Collection[int]) -> Emission:
        """The tuples that `choose` was given without those of some indexes; they go to nobody."""
        tags = None if emission.tags is None else array("H", emission.tags)
        count = len(emission.payload)
        if tags is None:
            self._leave_out(self.ports[0], range(count), refused)
        else:
            for tag, port in enumerate(self.ports):
                self._leave_out(port, [index for index in range(count) if tags[index] == tag], refused)
        member = array("H", [index not in refused for index in range(count)])
        nowhere, positions = Positions(), Positions()
        emission.positions.scatter(member, (nowhere, positions))
        left = None if tags is None else array("H", compress(tags, member)).tobytes()
        return emission._replace(payload=emission.payload.take(member), tags=left, positions=positions)

    def _leave_out(self, port: Port, mine: Sequence[int], refused: Collection[int]) -> None:
        left = [number for number, index in enumerate(mine) if index not in refused]
        for edge in port.edges:
            if edge.may_refuse:
                edge.leave_out(left)

    def _by_port(self, payload: Payload, tags: array[int]) -> Iterator[tuple[Port, list[int], Payload]]:
        """For each stream its tuples, and their indexes among those of all streams."""
        return zip(
            self.ports,
            partition(list(range(len(payload))), tags, len(self.ports)),
            payload.partition(tags, len(self.ports)),
            strict=True,
        )

    def deliver(self, emission: Emission) -> None:
        """Divide tuples, which `choose` got before, among the destinations.

        Tracked ones are counted by their trees for each task that will receive them.
        """
        try:
            if emission.tags is None:
                edges = self.ports[0].edges
                self.ports[0].counts.emitted(len(emission.payload))
                for edge in edges:
                    edge.deliver(emission, shared=edge.mutates and (edge.copies or len(edges) > 1))
            else:
                self._deliver_streams(emission, array("H", emission.tags))
        finally:
            if self._switch is not None:
                self._switch.settle()
            if self._forest is not None and emission.may_be_tracked:
                for destination in self.destinations:
                    destination.count_tracked(self._forest)

    def fail_tracked(self, positions: Positions, reason: int) -> None:
        """Fail the trees of the tuples at these positions."""
        if self._forest is not None and positions.tracked():
            for tree in set(positions.trees(0, len(positions))) - {0}:
                self._forest.fail(tree, reason)

    def fail_one(self, positions: Positions, index: int, reason: int) -> bool:
        """Fail the tree of the tuple at one of these positions; return whether it has any."""
        tree = 0 if self._forest is None else positions.tree(index)
        if tree and self._forest is not None:
            self._forest.fail(tree, reason)
        return bool(tree)

    def _deliver_streams(self, emission: Emission, tags: array[int]) -> None:
        # A destination may receive several of the streams, so its tuples have to be put back into one order.
        members: dict[Destination, set[int]] = {}
        merged: dict[Destination, Merged] = {}
        mutating: set[Destination] = set()
        payload = emission.payload
        for port, mine, part in self._by_port(payload, tags):
            port.counts.emitted(len(mine))
            for edge in port.edges:
                if isinstance(edge, AddressedEdge):  # all edges to its destinations are
                    for destination, chosen, rows in edge.divide(part):
                        found = mine if chosen is None else [mine[i] for i in chosen]
                        merged.setdefault(destination, Merged()).add(found, rows)
                        port.count_sent(destination, len(found))
                else:
                    for destination, chosen in edge.assign(part):
                        found = mine if chosen is None else [mine[i] for i in chosen]
                        members.setdefault(destination, set()).update(found)
                        port.count_sent(destination, len(found))
                if edge.mutates:
                    mutating.update(edge.destinations)
        for destination, indexes in members.items():
            put_members(destination, emission, tags, indexes, shared=destination in mutating)
        for destination, stretch in merged.items():
            stretch.put(destination, emission, tags, shared=destination in mutating)

    def deliver_and_tell(self, emission: Emission) -> list[int]:
        """Divide tuples as `deliver` does; return the ids of the tasks that receive any of them."""
        before = [destination.count for destination in self.destinations]
        self.deliver(emission)
        grown = [d for d, count in zip(self.destinations, before, strict=True) if d.count > count]
        for destination in grown:
            if destination.claimed:
                raise EmitError(
                    f"emit(..., need_task_ids=True): the tasks {min(destination.tasks)} to "
                    f"{max(destination.tasks)} claim their input, so nobody knows as yet which of them gets "
                    "the tuple: leave need_task_ids out, or set viper.sharing to dealt for their bolt"
                )
        return [task for destination in grown for task in destination.tasks]

    def flush(self) -> bool:
        """Hand over the tuples that wait; return whether there was room for all of them."""
        done = True
        for destination in self.destinations:
            waiting = destination.count
            if waiting:
                if not destination.flush():
                    done = False
                self.handed_over += waiting - destination.count
                if destination.count:
                    destination.publish_waiting()
        return done

    def heartbeat(self, position: Position) -> None:
        """Promise the consumers that no tuple before a position will come; leave out those that tuples wait
        for.

        All others must hear of it although one channel is full. Otherwise a fork whose branches meet again
        would
        deadlock: the full branch waits for the task where they meet, that task waits for the other branch,
        and the other branch waits for this heartbeat.
        """
        for destination in self.destinations:
            if destination.count:
                break
        else:
            for link in self._links:
                link.heartbeat(position)
            if self._gates is not None:
                self._gates.publish(position)
            return
        for destination in self.destinations:
            if not destination.count:
                for outlet in destination.outlets:
                    outlet.heartbeat(position)

    def tell_last_ts(self, ts: int) -> None:
        """Send the consumers the latest event time in microseconds, which heartbeats no longer carry."""
        self.last_ts = ts
        for destination in self.destinations:
            for outlet in destination.outlets:
                outlet.tell_last_ts(ts)

    def close_idle(self) -> None:
        """Close the destinations where nothing waits, at the end, so that their consumers can end."""
        for destination in self.destinations:
            for outlet in destination.outlets if not destination.count else ():
                outlet.close()

    def close(self) -> None:
        """Inform every consumer that no tuple will come any more."""
        for destination in self.destinations:
            for outlet in destination.outlets:
                outlet.close()


class ForwardingOutput(Output):
    """Sends all that a merge bolt's task passes on to the one task behind it.

    Args:
        destination: leads there.
        forest: as in the base class.
    """

    def __init__(self, destination: Destination, forest: Forest | None) -> None:
        super().__init__((), (destination,), forest)
        self._destination = destination

    def deliver(self, emission: Emission) -> None:
        """Put tuples on their way as in the base class, whose tags are those of the streams behind it."""
        destination = self._destination
        destination.positions.extend(emission.positions)
        destination.put(emission.payload, () if emission.tags is None else array("H", emission.tags))
        if self._forest is not None and emission.may_be_tracked:
            destination.count_tracked(self._forest)
