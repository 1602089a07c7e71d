"""One subscription as its producing task sees it: tuples in, tuples divided among destinations out.

Every edge can do it in two ways. `deliver` serves a task that emits on one stream only, where whole payloads
move at once. `assign` serves a task with several streams, whose tuples are put back into one order per
destination after all edges have chosen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any

from framework.errors import EmitError
from framework.routing.router import Router, Targets
from framework.runtime.edges.destination import Destination
from viper.jumbo import Emission
from viper.payload import Payload, Row
from viper.position import Positions

Assignment = Iterable[tuple[Destination, Sequence[int] | None]]
"""For each receiving destination the indexes of its tuples in ascending order; None for all tuples."""


class Edge(ABC):
    """How one subscription's tuples are divided among the tasks of its consumer."""

    copies: bool = False
    """Whether one tuple may go to several tasks."""

    def __init__(self, destinations: Sequence[Destination], mutates: bool) -> None:
        """
        Args:
            destinations: one per task of the consumer, by id.
            mutates: whether the consumer may change values that it receives.
        """
        self.destinations = tuple(destinations)
        self.mutates = mutates

    @abstractmethod
    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""

    def deliver(self, emission: Emission, *, shared: bool) -> None:
        """Put tuples and their positions into the chosen destinations.

        Args:
            emission: tuples of this edge's stream.
            shared: whether others get the same tuples, one of whom may change their values.
        """
        payload, _, positions = emission
        for destination, indexes in self.assign(payload):
            if indexes is None:
                destination.positions.extend_from(positions, 0, len(payload))
                destination.put(payload.own() if shared else payload)
            else:
                put_members(destination, emission, None, indexes, shared=shared)


class WholeEdge(Edge):
    """Everything goes to one destination: to a single task, or to several that all get it."""

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        return ((self.destinations[0], None),)


class BroadcastEdge(Edge):
    """Everything goes to every task, on ways that other streams go, too."""

    copies = True

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        return tuple((destination, None) for destination in self.destinations)


class SpreadEdge(Edge):
    """A router chooses one task per tuple."""

    def __init__(
        self, destinations: Sequence[Destination], mutates: bool, router: Router, grouping: str
    ) -> None:
        """
        Args:
            destinations: as in the base class.
            mutates: as in the base class.
            router: chooses among the destinations.
            grouping: what is routed how and where to, for messages.
        """
        super().__init__(destinations, mutates)
        self._router = router
        self._grouping = grouping

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        return _parts(self.destinations, ((index,) for index in self._targets(payload)))

    def deliver(self, emission: Emission, *, shared: bool) -> None:
        """As in the base class, without a Python step per tuple."""
        payload, _, positions = emission
        chosen = self._targets(payload)
        positions.scatter(chosen, [destination.positions for destination in self.destinations])
        parts = (payload.own() if shared else payload).partition(chosen, len(self.destinations))
        for destination, part in zip(self.destinations, parts, strict=True):
            destination.put(part)

    def _targets(self, payload: Payload) -> Targets:
        try:
            return self._router.targets(payload.rows)
        except (TypeError, ValueError) as error:
            raise EmitError(f"{self._grouping}: {error}") from error


class ChosenEdge(Edge):
    """A custom grouping chooses any number of tasks per tuple, or at most one where it says so."""

    def __init__(
        self,
        destinations: Sequence[Destination],
        mutates: bool,
        choose: Callable[[Row], Iterable[Any]],
        grouping: str,
        *,
        copies: bool,
    ) -> None:
        """
        Args:
            destinations: as in the base class.
            mutates: as in the base class.
            choose: gives the ids of the tasks that a tuple with these values goes to.
            grouping: what is routed how and where to, for messages.
            copies: whether a tuple may go to several tasks.
        """
        super().__init__(destinations, mutates)
        self.copies = copies
        self._choose = choose
        self._grouping = grouping
        self._index = _index_of(destinations)

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples.

        Raises:
            EmitError: a chosen task is none of the consumer's, there are several although the grouping
                makes no copies, or it raised.
        """
        return _parts(self.destinations, map(self._targets, payload.rows))

    def _targets(self, row: Row) -> set[int]:
        try:
            tasks = list(self._choose(row))
        except Exception as error:
            raise EmitError(
                f"{self._grouping}: choose_tasks raised {type(error).__name__} for {row!r:.300}: {error}"
            ) from error
        targets = {self._target(task, row) for task in tasks}
        if len(targets) > 1 and not self.copies:
            raise EmitError(
                f"{self._grouping}: choose_tasks returned tasks {tasks} for {row!r:.300}: expected one "
                "at most, as the grouping's class says copies = False"
            )
        return targets

    def _target(self, task: Any, row: Row) -> int:
        try:
            return self._index[task]
        except (KeyError, TypeError):
            raise EmitError(
                f"{self._grouping}: choose_tasks returned task {task!r} for {row!r:.300}: "
                f"expected ids out of {sorted(self._index)}"
            ) from None


class DirectEdge(Edge):
    """The producer named one task per tuple; a tuple for a task that does not subscribe is dropped."""

    def __init__(self, destinations: Sequence[Destination], mutates: bool) -> None:
        super().__init__(destinations, mutates)
        self._index = _index_of(destinations)
        self._named: Sequence[int] = ()

    def name_tasks(self, named: Sequence[int]) -> None:
        """Say which task was named for each of the tuples that come next."""
        self._named = named

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        index = self._index
        targets = ((index[task],) if task in index else () for task in self._named)
        return _parts(self.destinations, targets)


def _index_of(destinations: Sequence[Destination]) -> dict[int, int]:
    """The index of each consuming task's destination, by the task's id."""
    return {destination.tasks[0]: index for index, destination in enumerate(destinations)}


def _parts(destinations: Sequence[Destination], targets: Iterable[Iterable[int]]) -> Assignment:
    """The destinations that get any tuples, given for each tuple the indexes of those that get it."""
    parts: list[list[int]] = [[] for _ in destinations]
    for index, chosen in enumerate(targets):
        for target in chosen:
            parts[target].append(index)
    return [(d, part) for d, part in zip(destinations, parts, strict=True) if part]


def put_members(
    destination: Destination,
    emission: Emission,
    tags: Sequence[int] | None,
    indexes: Iterable[int],
    *,
    shared: bool,
) -> None:
    """Put the tuples of some indexes, in order, with their tags and positions, into a destination.

    Args:
        destination: where to.
        emission: all tuples.
        tags: one per tuple, where they belong to several streams.
        indexes: which of them; in any order.
        shared: whether others get the same tuples, one of whom may change their values.
    """
    payload, _, positions = emission
    member = array("H", bytes(2 * len(payload)))
    for index in indexes:
        member[index] = 1
    nowhere = Positions()
    positions.scatter(member, (nowhere, destination.positions))
    chosen = payload.take(member)
    destination.put(chosen.own() if shared else chosen, compress(tags, member) if tags is not None else ())
