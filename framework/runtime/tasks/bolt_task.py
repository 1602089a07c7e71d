"""The task of a bolt: ready tuples in, positioned tuples out."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from framework.runtime.coordination.stop import StopReason
from framework.runtime.exchange.inputs import BoltInput, Inlet
from framework.runtime.exchange.pieces import Piece, split_at
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.tasks.agenda import Agenda, AskedFor, Frontier
from framework.runtime.tasks.bolt_parts import BoltParts
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.processors import Processor
from framework.runtime.tasks.progress import Progress
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.task import TaskState
from framework.runtime.tasks.task_in_group import TaskInGroup
from viper.errors import CodecError
from viper.position import END, UNTOLD, Position, Positions

TURN_S: Final = 0.02
"""Seconds after which a turn ends at the next step, as when a million windows end at one time."""


class BoltTask(TaskInGroup):
    """Runs one replica of a bolt.

    A turn goes through everything in steps: what the wall clock has made due, a slice of the input with what
    is due in between, then what is due behind it. Whenever the output is full, the rest waits for a later
    turn.
    """

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        emitter: Emitter,
        received: BoltInput,
        parts: BoltParts,
    ) -> None:
        """
        Args:
            context: what is fixed about the task.
            slot: holds the bolt.
            emitter: sends off what it emits.
            received: its input.
            parts: what does the work.
        """
        super().__init__(context, slot, emitter)
        self.progress = Progress.OPEN
        self._received = received
        self._parts = parts
        if parts.cut is not None:
            parts.cut.call_there(self._at_cut)
            received.channel.reader.defer()
        self._agenda = Agenda()
        self._positions = Positions()
        """Of the input of this slice."""
        self._steps: Iterator[None] | None = None
        """What is left of a turn that found no room for its output."""
        self._waiting = 0
        """Untracked tuples that were emitted in earlier turns, and that there was no room for as yet."""
        self._cycle_is_over = not received.is_cyclic
        """Whether nothing comes back through a cycle any more."""

    # -- what an executor sees

    @property
    def largest_slice(self) -> int | None:
        """As in the base class."""
        return self._parts.largest_slice

    @property
    def processor(self) -> Processor:
        """What gives tuples to the component."""
        return self._parts.processor

    @property
    def is_cyclic(self) -> bool:
        """Whether tuples come back to the task through a cycle."""
        return self._received.is_cyclic

    @property
    def is_paused(self) -> bool:
        """Whether the task is in the middle of a turn, which goes on when there is room."""
        return self._steps is not None

    @property
    def waiting_for(self) -> str | None:
        """The task that holds this one back, its input or its transactions, if one does."""
        membership = self._parts.membership
        return membership.holder if membership and membership.waits_at else self._received.held_by

    @property
    def waits_with_input(self) -> bool:
        """Whether there is input that cannot be processed yet."""
        return self._received.waits

    @property
    def ends_at_us(self) -> int | None:
        """Event time in microseconds at which something is due there, whatever input comes; None if nothing
        is."""
        return self._agenda.ends_at_us if self._agenda.has_clients and not self.is_ending else None

    @property
    def wake_at_s(self) -> float:
        """Monotonic time in seconds at which a turn would be of use although nothing has come."""
        # A component that is to be made anew cannot be given what is due meanwhile.
        if self.slot.is_gone:
            return super().wake_at_s
        at_s = min(self.context.checkpoints.write_at_s, self._parts.awaited.due_at_s)
        return at_s if self._is_at_cut else min(self._agenda.due_at_s, at_s)

    @property
    def last_begun(self) -> int:
        """A number that is another one for each tuple; another thread sees by it that the task goes on."""
        return self._parts.processor.last_begun

    @property
    def awaits_answers(self) -> bool:
        """As in the base class."""
        return self._parts.awaited.is_waiting

    def _ends_without_component(self, now_s: float) -> bool:
        if self.is_cyclic or self.slot.state is not None:
            return False
        if self._steps is not None and self._parts.processor.may_need_component:
            return False
        ready, watermark, _ = self._received.outlook()
        return watermark == END and not ready

    def _wants_turn(self, now_s: float) -> bool:
        if self._is_handing_over:
            return self._can_take_over
        goes_on = None if self.awaits_answers else self._goes_on_in_group()
        if goes_on is not None:
            return goes_on
        return (
            self.is_signalled
            or self._steps is not None
            or self.state is TaskState.ENDING
            or (self._agenda.has_clients and self._agenda.due_at_s <= now_s and not self._is_at_cut)
            or self._parts.assigner.has_output  # of a thread of the component's own
            or self._parts.awaited.wants_turn(now_s)
            or (self._parts.cut is not None and self._is_wanted_by_checkpoint(self._parts.cut, now_s))
        )

    # -- lifecycle

    def resume(self, floor: Position, *, has_run: bool = True) -> None:
        """As in the base class."""
        super().resume(floor, has_run=has_run)
        if self.commits is None:
            self._parts.assigner.lineage.resume(floor)
            self._leave_published()
        if self._parts.acker is not None:
            self._parts.acker.resume()
        has_gone_on = has_run if self.commits is None else self.commits.has_begun
        if self._parts.commits is not None and has_gone_on:
            self._parts.commits.take_over()

    def _begin(self) -> None:
        self._parts.interludes.begin()
        if self._parts.commits is not None:
            self._parts.commits.begin()
        if self.commits is None:
            self.slot.commit()
        self._agenda = self._parts.make_agenda()
        restored = self.context.checkpoints.restored
        if restored is not None:
            self._agenda.restore(restored["agenda"])
            self._parts.interludes.restore(restored["tick"])
        if self.commits is not None:  # behind a checkpoint, as what a predecessor has committed is later
            self.commits.keep("lineage", self._parts.assigner.lineage)
            if self._parts.cut is not None:
                self.commits.keep("cut", self._parts.cut)
            self._keep_membership()
            if self._agenda.has_clients:
                self.commits.keep("ticks", self._parts.interludes)
                self.commits.keep("agenda", self._agenda)
            if self._parts.commits is not None:
                self._parts.commits.go_back_with(self.commits)

    def ticks_on_demand(self) -> AskedFor:
        """From now on give the component a tick whenever one is asked for, too, as tests do."""
        ticks = AskedFor(self._parts.interludes.tick)
        self._agenda = self._agenda.also(ticks)
        return ticks

    def end_cycle(self) -> None:
        """Nothing comes back through the cycle any more."""
        self._cycle_is_over = True
        self.signal()

    def go_round(self, time_us: int) -> None:
        """With all other input processed, place what comes back through a cycle at this time."""
        at = Position(time_us, 0, 0)
        self._parts.assigner.lineage.advance(at)
        self.emitter.publish(at)

    # -- work

    def run(self, limit: int) -> int:
        """Process about so many ready tuples at most, and tell the consumers how far that is."""
        if self.state is TaskState.ENDING:
            self._finish()
            return 0
        before = self.context.counters.processed
        if self.slot.restart_at_s is not None and time.monotonic() >= self.slot.restart_at_s:
            self._parts.interludes.restart()
        if self._steps is None:
            self.is_signalled = False
            if self._parts.cut is not None and self._parts.cut.is_there and not self._passes(self._parts.cut):
                self._stand()
                return 0
            self._steps = self._turn(limit)
        until_s = time.monotonic() + TURN_S
        for _ in self._steps:
            self.emitter.place()
            # One that waits for others tells how far it is all the same, or these might wait for it.
            if time.monotonic() > until_s and not self._waits_for_members:
                self.emitter.give_way()
                return self.context.counters.processed - before
            if not self.unblock() or self.slot.is_gone or self._waits_for_members:
                return self.context.counters.processed - before
        self._steps = None
        if self.emitter.commits is not None:  # not the property, here and below: it is asked at each turn
            self._commit(is_last=self.progress is Progress.OVER)
            if self._parts.commits is not None:
                self._parts.commits.committed()
        if self.context.checkpoints.pending is not None:
            self.context.checkpoints.go_on(is_committed=self.emitter.commits is None)
        self._called_back()
        if self.progress is Progress.OVER and self._may_end() and self._parts.awaited.may_end():
            self.state = TaskState.ENDING
            self.slot.give_up_restart()
            self._finish()
        return self.context.counters.processed - before

    def drain(self, reason: StopReason, now_s: float) -> None:
        """As in the base class."""
        super().drain(reason, now_s)
        if reason is not StopReason.SUSPENDED:
            self._parts.awaited.drain(now_s)

    def close(self) -> None:
        """As in the base class."""
        self._parts.awaited.close()
        super().close()

    def unblock(self) -> bool:
        """As in the base class; between two turns, all input that has left no output behind is done with."""
        done = super().unblock()
        if self._steps is None:
            self._done_with_input()
            if done and self.emitter.commits is not None:
                self._commit(is_last=self.progress is Progress.OVER)
        return done

    def _finish(self) -> bool:
        """As in the base class; a checkpoint may hold what the task has come to then."""
        self.slot.save(commit=self.commits is None)
        done = super()._finish()
        if self.is_finished:
            self.context.checkpoints.finish(self.save())
        return done

    def _done_with_input(self) -> None:
        """Note how much would be lost if the process died now: the outputs that wait for room."""
        if self._received.is_linked:  # then nobody outlives the process
            return
        self._waiting = self.emitter.output.waiting_untracked()
        lease = self._received.done_with(self._waiting)
        if lease is not None:
            self.slot.kept(lease)

    def _turn(self, limit: int) -> Iterator[None]:
        """All that there is to do now; yields whenever the rest had better wait until the output has gone."""
        if self._parts.assigner.has_output:
            self.emitter.place()
        if self._agenda.has_clients:
            yield from self._perform(self._agenda.take_timed(time.monotonic()))
        pieces = self._begin_slice(limit)
        if pieces:
            yield from self._process_between(pieces) if self._agenda.has_clients else self._process(pieces)
            self._end_slice()
        for back in self._received.feedback:
            yield from self._process_feedback(back, limit)
        self.emitter.flush()
        del pieces  # whose columns may be lent, and are asked back
        self._done_with_input()
        ready, watermark, until_us = self._received.outlook()
        self._parts.assigner.lineage.come_until(until_us)
        if ready:  # as a slice has its limits; whatever comes from now on is signalled
            self.is_signalled = True
        if self._parts.cut is not None and self._parts.cut.has_come_to(watermark):
            yield from self._come_to(self._parts.cut, self._reached(watermark))
        else:
            self._advance(watermark)
            if self._agenda.has_clients:
                yield from self._perform(self._agenda.take_until(self._reached(watermark)))
            if self._parts.membership is not None:
                self._parts.membership.come_to(watermark)
        if self.emitter.commits is None:
            self.slot.commit(is_last=self.progress is Progress.OVER)
        self._publish()

    def _begin_slice(self, limit: int) -> list[Piece]:
        """Take tuples of the channel."""
        positions, received = self._positions, self._received
        positions.clear()
        pieces = self._taken(received.channel, limit, positions)
        if pieces:
            if self.progress is Progress.OPEN and positions.last_ts() >= LAST.ts:
                self._tell_last_ts(received.last_ts())
            below = not received.feedback or positions[0] >= self.emitter.published
            self._parts.assigner.begin_slice(positions, below=below)
            self._parts.answering.begin(positions, may_be_tracked=received.channel.reader.carries_tracked)
            if self._waiting:  # else the reader has said it itself
                received.channel.reader.working(self._parts.answering.untracked(positions) + self._waiting)
        return pieces

    def _end_slice(self) -> None:
        self._parts.answering.end(len(self._positions))
        self._parts.assigner.end_slice()
        self._parts.interludes.input_passed(self._positions)

    def _process_feedback(self, back: Inlet, limit: int) -> Iterator[None]:
        # In order of arrival: what comes back takes its place at the frontier, as a timer's emit does.
        positions = Positions()
        pieces = self._taken(back, limit, positions)
        if pieces:
            self.emitter.signal_neighbours()  # among them those that wait for room to send more back
            self._parts.answering.begin(positions, may_be_tracked=True)
            yield from self._process(pieces)
            self._parts.answering.end(len(positions))

    def _taken(self, inlet: Inlet, limit: int, positions: Positions) -> list[Piece]:
        try:
            if self._parts.cut is not None and inlet is self._received.channel:
                return inlet.take_first(limit, positions, self._parts.cut.count_below)
            return inlet.take(limit, positions)
        except CodecError as error:
            self.context.fail("input", error)

    def _process_between(self, pieces: list[Piece]) -> Iterator[None]:
        """Process input, and do in between what is due there."""
        agenda, positions = self._agenda, self._positions
        first, count = 0, len(positions)
        while agenda.is_due_before(positions.last()):
            index = bisect_left(
                range(count), True, first, key=lambda nth: agenda.is_due_before(positions[nth])
            )
            if index > first:
                before, pieces = split_at(pieces, index - first)
                yield from self._process(before)
                # The rest is marked anew, and it may be that nothing comes in between that places this.
                self.emitter.place()
                agenda.input_passed(positions[index - 1])
                first = index
            yield from self._perform(agenda.take_before(positions[index]))
        yield from self._process(pieces)
        agenda.input_passed(positions.last())

    def _process(self, pieces: list[Piece]) -> Iterable[None]:
        level = self._received.level
        if level is None:
            return self._process_levels(pieces)
        self._parts.assigner.mark_at(level)
        return self._parts.processor.process(pieces)

    def _process_levels(self, pieces: list[Piece]) -> Iterator[None]:
        for number, (level, group) in enumerate(self._received.by_level(pieces)):
            if number:
                self.emitter.place()
            self._parts.assigner.mark_at(level)
            yield from self._parts.processor.process(group)

    # -- behind the input so far

    def _advance(self, watermark: Position) -> None:
        """Note that the input has been processed up to a position."""
        lineage = self._parts.assigner.lineage
        if watermark.ts < LAST.ts:
            if lineage.until_us != UNTOLD:
                self._tell_last_ts(lineage.until_us)
            lineage.advance(watermark)
            return
        at_end = Progress.OVER if self._cycle_is_over else Progress.DRAINED
        self.progress = at_end if watermark == END else Progress.QUIET
        self._tell_last_ts(self._received.last_ts())
        # What comes back may have been placed at a later round.
        lineage.advance(max(LAST if watermark == END else watermark, lineage.frontier))

    def _reached(self, watermark: Position) -> Frontier:
        lineage = self._parts.assigner.lineage
        frontier = max(watermark, lineage.frontier)
        last_us = lineage.until_us if frontier < LAST else max(self._last_us, self._received.last_ts())
        return Frontier(watermark, min(frontier.ts, last_us), self.progress is Progress.OVER)

    def _publish(self) -> None:
        """Tell the consumers how far that is."""
        lineage, counters = self._parts.assigner.lineage, self.context.counters
        counters.saturated, counters.unplanned = lineage.saturated, self._parts.assigner.unplanned
        self.emitter.publish(self._agenda.held(lineage.frontier))

    # -- from another thread

    def stand_in(self) -> None:
        """Do what the task's own thread would, if that is away in a callback."""
        self.slot.presence.stand_in(self._go_on)

    def _go_on(self) -> None:
        self.emitter.place()
        self.emitter.flush()
        self.emitter.publish(self._agenda.held(self._parts.assigner.current))
