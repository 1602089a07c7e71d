"""The task of a bolt: ready tuples in, positioned tuples out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from framework.planning import Task
from framework.recording.ticks import ReplayTicks
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.edges.destination import Row
from framework.runtime.edges.limits import PAUSE_AT
from framework.runtime.edges.output import Output
from framework.runtime.hosts.faults import Recovery
from framework.runtime.hosts.host import Host, Identity
from framework.runtime.hosts.user_errors import user_errors
from framework.runtime.inputs.bolt_input import BoltInput, Inlet
from framework.runtime.inputs.pieces import Piece, by_level, rows_of
from framework.runtime.positions.lineage import LAST
from framework.runtime.tasks.ticked_task import TickedTask
from framework.runtime.tracking.acker import Given
from framework.runtime.tracking.acker_factory import make_answers
from framework.runtime.tracking.reasons import Cause
from framework.sinks import Sink
from viper.errors import CodecError
from viper.forest import Forest
from viper.position import END, Level, Position, Positions
from viper.reader import Reader
from viper.rows import Inbox


class BoltTask(TickedTask):
    """Runs one replica of a bolt."""

    def __init__(
        self,
        task: Task,
        host: Host,
        collector: TaskCollector,
        output: Output,
        identity: Identity,
        recovery: Recovery,
        *,
        received: BoltInput,
        level: Level,
        event_tick_s: float | None,
        replayed_ticks: ReplayTicks | None = None,
        forest: Forest | None = None,
    ) -> None:
        """
        Args:
            task: as in the base class, like all before the star.
            host: the component.
            collector: takes what it emits.
            output: routes that.
            identity: what the component is told about itself.
            recovery: what happens when it raises.
            received: its input.
            level: where its outputs are marked, but for inputs that are copied to several replicas.
            event_tick_s: seconds of event time between two ticks; None for no such ticks.
            replayed_ticks: instead of those that follow the wall clock, in a run that repeats another.
            forest: the trees of tracked tuples; None where none are tracked.
        """
        super().__init__(
            task,
            host,
            collector,
            output,
            identity,
            recovery,
            level=level,
            event_tick_s=event_tick_s,
            replayed_ticks=replayed_ticks,
        )
        self.goes_round = bool(received.feedback)
        """Whether tuples come back to it through a cycle."""
        self.drained = False
        """Whether all input has been processed, but for what may come back through a cycle."""
        self.quiet = False
        """As `drained`, but that sources may repeat tuples that fail."""
        self.nothing_comes_back = False
        """Set by the worker when nothing is in flight that could come back through a cycle."""
        self._received = received
        self._inbox = Inbox(host.record, collector.outbox if output.is_used else None, PAUSE_AT)
        self._answers = make_answers(forest, task.id, self._inbox, collector, identity)
        self._given: Given | None = None
        """Acks that take effect when what was emitted before them has been counted."""
        self._unplaced: Positions | None = None
        """Input with tracked tuples whose outputs do not stand below it, and so do not inherit its trees."""
        self._first_unplaced = 0
        """Index in there of the first tuple whose outputs have not all been placed."""
        self._waiting = 0
        """Untracked tuples that were emitted in earlier slices, and that there was no room for as yet."""
        self._left_open = 0
        """Tuples that raised and were neither acked nor failed, as the component's `auto_fail` is off."""
        self._slice: Iterator[None] | None = None
        """What is left of a slice that found no room for its output."""

    def _begin(self) -> None:
        with self._beside_inputs(None):
            super()._begin()
        self._process_tuple = self.host.process

    def resume(self, floor: Position) -> None:
        """As in the base class."""
        super().resume(floor)
        if self._answers is not None:
            self._answers.resume()

    # -- state

    def has_input(self) -> bool:
        """Whether a tuple could be processed now."""
        return self._received.is_ready()

    @property
    def last_begun(self) -> int:
        """A number that is another one for each tuple; another thread sees by it that the task goes on."""
        return self._inbox.last_id

    @property
    def has_ended(self) -> bool:
        """Whether there will be no more input."""
        return self.drained and (self.nothing_comes_back or not self.goes_round)

    @property
    def is_paused(self) -> bool:
        """Whether it is in the middle of a slice, which goes on when there is room."""
        return self._slice is not None

    @property
    def waiting_for(self) -> str | None:
        """The task that holds this one's input back, if one does."""
        return self._received.held_by

    @property
    def waits_with_input(self) -> bool:
        """Whether there is input that cannot be processed yet."""
        return self._received.waits

    def _wants_turn(self, now_s: float) -> bool:
        return self.signalled or self._slice is not None or self._has_answered_or_emitted()

    def _has_answered_or_emitted(self) -> bool:
        """Whether a thread of the component's own has done so."""
        return len(self.collector.outbox) > 0 or (self._answers is not None and self._answers.waiting)

    # -- work

    def run(self, limit: int) -> int:
        """Process about so many ready tuples at most, and tell the consumers how far that is.

        Where the output has no room for what comes of them, the rest is processed in a later turn.
        """
        self.signalled = False
        before = self.collector.counters.processed
        if self.restart_at_s is not None:
            self._restart()
        if self._slice is None:
            self._slice = self._process_slice(limit)
        for _ in self._slice:
            self._place_outputs()
            if not self.unblock() or self.restart_at_s is not None:
                return self.collector.counters.processed - before
        self._slice = None
        self.unblock()
        self._advance()
        self.signalled = self.signalled or self.has_input()
        return self.collector.counters.processed - before

    def unblock(self) -> bool:
        """As in the base class; a slice is done with when all that came of it has been handed over."""
        done = super().unblock()
        if self.blocked and not self.ending:  # who gets nothing of what waits must not wait for it
            self._publish_last()
        if self._slice is None:
            self._waiting = self.output.waiting_untracked()
            self._received.done_with(self._waiting)
        return done

    def _process_slice(self, limit: int) -> Iterator[None]:
        """Process a slice of the input; yields whenever the outbox is full."""
        if self._has_answered_or_emitted():
            self._place_outputs()
        positions = self._positions
        positions.clear()
        channel = self._received.channel
        pieces = self._taken(channel, limit, positions)
        if pieces:
            self._lineage.begin(positions)
            self._below_inputs = not self.goes_round or positions[0] >= self._published
            yield from self._answered(channel.reader, positions, pieces, self._process_ready)
            self._below_inputs = False
            self._last_input = positions.last()
        for back in self._received.feedback:
            yield from self._process_feedback(back, limit)

    def _answered(
        self,
        reader: Reader,
        positions: Positions,
        pieces: list[Piece],
        process: Callable[[list[Piece]], Iterator[None]],
    ) -> Iterator[None]:
        """Process tuples, and answer for them when what they led to has been placed."""
        count, answers = len(positions), self._answers
        tracked = False
        if answers is not None:
            answers.automatic = not self.host.answers_itself
            answers.anchors_itself = self.host.anchors_itself
            tracked = answers.begin(positions)
        untracked = positions.trees(0, count).count(0) if tracked else count
        reader.working(untracked + (self._waiting if reader is self._received.channel.reader else 0))
        self._unplaced = positions if tracked and not self._below_inputs else None
        self._first_unplaced = 0
        yield from process(pieces)
        self._place_outputs()
        self._unplaced = None
        if answers is not None:
            answers.end(tracked)
        counters = self.collector.counters
        counters.processed += count
        if not self.host.answers_itself:  # all that was processed is acked, but for what has raised or failed
            counters.acked = max(counters.processed - counters.failed - self._left_open, 0)

    def _taken(self, inlet: Inlet, limit: int, positions: Positions) -> list[Piece]:
        try:
            return inlet.take(limit, positions)
        except CodecError as error:
            self._failed("input", error)

    def _process_feedback(self, back: Inlet, limit: int) -> Iterator[None]:
        # In order of arrival: what comes back takes its place at the frontier, as a timer's emit does.
        positions = Positions()
        pieces = self._taken(back, limit, positions)
        if not pieces:
            return
        self.signal_neighbours()  # among them who waits for room to send more back
        yield from self._answered(back.reader, positions, pieces, self._process)

    def _process(self, pieces: list[Piece]) -> Iterator[None]:
        if isinstance(self.host.component, Sink):
            self._consume(self.host.component, rows_of(pieces))
            if self.restart_at_s is not None:
                yield
        elif self._received.levels == 1:
            self._placing = pieces[0][3].level if pieces else self._level
            yield from self._process_tuples(pieces)
        else:
            for level, group in by_level(pieces):
                self._place_outputs()
                self._placing = level
                yield from self._process_tuples(group)

    def _process_tuples(self, pieces: list[Piece]) -> Iterator[None]:
        inbox, tup = self._inbox, None
        inbox.load(pieces)
        while True:
            process = self._process_tuple
            try:
                if self._answers is None or self._answers.automatic or not self._answers.tracking:
                    for tup in inbox:
                        process(tup)
                else:
                    for tup in inbox:
                        self._answers.receive(tup)
                        process(tup)
            except user_errors() as error:
                self._raised_in_process(error, tup)
                if self.restart_at_s is not None:
                    yield
                continue
            if not inbox.paused:
                break
            yield
        if self._answers is not None:
            self._answers.passed(inbox.handed)

    def _consume(self, sink: Sink, rows: list[Row]) -> None:
        try:
            sink.consume(rows)
        except user_errors() as error:
            lost = len(rows)
            if self._answers is not None:
                lost = self._answers.raised_for_all(lost)
            self._raised("consume", error)
            self.collector.counters.failed += len(rows)
            self.collector.counters.lost += lost
        if self._answers is not None:
            self._answers.passed(len(rows))

    # -- faults

    def _raised_in_process(self, error: BaseException, tup: Any) -> None:
        is_tracked = self._answers is not None and self._answers.raised(self.host.fails_itself)
        self._raised("process", error, tup)
        self.collector.counters.failed += self.host.fails_itself
        self._left_open += not self.host.fails_itself
        self.collector.counters.lost += not is_tracked

    @property
    def _untracked_fails(self) -> int:
        return self.collector.counters.failed if self._answers is None else self._answers.untracked_fails

    def _restart(self) -> None:
        held = 0
        if self._answers is not None:
            held = self._answers.fail_all(Cause.RESTARTED)
        self.collector.counters.lost += max(self.host.gathered - held, 0)
        super()._restart()

    def end(self) -> None:
        """All input has been processed: the last tick and the last batches."""
        if self.restart_at_s is not None:
            self._restart()
        super().end()
        if self.restart_at_s is not None:  # it has raised there; nothing comes that it would be needed for
            self.restart_at_s = None
            self.host.abandon()

    # -- positions

    def _take_placed(self) -> tuple[list[Row], bytes | None, bool]:
        """What the outbox holds, with its positions in `_out`."""
        unfinished = self._inbox.open
        marks = memoryview(self._inbox.cut()).cast("I")
        taken = self.collector.take()
        rows = taken.rows
        self._given = taken.given
        self._out.clear()
        if self._below_inputs:
            self._lineage.place(marks, unfinished, self._placing, self._out)
        beside = len(rows) - len(self._out)  # all of them, or what a thread emitted just now
        if beside:
            level = self._placing if self._below_inputs else self._level
            self._lineage.place_beside(beside, level, self._out, self._beside_at)
            self.collector.counters.unplanned += beside if self._beside_at is None else 0
        if self._unplaced is not None:
            self._inherit(self._unplaced, marks, unfinished)
        for index, tree in taken.notes:
            self._out.set_tree(index, tree)
        return rows, taken.tags, taken.mutable

    def _inherit(self, inputs: Positions, marks: Sequence[int], unfinished: bool) -> None:
        """Outputs belong to the trees of the inputs that they were emitted for, wherever they stand."""
        first = 0
        for tree, end in zip(inputs.trees(self._first_unplaced, len(marks)), marks, strict=True):
            for index in range(first, end) if tree else ():
                self._out.set_tree(index, tree)
            first = end
        self._first_unplaced += len(marks) - (unfinished and len(marks) > 0)

    def _placed(self) -> None:
        given, self._given = self._given, None
        if self._answers is not None and given is not None:
            self._answers.give(given)

    def _advance(self) -> None:
        frontier = self._received.watermark()
        self.last_us = max(self.last_us, self._event_time())
        self.drained = frontier == END
        self.quiet = frontier >= LAST
        if self.drained:
            frontier = LAST
        if self.quiet:  # what comes back through a cycle may still be placed at a later round
            frontier = max(frontier, self._lineage.frontier)
        self._lineage.advance(frontier)
        if self._replayed_ticks is not None:
            self._replay(self._replayed_ticks.due(frontier))
        time_us = frontier.ts if frontier < LAST else self.last_us
        self._tick_until(time_us, has_producers=self._received.levels > 0)
        if frontier >= LAST:
            self.output.tell_last_ts(self.last_us)
            self._let_go_of_held()
        self.collector.counters.saturated = self._lineage.saturated
        self.publish(frontier)

    def _let_go_of_held(self) -> None:
        """Sources with nothing more to bring wait for the answers to what they have brought: those that
        come with the last tick and the last batches must not wait for the sources' end in turn."""
        if self._answers is not None and self._answers.news and not self.drained:
            self._answers.news = False
            super().end()
            self.unblock()

    def _event_time(self) -> int:
        return self._received.last_ts()

    def go_round(self, time_us: int) -> None:
        """With all other input processed, place what comes back through a cycle at this time."""
        self._lineage.advance(Position(time_us, 0, 0))
        self.publish(Position(time_us, 0, 0))
