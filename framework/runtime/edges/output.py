"""Everything that leaves one task: its streams, its edges, its destinations."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from framework.runtime.edges.destination import Destination, Row
from framework.runtime.edges.groupings import DirectEdge, Edge, Values, put_members
from framework.topology import Stream
from viper.forest import Forest
from viper.position import Position, Positions
from viper.rows import partition
from viper.source import Heartbeats


@dataclass(slots=True)
class Port:
    """One output stream of a task, and who subscribes to it."""

    tag: int
    """Its index among the component's streams."""
    stream: Stream
    edges: list[Edge] = field(default_factory=list)
    kept: bool = False
    """Whether what is emitted here matters although nobody subscribes to it."""
    named: list[int] = field(default_factory=list)
    """For a direct stream: the tasks named for the rows that wait in the outbox."""

    def name_tasks(self) -> None:
        """Tell the direct edges which tasks were named for the rows that they get next."""
        named, self.named = self.named, []
        for edge in self.edges:
            if isinstance(edge, DirectEdge):
                edge.named = named


class Output:
    """Routes the rows of one task, and tells its consumers how far the task has come."""

    def __init__(
        self, ports: Sequence[Port], destinations: Sequence[Destination], forest: Forest | None = None
    ) -> None:
        """
        Args:
            ports: the component's streams.
            destinations: all ways that its rows can go.
            forest: counts tracked tuples; None where none are tracked.
        """
        self.ports = tuple(ports)
        self.destinations = tuple(destinations)
        self.handed_over = 0
        """Tuples handed over so far."""
        self._forest = forest
        self._heartbeats = Heartbeats([source for d in destinations for source in d.sources])

    @property
    def is_used(self) -> bool:
        """Whether what is emitted matters to anybody."""
        return bool(self.destinations) or any(port.kept for port in self.ports)

    def waiting_untracked(self) -> int:
        """Tuples that nobody tracks, and that wait for room."""
        return sum(d.positions.trees(0, len(d.rows)).count(0) for d in self.destinations if d.rows)

    def deliver(self, rows: list[Row], tags: bytes | None, positions: Positions, mutable: bool) -> None:
        """Divide rows among the destinations.

        Args:
            rows: in the order of their emission.
            tags: for each row its port, as native uint16; None where there is but one port.
            positions: one per row, in order.
            mutable: whether any of them may hold a value that a consumer can change.

        Tracked rows are counted by their trees for each task that will receive them.
        """
        try:
            if tags is None:
                self._deliver_one_stream(self.ports[0], rows, positions, mutable)
            else:
                self._deliver_streams(rows, array("H", tags), positions, mutable)
        finally:  # also what was put before a grouping raised will be handed over
            if self._forest is not None and positions.tracked():
                for destination in self.destinations:
                    destination.count_tracked(self._forest)

    def fail_tracked(self, positions: Positions, reason: int) -> None:
        """Fail the trees that rows belong to."""
        if self._forest is not None and positions.tracked():
            for tree in set(positions.trees(0, len(positions))) - {0}:
                self._forest.fail(tree, reason)

    def _deliver_one_stream(self, port: Port, rows: list[Row], positions: Positions, mutable: bool) -> None:
        for edge in port.edges:
            shared = edge.mutates and (edge.copies or len(port.edges) > 1)
            edge.deliver(rows, positions, Values(mutable, shared))

    def _deliver_streams(
        self, rows: list[Row], tags: array[int], positions: Positions, mutable: bool
    ) -> None:
        # One destination may read several of the streams: its rows are put in one order again.
        members: dict[Destination, set[int]] = {}
        mutating: set[Destination] = set()
        indexes = partition(list(range(len(rows))), tags, len(self.ports))
        for port, mine in zip(self.ports, indexes, strict=True):
            stream_rows = [rows[index] for index in mine]
            for edge in port.edges:
                for destination, chosen in edge.assign(stream_rows):
                    found = mine if chosen is None else [mine[i] for i in chosen]
                    members.setdefault(destination, set()).update(found)
                if mutable and edge.mutates:
                    mutating.update(edge.destinations)
        for destination, chosen_rows in members.items():
            values = Values(mutable, shared=destination in mutating)
            put_members(destination, rows, tags, positions, chosen_rows, values)

    def deliver_and_tell(
        self, rows: list[Row], tags: bytes | None, positions: Positions, mutable: bool
    ) -> list[int]:
        """As `deliver`; returns the ids of the tasks that received any of the rows."""
        before = [len(destination.rows) for destination in self.destinations]
        self.deliver(rows, tags, positions, mutable)
        grown = zip(self.destinations, before, strict=True)
        return [
            task
            for destination, count in grown
            if len(destination.rows) > count
            for task in destination.tasks
        ]

    def flush(self) -> bool:
        """Hand over all that waits; False if some channel has no room for it."""
        done = True
        for destination in self.destinations:
            waiting = len(destination.rows)
            if waiting:
                done = destination.flush() and done
                self.handed_over += waiting - len(destination.rows)
                destination.tell_waiting()
        return done

    def heartbeat(self, position: Position) -> None:
        """Tell the consumers that nothing smaller will come, but for those that rows still wait for.

        The others must hear it although one channel is full, or a fork whose branches meet
        again would stand still: the full branch waits for the meeting point, that waits for
        the other branch, and the other branch waits for this word.
        """
        waiting = [destination for destination in self.destinations if destination.rows]
        if not waiting:
            self._heartbeats.publish(position)
            return
        for destination in self.destinations:
            if not destination.rows:
                for source in destination.sources:
                    source.heartbeat(position)

    def tell_last_ts(self, ts: int) -> None:
        """Tell the consumers how far time came until now, as the end of input does not say it."""
        for destination in self.destinations:
            for source in destination.sources:
                source.tell_last_ts(ts)

    def close_idle(self, last_ts: int) -> None:
        """At the end, tell those consumers so for whom nothing waits for room; they must not wait in turn."""
        for destination in self.destinations:
            for source in destination.sources if not destination.rows else ():
                source.tell_last_ts(last_ts)
                source.close()

    def close(self) -> None:
        """Tell every consumer that nothing at all will come."""
        for destination in self.destinations:
            for source in destination.sources:
                source.close()
