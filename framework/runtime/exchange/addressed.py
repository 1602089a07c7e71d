"""Edges to operators that derive keys, where producers must know these: to choose tasks, or to send them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from operator import itemgetter

from framework.model.errors import EmitError
from framework.operators.windows.key_input import InputMode, KeyInput
from framework.runtime.exchange.derived_keys import Address, KeysOfRows, owners_of
from framework.runtime.exchange.destination import Destination
from framework.runtime.exchange.groupings import Assignment, Edge, Refused, put_positions
from viper.jumbo import Emission
from viper.payload import Payload, Row, Rows

Part = tuple[Destination, Sequence[int] | None, list[Row]]
"""Rows as a destination gets them, with their indexes among those that were divided; None for all of them."""
_NO_KEYS = Address((), (), None)


class AddressedEdge(Edge):
    """Sends each tuple to the tasks that own one of its keys, or to all of them with its keys.

    Keys that are sent follow the tuple's own values as an `Address`. If each key has a copy, the copies for
    one task travel as one row, which has the copies in the place of the keys, and no other values. So all of
    them have the position of the tuple, as one input.
    """

    copies = True

    def __init__(
        self,
        destinations: Sequence[Destination],
        mutates: bool,
        key_input: KeyInput,
        keys: KeysOfRows,
        tasks: int,
        groups: int,
    ) -> None:
        """
        Args:
            destinations: one per task of the consumer, by id, or one for all of them.
            mutates: whether the consumer may change values that it receives.
            key_input: how tuples come to the consumer; not the plain way.
            keys: derives them.
            tasks: the number of tasks of the consumer.
            groups: the number of key groups.
        """
        super().__init__(destinations, mutates)
        self._input = key_input
        self._keys = keys
        self._owners = owners_of(tasks, groups)
        self._chosen: list[Address] = []
        """The choices of `choose` for the tuples that come next."""

    may_refuse = True

    def choose(self, payload: Payload) -> Refused:
        """As in the base class: it is for no tuple for which the operator raised."""
        refused: Refused = {}
        self._chosen = []
        for index, row in enumerate(payload.rows):
            try:
                self._chosen.append(self._keys.of(row))
            except EmitError as error:
                refused[index] = error
                self._chosen.append(_NO_KEYS)
        return refused

    def leave_out(self, left: Sequence[int]) -> None:
        """As in the base class."""
        self._chosen = [self._chosen[index] for index in left]

    def assign(self, payload: Payload) -> Assignment:
        """Choose the destinations of tuples."""
        return ((destination, indexes) for destination, indexes, _ in self.divide(payload))

    def divide(self, payload: Payload) -> Iterable[Part]:
        """The rows that each destination gets, of those that `choose` has been given."""
        addresses = zip(payload.rows, self._chosen, strict=True)
        if self._input.mode is InputMode.SHARED:
            rows = [(*row, *address) for row, address in addresses]
            return [(destination, None, rows) for destination in self.destinations]
        return self._by_owner(addresses)

    def _by_owner(self, addresses: Iterable[tuple[Row, Address]]) -> Iterator[Part]:
        indexes: list[list[int]] = [[] for _ in self.destinations]
        rows: list[list[Row]] = [[] for _ in self.destinations]
        for index, (row, address) in enumerate(addresses):
            for owner, part in address.parts(self._owners):
                indexes[owner].append(index)
                rows[owner].append(self._sent(row, part))
        for destination, chosen, found in zip(self.destinations, indexes, rows, strict=True):
            if found:
                yield destination, chosen, found

    def _sent(self, row: Row, address: Address) -> Row:
        if self._input.mode is InputMode.KEYED:
            return address.groups, tuple([(*row, key) for key in address.keys]), address.first
        return (*row, *address) if self._input.by_producer else row

    def deliver(self, emission: Emission, *, shared: bool) -> None:
        """Put tuples into the chosen destinations as in the base class."""
        payload, positions = emission.payload, emission.positions
        for destination, indexes, rows in self.divide(payload):
            if indexes is None:
                destination.positions.extend_from(positions, 0, len(rows))
            else:
                put_positions(destination, positions, len(payload), indexes)
            sent = Rows(rows, payload.mutable)
            destination.put(sent.own() if shared else sent)


class Merged:
    """Rows for one destination from several streams of a task, put back into the order of their emission."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}
        """By their indexes in the emission."""

    def add(self, indexes: Sequence[int], rows: Sequence[Row]) -> None:
        """Add rows of one stream, with their indexes in the emission."""
        self._rows.update(zip(indexes, rows, strict=True))

    def put(self, destination: Destination, emission: Emission, tags: Sequence[int], *, shared: bool) -> None:
        """Put them into their destination; arguments as of `put_members`."""
        payload = emission.payload
        member = put_positions(destination, emission.positions, len(payload), self._rows)
        sent = Rows([row for _, row in sorted(self._rows.items(), key=itemgetter(0))], payload.mutable)
        destination.put(sent.own() if shared else sent, compress(tags, member))
