"""One subscription as its producing task sees it: rows in, rows divided among destinations out.

Every edge can do it in two ways. `deliver` serves a task that emits on one stream
only, where whole buffers move at once. `assign` serves a task with several streams,
whose rows are put back into one order per destination after all edges have chosen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any, NamedTuple

from framework.errors import EmitError
from framework.routing.router import Router, Targets
from framework.runtime.edges.destination import Destination, Row
from framework.runtime.edges.values import separate
from viper.position import Positions
from viper.rows import partition

Assignment = Iterable[tuple[Destination, Sequence[int] | None]]
"""For each receiving destination the indexes of its rows in ascending order; None for all rows."""


class Values(NamedTuple):
    """What may be done to the values of some rows."""

    mutable: bool
    """Whether any of them can be changed."""
    shared: bool
    """Whether others get the same rows, one of whom may change them."""

    def own(self, rows: list[Row]) -> list[Row]:
        """The rows as one destination gets them."""
        return separate(rows) if self.mutable and self.shared else rows


class Edge(ABC):
    """How one subscription's rows are divided among the tasks of its consumer."""

    copies: bool = False
    """Whether one row may go to several tasks."""

    def __init__(self, destinations: Sequence[Destination], mutates: bool) -> None:
        """
        Args:
            destinations: one per task of the consumer, by id.
            mutates: whether the consumer may change values that it receives.
        """
        self.destinations = tuple(destinations)
        self.mutates = mutates

    @abstractmethod
    def assign(self, rows: list[Row]) -> Assignment:
        """Choose the destinations of rows."""

    def deliver(self, rows: list[Row], positions: Positions, values: Values) -> None:
        """Put rows and their positions into the chosen destinations.

        Args:
            rows: all of this edge's stream.
            positions: one per row.
            values: what may be done to them.
        """
        for destination, indexes in self.assign(rows):
            if indexes is None:
                destination.positions.extend_from(positions, 0, len(rows))
                destination.put(values.own(rows), mutable=values.mutable)
            else:
                put_members(destination, rows, None, positions, indexes, values)


class WholeEdge(Edge):
    """Everything goes to one destination: to a single task, or to several that all get it."""

    def assign(self, rows: list[Row]) -> Assignment:
        """Choose the destinations of rows."""
        return ((self.destinations[0], None),)


class BroadcastEdge(Edge):
    """Everything goes to every task, on ways that other streams go, too."""

    copies = True

    def assign(self, rows: list[Row]) -> Assignment:
        """Choose the destinations of rows."""
        return tuple((destination, None) for destination in self.destinations)


class SpreadEdge(Edge):
    """A router chooses one task per row."""

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

    def assign(self, rows: list[Row]) -> Assignment:
        """Choose the destinations of rows."""
        chosen = self._targets(rows)
        parts: list[list[int]] = [[] for _ in self.destinations]
        for index, target in enumerate(chosen):
            parts[target].append(index)
        return [(d, part) for d, part in zip(self.destinations, parts, strict=True) if part]

    def deliver(self, rows: list[Row], positions: Positions, values: Values) -> None:
        """As in the base class, without a Python step per row."""
        chosen = self._targets(rows)
        positions.scatter(chosen, [destination.positions for destination in self.destinations])
        parts = partition(values.own(rows), chosen, len(self.destinations))
        for destination, part in zip(self.destinations, parts, strict=True):
            destination.put(part, mutable=values.mutable)

    def _targets(self, rows: list[Row]) -> Targets:
        try:
            return self._router.targets(rows)
        except (TypeError, ValueError) as error:
            raise EmitError(f"{self._grouping}: {error}") from error


class ChosenEdge(Edge):
    """A custom grouping chooses any number of tasks per row, or at most one where it says so."""

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
            choose: the ids of the tasks that a row goes to.
            grouping: what is routed how and where to, for messages.
            copies: whether a row may go to several tasks.
        """
        super().__init__(destinations, mutates)
        self.copies = copies
        self._choose = choose
        self._grouping = grouping
        self._index = {destination.tasks[0]: i for i, destination in enumerate(destinations)}

    def assign(self, rows: list[Row]) -> Assignment:
        """Choose the destinations of rows.

        Raises:
            EmitError: a chosen task is none of the consumer's, there are several although the grouping
                makes no copies, or it raised.
        """
        parts: list[list[int]] = [[] for _ in self.destinations]
        for index, row in enumerate(rows):
            for target in self._targets(row):
                parts[target].append(index)
        return [(d, part) for d, part in zip(self.destinations, parts, strict=True) if part]

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
    """The producer named one task per row; a row for a task that does not subscribe is dropped."""

    def __init__(self, destinations: Sequence[Destination], mutates: bool) -> None:
        super().__init__(destinations, mutates)
        self._index = {destination.tasks[0]: i for i, destination in enumerate(destinations)}
        self.named: Sequence[int] = ()
        """The task named for each of the rows that come next."""

    def assign(self, rows: list[Row]) -> Assignment:
        """Choose the destinations of rows."""
        parts: list[list[int]] = [[] for _ in self.destinations]
        for index, task in enumerate(self.named):
            if task in self._index:
                parts[self._index[task]].append(index)
        return [(d, part) for d, part in zip(self.destinations, parts, strict=True) if part]


def put_members(
    destination: Destination,
    rows: list[Row],
    tags: Sequence[int] | None,
    positions: Positions,
    indexes: Iterable[int],
    values: Values,
) -> None:
    """Put the rows of some indexes, in order, with their tags and positions, into a destination.

    Args:
        destination: where to.
        rows: all rows.
        tags: one per row, where rows belong to several streams.
        positions: one per row.
        indexes: which of them; in any order.
        values: what may be done to them.
    """
    member = array("H", bytes(2 * len(rows)))
    for index in indexes:
        member[index] = 1
    nowhere = Positions()
    positions.scatter(member, (nowhere, destination.positions))
    chosen = list(compress(rows, member))
    chosen_tags = compress(tags, member) if tags is not None else ()
    destination.put(values.own(chosen), chosen_tags, mutable=values.mutable)
