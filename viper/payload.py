"""Payloads: a jumbo tuple carries the values of many tuples, in order, as one payload.

There are rows, here, and columns (`viper.columns.payload`). Both are handled alike: divided among consumers,
handed over by reference or encoded, and cut where there is no room.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pickle
import sys
import uuid
from array import array
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, Protocol, Self

from viper.rows import encode_rows, interleave, is_plain, misfit, partition
from viper.scalars import holds_any, python_of, python_within

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from viper.columns.lease import Lease
    from viper.hashing import ArrowColumn

Row = tuple[Any, ...]
"""The values of one tuple."""


class Payload(Protocol):
    """Values of tuples; it is never changed once it has been handed on, so parts of it may be shared."""

    @property
    def mutable(self) -> bool:
        """True if any value can be changed by a consumer that receives it."""

    @property
    def kind(self) -> object:
        """Equal for payloads whose values can be put in one of them: the types of columns, None for rows of
        tuples."""

    @property
    def row_bytes(self) -> int:
        """About how many bytes of memory of its own a tuple takes; 0 where its values are Python's."""

    @property
    def columns(self) -> Sequence[ArrowColumn] | None:
        """The values field by field as Arrow arrays; None where it holds none."""

    @property
    def lease(self) -> Lease | None:
        """The lease by which the memory of its values is lent; None if it may be kept."""

    @property
    def rows(self) -> list[Row]:
        """The values tuple by tuple, for components that are called once per tuple."""

    def __len__(self) -> int:
        """The number of tuples."""

    def slice(self, first: int, count: int) -> Self:
        """The values of `count` tuples, from `first` on."""

    def take(self, member: Sequence[int]) -> Self:
        """The values of those tuples whose entry in `member` is not 0.

        Args:
            member: one number per tuple.
        """

    def ordered(self, order: array[int]) -> Self:
        """The values in another order.

        Args:
            order: the index of each, as array("I").
        """

    @classmethod
    def interleaved(cls, payloads: Sequence[Self], firsts: Sequence[int], chosen: Buffer) -> Self:
        """The values of several payloads in one order.

        Args:
            payloads: of one kind.
            firsts: the index of the first tuple of each that is taken.
            chosen: for each tuple of the result the number of the payload whose next one it is, as native
                uint16.
        """

    def partition(self, targets: Buffer, parts: int) -> list[Self]:
        """The values divided into parts, in order.

        Args:
            targets: for each tuple the number of its part, as native uint16.
            parts: how many parts there are.
        """

    def joined(self, *others: Payload) -> Payload:
        """These values, and those of other payloads after them; of the same kind, or rows."""

    def times(self, field: int, unit: str) -> array[int] | None:
        """The values of a field as times in microseconds since 1970, rounded down, as array("q").

        Args:
            field: its index.
            unit: s, ms, us or ns: what its numbers count.

        Returns:
            None where that is to be found out value by value.
        """

    def own(self) -> Self:
        """The same values for one more consumer, which can change none that others see."""

    def lent_out(self) -> Self:
        """The same values, in a copy that is lent where they are columns."""

    def encoded(self) -> bytes | None:
        """The bytes that another process reads; None where only pickle carries the values."""


