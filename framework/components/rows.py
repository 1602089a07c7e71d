"""Rows: the tuples of one stream that a batch bolt receives in one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from framework.positions import Position


class Rows(Sequence[Any]):
    """Tuples of one stream, in order.

    Each item is the values of one of them, as a plain tuple in the order of the stream's fields.

    A bolt may keep the rows as long as it likes; only positions and times have to be asked for during the
    call. It must not change the list of all values.
    """

    __slots__ = ("_first", "_positions", "_values", "component", "fields", "stream")

    def __init__(
        self,
        values: list[tuple[Any, ...]],
        component: str,
        stream: str,
        fields: Sequence[str],
        positions: Iterable[Position] = (),
        first: int = 0,
    ) -> None:
        """
        Args:
            values: the values of each tuple.
            component: id of the component that emitted them.
            stream: name of the stream that they came on.
            fields: the stream's declared fields; empty where it declares none.
            positions: where the tuples stand, among others.
            first: index in there of the first of them.
        """
        self.component = component
        """Id of the component that emitted the tuples."""
        self.stream = stream
        """Name of the stream that they came on."""
        self.fields = tuple(fields)
        """The stream's declared fields; empty where it declares none."""
        self._values = values
        self._positions = positions
        self._first = first

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: Any) -> Any:
        return self._values[index]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._values)

    def __repr__(self) -> str:
        return f"Rows({len(self)} of {self.component}:{self.stream})"

    def values(self) -> list[tuple[Any, ...]]:
        """The values of each tuple, as a list that must not be changed."""
        return self._values

    def column(self, field: str) -> list[Any]:
        """The values of one field.

        Raises:
            KeyError: the stream declares no such field.
        """
        if field not in self.fields:
            declared = f"its fields are {list(self.fields)}" if self.fields else "it declares no fields"
            raise KeyError(f"stream {self.stream!r} of {self.component!r} has no field {field!r}: {declared}")
        return list(map(itemgetter(self.fields.index(field)), self._values))

    def positions(self) -> list[Position]:
        """Where the tuples stand in the order of the run; to be asked for during the call."""
        return list(islice(self._positions, self._first, self._first + len(self)))

    def times(self) -> list[int]:
        """The time of each tuple: its event time in microseconds, or its number by logical time.

        As `positions`, it is to be asked for during the call.
        """
        return [position.ts for position in self.positions()]
