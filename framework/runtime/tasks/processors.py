"""The way of a bolt's input to its component, by tuples or, of a sink, in rows; and the answers for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from framework.operators.sinks import Sink
from framework.runtime.exchange.pieces import Piece, rows_of
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.sink_commits import SinkCommits
from framework.runtime.tasks.slot import ComponentSlot
from viper.position import Positions
from viper.rows import Inbox

DONE: tuple[None, ...] = ()
"""Nothing has to wait, as in most turns: a generator would take twice as long to say so."""
WAITING: tuple[None, ...] = (None,)
"""Something has to wait once."""


class Processor(Protocol):
    """Gives the tuples of a slice to the component of a task."""

    @property
    def left_open(self) -> int:
        """Tuples that raised and were neither acked nor failed, as the component's `auto_fail` is off."""

    @property
    def last_begun(self) -> int:
        """A number that changes with each tuple; another thread sees by it that the task makes progress."""

    @property
    def may_need_component(self) -> bool:
        """True if the rest of the slice may be for a component that is to be made again."""

    def begin(self, positions: Positions) -> None:
        """Prepare for tuples at these positions, in one or several calls of `process`."""

    def process(self, pieces: list[Piece]) -> Iterable[None]:
        """Process tuples; the result yields whenever the rest has to wait: for room, or for a component that
        is made again.

        Raises:
            ComponentError: the component raised, and the run ends with it.
        """


class TupleProcessor:
    """Calls `process` for one tuple after the other."""

    def __init__(
        self, slot: ComponentSlot, inbox: Inbox, acker: Acker | None, counters: TaskCounters
    ) -> None:
        """
        Args:
            slot: holds the component.
            inbox: makes tuples of rows, and stops where the output is full.
            acker: hears which tuple is in process; None where nothing is tracked.
            counters: the task's.
        """
        self.left_open = 0
        self._slot = slot
        self._inbox = inbox
        self._acker = acker
        self._counters = counters
        self._positions = Positions()
        self._first = 0
        """Index in there of the tuple that was loaded first."""
        self._loaded = 0
        """The number of rows that were loaded."""
        if slot.state is not None:
            slot.state.tell_time_by(self._now)

    @property
    def last_begun(self) -> int:
        """A number that changes with each tuple; another thread sees by it that the task makes progress."""
        return self._inbox.last_id

    @property
    def may_need_component(self) -> bool:
        """True if any tuples of the slice are left."""
        return self._inbox.handed < self._loaded

    def begin(self, positions: Positions) -> None:
        """Keep the positions: the component does not hear them, but its state may ask for times of tuples."""
        self._positions = positions
        self._first = 0

    def _now(self) -> int:
        """The time of the tuple in process."""
        return self._positions.ts(self._first + self._inbox.handed - 1)

    def process(self, pieces: list[Piece]) -> Iterable[None]:
        """Process tuples."""
        self._inbox.load(pieces)
        self._loaded = sum(piece[2] for piece in pieces)
        return DONE if self._is_done() else self._rest()

    def _rest(self) -> Iterator[None]:
        yield
        while not self._is_done():
            yield

    def _is_done(self) -> bool:
        """Process tuples until they end, or have to wait; whether they have ended."""
        inbox, acker, tup = self._inbox, self._acker, None
        while True:
            process = self._callback()
            try:
                if not self._slot.host.answers_itself:
                    for tup in inbox:
                        process(tup)
                elif acker is None or acker.automatic or not acker.tracking:
                    receive = self._slot.unanswered.receive
                    for tup in inbox:
                        receive(tup)
                        process(tup)
                else:
                    receive = self._slot.unanswered.receive
                    for tup in inbox:
                        if not acker.receive(tup):
                            receive(tup)
                        process(tup)
                break
            except user_errors() as error:
                self._raised(error, tup)
                if self._slot.is_gone:
                    return False
        if inbox.paused:
            return False
        self._first += inbox.handed
        if acker is not None:
            acker.passed(inbox.handed)
        return True

    def _callback(self) -> Callable[[Any], object]:
        """The function that takes a tuple; another one after the component was made again."""
        return self._slot.process

    def _raised(self, error: BaseException, tup: Any) -> None:
        self._slot.take_back()
        host = self._slot.host
        is_tracked = self._acker is not None and self._acker.raised(host.fails_itself)
        self._slot.raised("process", error, tup)
        if tup is not None:
            self._slot.unanswered.answer(tup)
        if not (host.fails_itself or is_tracked):  # the component may answer it, and nobody waits for that
            self._slot.unanswered.expect_unknown()
        self._counters.failed += host.fails_itself
        self.left_open += not host.fails_itself
        self._counters.lost += not is_tracked