class Rows:
    """A payload that holds one Python tuple per tuple."""

    __slots__ = ("mutable", "rows", "sealed")
    kind = None
    row_bytes = 0
    columns = None
    lease = None

    def __init__(self, rows: list[Row], mutable: bool = False, sealed: bool = False) -> None:
        self.rows = rows
        self.mutable = mutable
        self.sealed = sealed
        """True if nobody can change any of the values, as was seen when they were emitted in this process.
        Rows that another process has pickled belong to their consumer, who may."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)})"

    def have(self, arity: int) -> bool:
        """True if each row has so many values; -1 stands for any number."""
        return misfit(self.rows, arity) is None

    def slice(self, first: int, count: int) -> Rows:
        """The values of `count` tuples, from `first` on."""
        whole = first == 0 and count == len(self.rows)
        return self if whole else Rows(self.rows[first : first + count], self.mutable, self.sealed)

    def take(self, member: Sequence[int]) -> Rows:
        """The values of those tuples whose entry in `member` is not 0."""
        return Rows(list(compress(self.rows, member)), self.mutable)

    def ordered(self, order: array[int]) -> Rows:
        """The values in another order."""
        return Rows(list(map(self.rows.__getitem__, order)), self.mutable)

    @classmethod
    def interleaved(cls, payloads: Sequence[Rows], firsts: Sequence[int], chosen: Buffer) -> Rows:
        """The values of several payloads in one order."""
        rows = interleave([payload.rows for payload in payloads], list(firsts), chosen)
        return cls(rows, any(payload.mutable for payload in payloads))

    def partition(self, targets: Buffer, parts: int) -> list[Rows]:
        """The values divided into parts, in order."""
        return [Rows(part, self.mutable) for part in partition(self.rows, targets, parts)]

    def joined(self, *others: Payload) -> Payload:
        """These values, and those of other payloads after them."""
        parts = [part for part in (self, *others) if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else self
        rows: list[Row] = []
        for part in parts:
            rows += part.rows
        return Rows(rows, any(part.mutable for part in parts))

    def times(self, field: int, unit: str) -> array[int] | None:
        """None: any value may be a time."""
        return None

    def own(self) -> Rows:
        """The same values for one more consumer, which can change none that others see."""
        if not self.mutable:
            return self
        return Rows([row if _is_shareable(row) else tuple(map(copy_of, row)) for row in self.rows], True)

    def lent_out(self) -> Self:
        """The same values."""
        return self

    def encoded(self) -> bytes | None:
        """The bytes that a `Decoder` reads in another process; None where only pickle carries the values."""
        return encode_rows(self.rows)


class BareRows(Rows):
    """Rows of one value each, which nobody can change; their tuples are made where somebody asks for them.

    With a tuple for each word, and a second look at it, a count by functions takes 2,310 instructions a word;
    without both it takes 1,590.
    """

    __slots__ = ("_made", "bare")
    kind: object = "bare"  # type: ignore[assignment]

    def __init__(self, bare: list[Any]) -> None:
        self.bare = bare
        """The values."""
        self.mutable, self.sealed = False, True
        self._made: list[Row] | None = None

    @property
    def rows(self) -> list[Row]:  # type: ignore[override]
        """As of the base class."""
        if self._made is None:
            self._made = list(zip(self.bare, strict=True))
        return self._made

    def __len__(self) -> int:
        return len(self.bare)

    def have(self, arity: int) -> bool:
        """As in the base class."""
        return arity in (1, -1)

    def slice(self, first: int, count: int) -> BareRows:
        """As in the base class."""
        whole = first == 0 and count == len(self.bare)
        return self if whole else BareRows(self.bare[first : first + count])

    def take(self, member: Sequence[int]) -> BareRows:
        """As in the base class."""
        return BareRows(list(compress(self.bare, member)))

    def ordered(self, order: array[int]) -> BareRows:
        """As in the base class."""
        return BareRows(list(map(self.bare.__getitem__, order)))

    @classmethod
    def interleaved(  # type: ignore[override]  # of one kind, so that all of them are bare
        cls, payloads: Sequence[BareRows], firsts: Sequence[int], chosen: Buffer
    ) -> BareRows:
        """As in the base class."""
        return cls(interleave([payload.bare for payload in payloads], list(firsts), chosen))

    def partition(self, targets: Buffer, parts: int) -> list[BareRows]:  # type: ignore[override]
        """As in the base class."""
        return list(map(BareRows, partition(self.bare, targets, parts)))

    def joined(self, *others: Payload) -> Payload:
        """As in the base class."""
        if not all(isinstance(other, BareRows) for other in others):
            return super().joined(*others)
        joined = [value for part in (self, *others) for value in part.bare]  # type: ignore[attr-defined]
        return BareRows(joined) if others else self

    def own(self) -> BareRows:
        """The same values, as nobody can change any."""
        return self


def _is_shareable(row: Row | None) -> bool:
    return row is None or is_shareable(row)  # None stands for a row that is skipped


JOINED_BYTES = 1 << 19
"""Bytes up to which columns are put together. Whatever its size, a batch costs some 100 us on its way, in
which about as many bytes are copied. Of more, the first leave the caches before the last have come."""


def worth_joining(payloads: Sequence[Payload], enough: int = sys.maxsize) -> int:
    """Count the payloads, from the first one on, that should be one: of one kind, so columns stay columns.

    Args:
        payloads: at least one, which counts in any case.
        enough: a number of tuples; where there are so many, no more are needed.
    """
    first, row_bytes = payloads[0], payloads[0].row_bytes
    count, rows = 1, len(first)
    for payload in payloads[1:]:
        is_too_much = rows >= enough or (rows + len(payload)) * row_bytes > JOINED_BYTES
        if is_too_much or type(payload) is not type(first) or payload.kind != first.kind:
            break
        rows += len(payload)
        count += 1
    return count


NOTHING = Rows([])
"""A payload without any tuple."""


def interleaved(payloads: Sequence[Payload], firsts: Sequence[int], chosen: Buffer) -> Payload:
    """The values of several payloads in one order, as `Payload.interleaved`; of different kinds, as rows."""
    kind = payloads[0].kind
    if any(payload.kind != kind for payload in payloads):
        payloads = [Rows(payload.rows, payload.mutable) for payload in payloads]
    return type(payloads[0]).interleaved(payloads, firsts, chosen)


_ALSO_IMMUTABLE = frozenset(
    (
        datetime.date,
        datetime.datetime,
        datetime.time,
        datetime.timedelta,
        decimal.Decimal,
        fractions.Fraction,
        range,
        uuid.UUID,
    )
)


def is_immutable(value: object) -> bool:
    """True if nobody can change a value: it is of an exactly immutable type, and so is all that it holds."""
    return is_plain(value) or type(value) in _ALSO_IMMUTABLE


def is_shareable(row: Sequence[Any]) -> bool:
    """True if every consumer may be given the very same values."""
    return all(map(is_immutable, row))


def copy_of(value: Any) -> Any:
    """The value itself if nobody can change it, else a copy that nobody else has.

    Scalars of NumPy and pandas, also within it, are Python's values in the copy (`viper.scalars`). To look
    for them costs nothing where the value is immutable, as Python's own scalars are.

    Raises:
        ScalarError: no value of Python is the same as a scalar.
        Exception: whatever pickle raises, which makes the copy.
    """
    if is_immutable(value):
        return value
    scalar = python_of(value)
    if scalar is not value:
        return copy_of(scalar)
    pickled = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    copy = pickle.loads(pickled)
    return python_within(copy) if holds_any(pickled) else copy
