"""Spouts whose source is divided into partitions that do not depend on the parallelism."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn

from framework.model.errors import EmitError
from framework.model.topology import DEFAULT_STREAM
from framework.operators.components.later import Later
from framework.operators.components.spout import Spout


class Block(NamedTuple):
    """Some rows of one partition."""

    times: array[int]
    """Event time of each row, as array("q"), in microseconds since 1970 UTC; it never falls, but for a
    slack (``viper.timestamp.slack``)."""
    rows: Any
    """The values of as many rows, as a list of tuples or, on a stream with a schema, as a record batch.

    The spout does not change a block once it has yielded it.
    """
    mutable: bool = False
    """True if any row may hold a value that a consumer can change, e.g. a list; never so with a schema."""
    stream: str = DEFAULT_STREAM
    """The stream that all its rows go to, one of the spout's; blocks of several may follow each other."""
    offsets: array[int] | None = None
    """The offset of each row in the partition, as array("q"), rising; from `PartitionedSpout.blocks_from`."""


class Watermark(NamedTuple):
    """The progress of a partition: none of the rows that it still brings lies before this time."""

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
    """The seconds of event time that pass in one second."""

    def __post_init__(self) -> None:
        if not self.speed > 0:
            raise ValueError(f"speed={self.speed!r}: expected more than 0, e.g. 1.0 for the recorded pace")


class PartitionedSpout(Spout):
    """Brings rows of a source that has partitions of its own, each in the order of event time.

    Each task reads some of the partitions: of three tasks the first has partitions 0, 3, 6 and so on. A row's
    position depends on its partition, not on its task, so the output is the same for every parallelism. The
    spout ends when all its partitions have ended. It emits only by `blocks`, each of which has rows of one of
    its streams; none of its rows is tracked, and none of its streams is direct.

    If its configuration names a stream for late rows (``viper.timestamp.late``) that it does not declare,
    that is one more stream, with the fields of the first one.
    """

    declares_late_stream: Final = True
    """True if the configuration may name a stream that the class does not declare."""
    never_late: Collection[str] = ()
    """The streams of which no row is late; their fields need not be those of the stream for late rows."""

    @property
    def partitions(self) -> int:
        """Number of partitions; it must be known once the constructor has run."""
        raise NotImplementedError(f"{type(self).__name__} must define the property partitions")

    @property
    def identity(self) -> str:
        """A name for the data, so that a run cannot resume at an offset in other data; empty for no name."""
        return ""

    @property
    def compared(self) -> str:
        """A clause for the refusal of other data: by what `identity` knows them, and what is to be done."""
        return ""

    @property
    def has_times(self) -> bool:
        """True if rows have times of their own.

        If the number of a row stands for its time, no row can be out of order.
        """
        return True

    @property
    def rows_total(self) -> int | None:
        """About how many rows all partitions have together; None where nobody knows.

        The progress of a run is measured by it. It is asked for once, behind `initialize`.
        """
        return None

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | Later | None]:
        """Yield all rows of a partition, in order; the same rows in the same order whenever it is called.

        With `viper.timestamp.slack` they may be out of order by as much.

        Args:
            partition: from 0.
            start_us: the event time at which the partition resumes, after a restart or in a run that resumes.
                Rows before this time, in microseconds since 1970 UTC, may be left out. None where the
                partition begins, as in a new run, and always with `viper.timestamp.slack`: which rows are
                late depends on all rows before.

        Yields:
            The next rows. Or None if there are none for now: it is asked again after a pause that grows. Or a
            time or an event (`after`, `at`, `when_readable`) if there are none before it. Or a watermark, so
            that the rows of other partitions need not wait for its next row.
        """
        raise NotImplementedError(f"{type(self).__name__} must define blocks(self, partition, start_us)")

    def first_offset(self, partition: int) -> int | None:
        """The offset at which a partition begins in a new run; None for its first row, wherever that is.

        Args:
            partition: from 0.
        """
        return None

    def blocks_from(
        self, partition: int, offset: int | None, latest_us: int | None
    ) -> Iterator[Block | Watermark | Later | None]:
        """Yield the rows of a partition from an offset on; a spout defines it whose source can be sought.

        It takes the place of `blocks`. Each block has an offset for each of its rows, which rise and may have
        gaps. A run that resumes reads from the first row that it had not brought. That holds with
        `viper.timestamp.slack`, too, as the place in a partition says what was late there.

        Args:
            partition: from 0.
            offset: the first that is wanted; None for the first row that there is, as of a partition that was
                added since the run before.
            latest_us: the latest event time of all rows that were read before that offset, in microseconds
                since 1970 UTC; None if none were.

        Yields:
            As `blocks`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define blocks_from(partition, offset, ...)")

    @classmethod
    def has_offsets(cls) -> bool:
        """True if rows have offsets: the class defines `blocks_from`."""
        return cls.blocks_from is not PartitionedSpout.blocks_from

    def place_of(self, partition: int, index: int) -> str:
        """The place of a row in the source, as messages say it, e.g. a file and a line.

        Args:
            partition: the partition.
            index: of the row in the block of that partition which `blocks` has yielded last.
        """
        return f"row {index} of a block"

    def time_of(self, row: Mapping[str, Any]) -> int | None:
        """The event time of a row that a test gives in the place of the source's own.

        Args:
            row: its values by field.

        Returns:
            Microseconds since 1970 UTC; None where rows have no time of their own.

        Raises:
            ValueError: the row should have one, and has none.
        """
        return None

    def pace(self) -> Pace | None:
        """The pace at which rows are brought; None for as fast as possible. Called after `initialize`."""
        return None

    def companion(self, conf: Mapping[str, Any]) -> AbstractContextManager[Mapping[str, Any]]:
        """Return a context manager for programs that have to run beside the tasks, in the process that leads
        the run.

        It is entered before the tasks are made, and left after they have ended. The method is called on an
        instance of its own, which is not initialized.

        Args:
            conf: the component's configuration.

        Returns:
            A context manager; the mapping that it enters with is added to the configuration that each task
            gets. An error at its start refuses the run.
        """
        return nullcontext({})

    def emit(self, *args: Any, **options: Any) -> NoReturn:
        """Refused: rows come by `blocks`.

        Raises:
            EmitError: always.
        """
        raise EmitError(f"{type(self).__name__} brings partitions: its rows come from blocks(), not emit()")