class LandingProcessor(TupleProcessor):
    """Does in the task what the component has done for each tuple ahead of its turn.

    Args:
        land: does it for the next tuple.
        slot: as in the base class, like the others.
        inbox: see there.
        acker: see there.
        counters: see there.
    """

    def __init__(
        self,
        land: Callable[[Any], object],
        slot: ComponentSlot,
        inbox: Inbox,
        acker: Acker | None,
        counters: TaskCounters,
    ) -> None:
        super().__init__(slot, inbox, acker, counters)
        self._land = land

    def _callback(self) -> Callable[[Any], object]:
        return self._land


class SinkProcessor:
    """Calls `consume` of a sink with all rows of a slice at once.

    Args:
        slot: holds the sink.
        acker: answers for the rows; None where nothing is tracked.
        counters: the task's.
        commits: says when a transactional sink applies its rows; None for other components.
    """

    def __init__(
        self,
        slot: ComponentSlot,
        acker: Acker | None,
        counters: TaskCounters,
        commits: SinkCommits | None = None,
    ) -> None:
        self._slot = slot
        self._commits = commits
        self._acker = acker
        self._counters = counters

    left_open = 0
    last_begun = 0
    """A sink is called for many tuples at once."""
    may_need_component = True

    def begin(self, positions: Positions) -> None:
        """Ignore the positions, as the component does not hear them."""

    def process(self, pieces: list[Piece]) -> Iterable[None]:
        """Process tuples."""
        rows, sink = rows_of(pieces), self._slot.host.component
        assert isinstance(sink, Sink)
        if self._commits is not None:
            self._commits.consuming()
        self._slot.begin_call()
        try:
            sink.consume(rows)
        except user_errors() as error:
            self._slot.take_back()
            self._raised(error, len(rows))
        if self._commits is not None:
            self._commits.consumed()
        if self._acker is not None:
            self._acker.passed(len(rows))
        return WAITING if self._slot.is_gone else DONE

    def _raised(self, error: BaseException, count: int) -> None:
        lost = count if self._acker is None else self._acker.raised_for_all(count)
        self._slot.raised("consume", error)
        self._counters.failed += count
        self._counters.lost += lost


class Answering:
    """Acks the tuples of a slice, unless the component does so itself, and counts them.

    Args:
        slot: holds the component.
        emitter: places what it emits.
        assigner: has outputs inherit the trees of tracked tuples.
        processor: gives the tuples to the component.
        acker: answers for tracked tuples; None where none are tracked.
        counters: the task's.
    """

    def __init__(
        self,
        slot: ComponentSlot,
        emitter: Emitter,
        assigner: BoltAssigner,
        processor: Processor,
        acker: Acker | None,
        counters: TaskCounters,
    ) -> None:
        self._slot = slot
        self._emitter = emitter
        self._assigner = assigner
        self._processor = processor
        self._acker = acker
        self._counters = counters
        self._is_tracked = False
        """True if any of the tuples in process is tracked."""
        self._is_automatic = True
        """True if they are acked when the component has processed them."""

    def begin(self, positions: Positions, *, may_be_tracked: bool) -> None:
        """Prepare for tuples at these positions.

        Args:
            positions: theirs.
            may_be_tracked: whether any of them may be tracked.
        """
        host, acker = self._slot.host, self._acker
        self._is_automatic = not host.answers_itself
        if acker is not None:
            self._is_tracked = acker.begin(
                positions,
                automatic=self._is_automatic,
                anchors_itself=host.anchors_itself,
                may_be_tracked=may_be_tracked,
            )
            if self._is_tracked:
                self._assigner.begin_tracked(positions)
        self._processor.begin(positions)

    def end(self, count: int) -> None:
        """Place the outputs of so many processed tuples, and answer for them."""
        self._emitter.place()
        if self._is_tracked and self._acker is not None:
            self._assigner.end_tracked()
            self._acker.end()
        counters = self._counters
        counters.processed += count
        if self._is_automatic:  # all of them are acked, but for what has raised or was failed
            counters.acked = max(counters.processed - counters.failed - self._processor.left_open, 0)

    def untracked(self, positions: Positions) -> int:
        """The number of tuples in process, at these positions, that nobody tracks."""
        return positions.untracked() if self._is_tracked else len(positions)
