"""Spouts whose source is divided into partitions that do not depend on the parallelism."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from framework.components.spout import Spout
from framework.errors import EmitError


class Block(NamedTuple):
    """Some rows of one partition."""

    times: array[int]
    """Event time of each row, as array("q"), in microseconds since 1970 UTC; it never falls."""
    rows: list[tuple[Any, ...]]
    """As many; the block is not changed any more once it is given."""
    mutable: bool = False
    """Whether any row may hold a value that a consumer can change, e.g. a list."""


class Watermark(NamedTuple):
    """How far a partition is: none of its rows that are still to come lies before a time."""

    time_us: int
    """Event time in microseconds since 1970 UTC; a row of just this time may come."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Replay at the pace at which the rows came once.

    Raises:
        ValueError: a speed that is not above 0.
    """

    origin_us: int
    """Event time, in microseconds since 1970 UTC, that passes when the spout is activated."""
    speed: float = 1.0
    """How many seconds of event time pass in one second."""

    def __post_init__(self) -> None:
        if not self.speed > 0:
            raise ValueError(f"speed={self.speed!r}: expected more than 0, e.g. 1.0 for the recorded pace")


class PartitionedSpout(Spout):
    """Brings rows of a source that has partitions of its own, each in the order of event time.

    Each task reads some of the partitions: of three tasks the first has partitions 0, 3, 6 and so on.
    A row's position tells its partition, not its task, so the output is the same for every parallelism.
    It ends when all its partitions have ended. It declares its default stream alone, and emits by
    `blocks` only; nothing of what it brings is tracked.
    """

    @property
    def partitions(self) -> int:
        """Number of partitions; known from the constructor on."""
        raise NotImplementedError(f"{type(self).__name__} must define the property partitions")

    @property
    def identity(self) -> str:
        """Names the data, so that a place in other data is refused; empty where it has no name."""
        return ""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        """All rows of a partition, in order.

        Args:
            partition: from 0.
            start_us: rows before this event time, in microseconds since 1970 UTC, may be left out.

        Yields:
            The next rows, or None: nothing for now. It is asked again after a pause that grows. A watermark
            says how far it is, so that the rows of other partitions need not wait for its next.
        """
        raise NotImplementedError(f"{type(self).__name__} must define blocks(self, partition, start_us)")

    def pace(self) -> Pace | None:
        """At which pace rows are brought, asked after `initialize`; None: as fast as can be."""
        return None

    def companion(self, conf: Mapping[str, Any]) -> AbstractContextManager[Mapping[str, Any]]:
        """What runs beside the tasks, in the process that leads the run.

        It is entered before the tasks are made, and left after they have ended. It is called on an instance
        of its own, that is not initialized.

        Args:
            conf: the component's configuration.

        Returns:
            A context manager; what it gives is added to the configuration that each task gets.
            What it raises at its start refuses the run.
        """
        return nullcontext({})

    def emit(self, *args: Any, **options: Any) -> NoReturn:
        """Refused: rows come by `blocks`.

        Raises:
            EmitError: always.
        """
        raise EmitError(f"{type(self).__name__} brings partitions: its rows come from blocks(), not emit()")
