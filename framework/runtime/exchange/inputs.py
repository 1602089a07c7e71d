"""The input of a bolt's task: pieces of jumbo tuples from its channel, and from the ways back through cycles.

Nothing here calls a component or knows what becomes of the tuples; tasks take pieces from a `BoltInput`.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from framework.runtime.exchange.claiming import ClaimingCutter
from framework.runtime.exchange.pieces import Cutter, Delivering, InputSource, Piece, grouped
from viper.link import Link
from viper.position import Level, Position, Positions
from viper.reader import Reader
from viper.state import KeyClaimant

if TYPE_CHECKING:
    from viper.columns.lease import Lease


class Inlet:
    """One reader of a gate, and the tasks that feed it."""

    def __init__(
        self,
        reader: Delivering,
        sources: Sequence[InputSource],
        shares: bool,
        whole: bool,
        borrows: bool = False,
        own: range | KeyClaimant | None = None,
    ) -> None:
        """
        Args:
            reader: delivers runs of jumbo tuples.
            sources: the producing tasks, by their index at the reader's gate.
            shares: whether other replicas get the same values, and one of them may change them.
            whole: whether pieces are to hold payloads, not lists of rows.
            borrows: whether columns may lie in memory that is asked back.
            own: as of a `Cutter`; or the task, where it claims key groups with others.
        """
        self.reader = reader
        self.sources = tuple(sources)
        cutter: Cutter
        if isinstance(own, KeyClaimant):
            cutter = ClaimingCutter(reader, sources, own, copies=shares, whole=whole)
        else:
            cutter = Cutter(reader, sources, copies=shares, whole=whole, borrows=borrows, own=own)
        self.take = cutter.take
        """Takes tuples that are ready, as `Cutter.take`."""
        self.take_first = cutter.take_first
        """Takes the first of these, as `Cutter.take_first`."""


class Delivery(Protocol):
    """The reading end of a channel, as far as a task asks it for anything but tuples."""

    @property
    def carries_tracked(self) -> bool:
        """True if tracked tuples may come."""

    def outlook(self) -> tuple[bool, Position, int]:
        """As `Reader.outlook`."""

    def ready(self) -> bool:
        """As `Reader.ready`."""

    def holding_source(self) -> int | None:
        """As `Reader.holding_source`."""

    def last_ts(self) -> int:
        """As `Reader.last_ts`."""

    def waiting_tuples(self) -> int:
        """As `Reader.waiting_tuples`."""

    def defer(self) -> None:
        """As `Reader.defer`."""

    def working(self, untracked: int) -> None:
        """As `Reader.working`."""

    def give_back(self) -> Lease | None:
        """As `Reader.give_back`."""


class Channel(Protocol):
    """The way by which a task takes the tuples of its channel: an `Inlet`, or what stands before one."""

    @property
    def reader(self) -> Delivery:
        """The reading end."""

    @property
    def sources(self) -> tuple[InputSource, ...]:
        """As of an `Inlet`."""

    def take(self, limit: int, positions: Positions) -> list[Piece]:
        """As `Cutter.take`."""

    def take_first(
        self, limit: int, positions: Positions, wanted: Callable[[Positions], int]
    ) -> list[Piece]:
        """As `Cutter.take_first`."""


class BoltInput:
    """The whole input of one task of a bolt."""

    def __init__(
        self,
        reader: Delivering,
        sources: Sequence[InputSource],
        feedback: Sequence[tuple[Reader, InputSource]],
        shares: bool,
        whole: bool = False,
        borrows: bool = False,
        own: range | KeyClaimant | None = None,
    ) -> None:
        """
        Args:
            reader: the reader of the task's channel.
            sources: the producing tasks, by their index at the channel's gate.
            feedback: the readers of the ways back through cycles, with their producing tasks.
            shares: whether other replicas get the same values, and one of them may change them.
            whole: whether pieces are to hold payloads, not lists of rows.
            borrows: whether columns from another process may lie in the memory that they share, until the
                task is done with them.
            own: as of an `Inlet`.
        """
        self.channel: Channel = Inlet(reader, sources, shares, whole, borrows, own)
        self.is_linked = isinstance(reader, Link)
        """True if its only producer is run by the same thread, and in no worker process."""
        self.feedback = tuple(Inlet(back, (source,), shares, whole, own=own) for back, source in feedback)
        self.outlook: Callable[[], tuple[bool, Position, int]]
        """Returns the progress of the input in one call.

        First: could a tuple be processed now? Second, the position before which no tuple will come any more,
        except through a cycle. Third, the event time in microseconds up to which producers go by what they
        have promised, although positions lie after it: `UNTOLD` while one has not promised so.
        """
        self.outlook = partial(_outlook_on_all, reader, self.feedback) if feedback else reader.outlook
        inlets = (self.channel, *self.feedback)
        streams = [s for inlet in inlets for source in inlet.sources for s in source.streams.values()]
        self.is_typed = any(stream.schema is not None for stream in streams)
        """True if any of its streams has a schema, so that its tuples may come as columns."""
        levels = {stream.level for stream in streams}
        self.level = next(iter(levels)) if len(levels) == 1 else None
        """The only level at which outputs are marked; None where there are several."""
        self.cycle_is_over = not self.feedback
        """True if nothing comes back through a cycle any more."""

    def take_whole(self, rows: int) -> int:
        """Have a batch of columns come as it was handed over by another process, where one source brings all.

        Args:
            rows: the most rows that come at once of smaller batches.

        Returns:
            The most tuples of a slice.
        """
        reader = self.channel.reader
        return reader.take_whole(rows) if type(reader) is Reader and not self.feedback else rows

    def pass_through(self, stage: Channel) -> None:
        """Have the tuples of the channel pass through a stage, which takes them of it; there is no cycle."""
        self.channel = stage
        self.outlook = self.channel.reader.outlook

    @property
    def is_cyclic(self) -> bool:
        """True if tuples come back to the task through a cycle."""
        return bool(self.feedback)

    def end_cycle(self) -> None:
        """Note that nothing comes back through the cycle any more."""
        self.cycle_is_over = True

    @property
    def has_producers(self) -> bool:
        """True if any task sends tuples to this one; otherwise it receives only ticks."""
        return any(source.streams for inlet in (self.channel, *self.feedback) for source in inlet.sources)

    def by_level(self, pieces: list[Piece]) -> Iterator[tuple[Level, list[Piece]]]:
        """Group successive pieces whose outputs are marked at the same level; there is at least one piece."""
        return grouped(pieces, attrgetter("level"))

    @property
    def held_by(self) -> str | None:
        """The task that holds the input back, as ``component:task id``; None if there is none."""
        held = self.channel.reader.holding_source()
        return None if held is None else self.channel.sources[held].name

    @property
    def waits(self) -> bool:
        """True if there is input that cannot be processed yet."""
        return self.channel.reader.waiting_tuples() > 0

    def last_ts(self) -> int:
        """The latest event time in microseconds that any producer has reached, as the producers report it."""
        return self.channel.reader.last_ts()

    def done_with(self, waiting: int) -> Lease | None:
        """Note that all tuples that were taken have been processed.

        Args:
            waiting: untracked outputs of theirs that still wait for room; if the process dies, they are lost.

        Returns:
            Borrowed memory that something still refers to; None where there is none.
        """
        self.channel.reader.working(waiting)
        for back in self.feedback:
            back.reader.working(0)
        return self.channel.reader.give_back()


def _outlook_on_all(reader: Delivering, feedback: Sequence[Inlet]) -> tuple[bool, Position, int]:
    """As `BoltInput.outlook`, where tuples come back through a cycle."""
    ready, watermark, until_ts = reader.outlook()
    return ready or any(back.reader.ready() for back in feedback), watermark, until_ts


@lru_cache(maxsize=1024)
def values_class(component: str, stream: str, fields: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """The named tuple class of a stream's values, with the name that pystorm gives it.

    A field whose name is no identifier is called ``_0``, ``_1`` and so on, by its index. Instances can be
    pickled, because a component may emit them within other values.
    """
    name = _identifier(component) + _identifier(stream) + "Tuple"
    made: type[tuple[Any, ...]] = namedtuple(name, fields, rename=True)  # type: ignore[misc]

    def reduce(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return _values, (component, stream, fields, tuple(values))

    made.__reduce__ = reduce  # type: ignore[assignment, method-assign]
    made._stream = f"{component}:{stream}"  # type: ignore[attr-defined]
    return made


def _values(component: str, stream: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Make values again from their pickled form."""
    return values_class(component, stream, fields)(*values)


def _identifier(text: str) -> str:
    return re.sub(r"\W|^(?=\d)", "_", text.title())
