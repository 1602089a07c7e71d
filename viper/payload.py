"""Payloads: a jumbo tuple carries the values of many tuples, in order, as one payload.

Rows are the only kind of payload today. Any other kind that fulfils the protocol, such as columns, is handled
alike: divided among consumers, handed over by reference or encoded, and cut where there is no room.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, Protocol, Self

from viper.rows import encode_rows, partition
from viper.values import copy_of, is_shareable

if TYPE_CHECKING:
    from typing_extensions import Buffer

Row = tuple[Any, ...]
"""The values of one tuple."""


class Payload(Protocol):
    """Values of tuples; it is never changed once it has been handed on, so parts of it may be shared."""

    @property
    def mutable(self) -> bool:
        """Whether any value can be changed by a consumer that receives it."""

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

    def partition(self, targets: Buffer, parts: int) -> list[Self]:
        """The values divided into parts, in order.

        Args:
            targets: for each tuple the number of its part, as native uint16.
            parts: how many parts there are.
        """

    def joined(self, other: Self) -> Self:
        """These values, and another payload's behind them."""

    def own(self) -> Self:
        """The same values for one more consumer, which can change none that others see."""

    def encoded(self) -> bytes | None:
        """The bytes that a `Decoder` reads in another process; None where only pickle carries the values."""


class Rows:
    """A payload that holds one Python tuple per tuple."""

    __slots__ = ("mutable", "rows")

    def __init__(self, rows: list[Row], mutable: bool = False) -> None:
        self.rows = rows
        self.mutable = mutable

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Rows({len(self.rows)})"

    def slice(self, first: int, count: int) -> Rows:
        """The values of `count` tuples, from `first` on."""
        whole = first == 0 and count == len(self.rows)
        return self if whole else Rows(self.rows[first : first + count], self.mutable)

    def take(self, member: Sequence[int]) -> Rows:
        """The values of those tuples whose entry in `member` is not 0."""
        return Rows(list(compress(self.rows, member)), self.mutable)

    def partition(self, targets: Buffer, parts: int) -> list[Rows]:
        """The values divided into parts, in order."""
        return [Rows(part, self.mutable) for part in partition(self.rows, targets, parts)]

    def joined(self, other: Rows) -> Rows:
        """These values, and another payload's behind them."""
        if not self.rows:
            return other
        if not other.rows:
            return self
        return Rows(self.rows + other.rows, self.mutable or other.mutable)

    def own(self) -> Rows:
        """The same values for one more consumer, which can change none that others see."""
        if not self.mutable:
            return self
        return Rows([row if is_shareable(row) else tuple(map(copy_of, row)) for row in self.rows], True)

    def encoded(self) -> bytes | None:
        """The bytes that a `Decoder` reads in another process; None where only pickle carries the values."""
        return encode_rows(self.rows)


NOTHING = Rows([])
"""A payload without any tuple."""
