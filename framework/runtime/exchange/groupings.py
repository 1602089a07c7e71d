"""Edges divide the tuples of one subscription among destinations, each kind of edge by another grouping.

An edge whose choice may fail for a tuple chooses ahead (`choose`), before any edge takes anything. The task
then leaves such tuples out, for all of their consumers, and the others go as they would without them.

Every edge can do this in two ways. `deliver` serves a task that emits on one stream only, where whole
payloads move at once. `assign` serves a task with several streams, whose tuples are put back into one order
per destination after all edges have chosen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any

from framework.model.errors import EmitError
from framework.planning.routing.router import CountingRouter, Router, Targets
from framework.runtime.exchange.destination import Destination
from framework.runtime.exchange.values import shown
from viper.jumbo import Emission
from viper.payload import Payload, Row
from viper.position import Positions

Refused = dict[int, EmitError]
"""By index the tuples for which no task can be chosen, and why."""
Assignment = Iterable[tuple[Destination, Sequence[int] | None]]
"""For each receiving destination the indexes of its tuples in ascending order; None for all tuples."""


class Edge(ABC):
    """Divides the tuples of one subscription among the tasks of its consumer."""

    copies: bool = False
    """True if one tuple may go to several tasks."""
    may_refuse: bool = False
    """True if the grouping may find no task for a tuple."""

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

    def choose(self, payload: Payload) -> Refused:
        """Choose ahead for the tuples that `assign` or `deliver` get next; return those that it is not for.

        If there are any, of this edge or of others, `leave_out` follows.
        """
        return {}

    def leave_out(self, left: Sequence[int]) -> None:  # noqa: B027
        """Leave out all tuples of the last `choose` but those of these indexes, which come next, in this
        order."""

    @property
    def counting(self) -> tuple[str, CountingRouter] | None:
        """A name of the edge, and its router, if what that chooses depends on what it has chosen before."""
        return None

    def deliver(self, emission: Emission, *, shared: bool) -> None:
        """Put tuples and their positions into the chosen destinations.

        Args:
            emission: tuples of this edge's stream.
            shared: whether other consumers get the same tuples, and one of them may change their values.
        """
        payload, positions = emission.payload, emission.positions
        for destination, indexes in self.assign(payload):
            if indexes is None:
                destination.positions.extend_from(positions, 0, len(payload))
                destination.put(payload.own() if shared else payload)
            else:
                put_members(destination, emission, None, indexes, shared=shared)


class WholeEdge(Edge):
    """Sends everything to one destination, which is a single task or all tasks of the consumer."""

    def deliver(self, emission: Emission, *, shared: bool) -> None:
        """Put tuples into the destination as in the base class, which would look for more of them."""
        payload, positions = emission.payload, emission.positions
        destination = self.destinations[0]
        destination.positions.extend(positions)
        destination.put(payload.own() if shared else payload)

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        return ((self.destinations[0], None),)


class BroadcastEdge(Edge):
    """Sends everything to every task, by destinations that other streams use, too."""

    copies = True

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        return tuple((destination, None) for destination in self.destinations)


class SpreadEdge(Edge):
    """Sends each tuple to the one task that a router chooses."""

    def __init__(
        self,
        destinations: Sequence[Destination],
        mutates: bool,
        router: Router,
        grouping: str,
        *,
        may_refuse: bool = False,
    ) -> None:
        """
        Args:
            destinations: as in the base class.
            mutates: as in the base class.
            router: chooses among the destinations.
            grouping: describes the stream, its consumer and the grouping, for messages.
            may_refuse: whether the router goes by keys, which may be none.
        """
        super().__init__(destinations, mutates)
        self.may_refuse = may_refuse
        self._chosen: Targets | None = None
        """The choices of `choose` for the tuples that come next."""
        self._counts: Sequence[int] = ()
        """The counts of the router before that, if it counts."""
        self.router = router
        """Chooses among the destinations."""
        self._grouping = grouping

    @property
    def counting(self) -> tuple[str, CountingRouter] | None:
        """As in the base class."""
        return (self._grouping, self.router) if isinstance(self.router, CountingRouter) else None

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        return _parts(self.destinations, ((index,) for index in self._targets(payload)))

    def deliver(self, emission: Emission, *, shared: bool) -> None:
        """Put tuples into the chosen destinations as in the base class, without a Python step per tuple."""
        payload, positions = emission.payload, emission.positions
        chosen = self._targets(payload)
        positions.scatter(chosen, [destination.positions for destination in self.destinations])
        parts = (payload.own() if shared else payload).partition(chosen, len(self.destinations))
        for destination, part in zip(self.destinations, parts, strict=True):
            destination.put(part)

    def choose(self, payload: Payload) -> Refused:
        """As in the base class."""
        if isinstance(self.router, CountingRouter):
            self._counts = self.router.save()
        try:
            self._chosen = self._found(payload)
        except Exception:  # a key's own methods may raise whatever they like
            pass  # for one of them, or for several: that is found out outside of this error
        else:
            return {}
        return self._choose_singly(payload.rows)

    def leave_out(self, left: Sequence[int]) -> None:
        """As in the base class."""
        if isinstance(self.router, CountingRouter):
            self.router.restore(self._counts)
            self._chosen = None
        elif self._chosen is not None:
            self._chosen = array("H", map(self._chosen.__getitem__, left))

    def _choose_singly(self, rows: Sequence[Row]) -> Refused:
        refused: Refused = {}
        for index, row in enumerate(rows):
            try:
                self.router.targets([row])
            except Exception as error:
                refused[index] = _refusal(f"{self._grouping}: {_raised(error)}; tuple: {shown(row)}", error)
        if isinstance(self.router, CountingRouter):
            self._chosen = None  # and `leave_out` has the counts go back
        else:  # where a row lies may decide on its target, so another one takes the place of a refused one
            some = next((row for index, row in enumerate(rows) if index not in refused), None)
            known = [some if index in refused else row for index, row in enumerate(rows)]
            self._chosen = array("H") if some is None else self.router.targets(known)  # type: ignore[arg-type]
        return refused

    def _targets(self, payload: Payload) -> Targets:
        chosen, self._chosen = self._chosen, None
        return self._found(payload) if chosen is None else chosen

    def _found(self, payload: Payload) -> Targets:
        columns = payload.columns
        found = None if columns is None else self.router.targets_of_columns(columns, len(payload))
        return self.router.targets(payload.rows) if found is None else found


class ClaimedEdge(SpreadEdge):
    """Sends everything to one destination, whose tasks claim its keys; the router refuses what is none."""

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        return ((self.destinations[0], None),)

    def deliver(self, emission: Emission, *, shared: bool) -> None:
        """Put all tuples into the destination."""
        payload, positions = emission.payload, emission.positions
        destination = self.destinations[0]
        destination.positions.extend(positions)
        destination.put(payload.own() if shared else payload)


class ChosenEdge(Edge):
    """Sends each tuple to the tasks that a custom grouping chooses; without `copies` to one at most."""

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
            choose: returns the ids of the tasks that a tuple with given values goes to.
            grouping: describes the stream, its consumer and the grouping, for messages.
            copies: whether a tuple may go to several tasks.
        """
        super().__init__(destinations, mutates)
        self.copies = copies
        self._choose = choose
        self._chosen: list[set[int]] = []
        """The choices of `choose` for the tuples that come next: a grouping is asked once for each."""
        self._grouping = grouping
        self._index = _index_of(destinations)

    may_refuse = True

    def choose(self, payload: Payload) -> Refused:
        """As in the base class.

        It refuses each tuple for which a chosen task is none of the consumer's, several tasks were chosen
        although the grouping makes no copies, or the grouping raised.
        """
        refused: Refused = {}
        self._chosen = []
        for index, row in enumerate(payload.rows):
            try:
                self._chosen.append(self._targets(row))
            except EmitError as error:
                refused[index] = error
                self._chosen.append(set())
        return refused

    def leave_out(self, left: Sequence[int]) -> None:
        """As in the base class."""
        self._chosen = [self._chosen[index] for index in left]

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples, which `choose` has been given."""
        return _parts(self.destinations, self._chosen)

    def _targets(self, row: Row) -> set[int]:
        try:
            tasks = list(self._choose(row))
        except (Exception, SystemExit) as error:
            raise EmitError(
                f"{self._grouping}: choose_tasks raised {type(error).__name__} for {shown(row)}: {error}"
            ) from error
        targets = {self._target(task, row) for task in tasks}
        if len(targets) > 1 and not self.copies:
            raise EmitError(
                f"{self._grouping}: choose_tasks returned tasks {tasks} for {shown(row)}: expected one "
                "at most, as the grouping's class says copies = False"
            )
        return targets

    def _target(self, task: Any, row: Row) -> int:
        try:
            return self._index[task]
        except (KeyError, TypeError):
            raise EmitError(
                f"{self._grouping}: choose_tasks returned task {task!r} for {shown(row)}: "
                f"expected ids out of {sorted(self._index)}"
            ) from None


class DirectEdge(Edge):
    """Sends each tuple to the task that its emit named, and drops it if that task does not subscribe."""

    def __init__(self, destinations: Sequence[Destination], mutates: bool) -> None:
        super().__init__(destinations, mutates)
        self._index = _index_of(destinations)
        self._named: Sequence[int] = ()

    def reaches(self, task: int) -> bool:
        """True if a task is one of the consumer's."""
        return task in self._index

    def name_tasks(self, named: Sequence[int]) -> None:
        """Set the tasks that were named for the tuples that come next, one task per tuple."""
        self._named = named

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        index = self._index
        targets = ((index[task],) if task in index else () for task in self._named)
        return _parts(self.destinations, targets)


def _raised(error: Exception) -> str:
    """The message of an error, with its class if that is none of those by which hashing refuses a key."""
    return str(error) if isinstance(error, TypeError | ValueError) else f"{type(error).__name__}: {error}"


def _refusal(message: str, cause: Exception) -> EmitError:
    """An error that says why no task can be chosen for a tuple, with the traceback of its cause."""
    error = EmitError(message)
    error.__cause__ = cause
    return error.with_traceback(cause.__traceback__)


def _index_of(destinations: Sequence[Destination]) -> dict[int, int]:
    """The index of each consuming task's destination, by the task's id."""
    return {destination.tasks[0]: index for index, destination in enumerate(destinations)}


def _parts(destinations: Sequence[Destination], targets: Iterable[Iterable[int]]) -> Assignment:
    """Turn the chosen destinations of each tuple into the chosen tuples of each destination."""
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
        destination: receives the chosen tuples.
        emission: all tuples.
        tags: the tags of all tuples, where they belong to several streams.
        indexes: the indexes of the chosen tuples, in any order.
        shared: whether other consumers get the same tuples, and one of them may change their values.
    """
    payload = emission.payload
    member = put_positions(destination, emission.positions, len(payload), indexes)
    chosen = payload.take(member)
    destination.put(chosen.own() if shared else chosen, compress(tags, member) if tags is not None else ())


def put_positions(
    destination: Destination, positions: Positions, count: int, indexes: Iterable[int]
) -> array[int]:
    """Put the positions of some of `count` tuples into a destination; returns for each whether it is one."""
    member = array("H", bytes(2 * count))
    for index in indexes:
        member[index] = 1
    nowhere = Positions()
    positions.scatter(member, (nowhere, destination.positions))
    return member
