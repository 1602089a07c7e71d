"""The task of a bolt: ready tuples in, positioned tuples out; and its part in cuts, if it has one."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from framework.runtime.coordination.cut_record import Proposal, Purpose
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints.targets import SINK
from framework.runtime.exchange.inputs import BoltInput, Channel, Inlet
from framework.runtime.exchange.pieces import Piece, split_at
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.agenda import Agenda, AskedFor, Entry, Frontier
from framework.runtime.tasks.awaited import Awaited
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from framework.runtime.tasks.bolt_cut import BoltCut, HandOver
from framework.runtime.tasks.checkpoints import Remembers
from framework.runtime.tasks.claimants import Claimants
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.interludes import Interludes
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.processors import Answering, Processor
from framework.runtime.tasks.sink_commits import CheckpointCommits, SinkCommits
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.task import Progress, Task, TaskState
from viper.errors import CodecError
from viper.position import END, UNTOLD, Position, Positions

if TYPE_CHECKING:
    from framework.runtime.tasks.in_flight import InFlight

TURN_S: Final = 0.02
"""Seconds after which a turn ends at the next step, as when a million windows end at one time."""


@dataclass(frozen=True, slots=True)
class BoltParts:
    """The parts that do the work of a bolt's task."""

    assigner: BoltAssigner
    """Gives outputs their positions."""
    processor: Processor
    """Gives tuples to the component."""
    interludes: Interludes
    """Call the component for what is no input."""
    answering: Answering
    """Answers for the tuples of a slice."""
    acker: Acker | None
    """Knows which tracked tuples are unanswered; None where none are tracked."""
    awaited: Awaited
    """Has the task wait for what a component has not answered that answers itself."""
    largest_slice: int | None
    """As `Task.largest_slice`."""
    commits: SinkCommits | None
    """Says when a transactional sink applies its rows; None for other components."""
    cut: BoltCut | None
    """The next cut, at which the task is saved, or hands key groups over; None where it never does."""
    hand_over: HandOver | None
    """Hands key groups over, and takes others; None where its component keeps its tasks."""
    in_flight: InFlight | None
    """The tuples that the component processes ahead of their turn; None where it processes none so."""
    group: Membership | None
    """Its part in a group of shared tables; None for a component that names none."""
    claimants: Claimants | None
    """The tasks that claim key groups with it; None for a component that has its keys dealt out."""
    make_agenda: Callable[[], Agenda]
    """Makes the list of what is due; called when the component has been initialized, which may have a say."""


class BoltTask(Task):
    """Runs one replica of a bolt.

    A turn has three steps. First comes the work that the wall clock has made due. Then comes a slice of the
    input with the work due between inputs, and last the work that is due after it. Whenever the output is
    full, the rest waits for a later turn. A task whose bolt has no part in cuts, or in a group of shared
    tables, asks nothing about them.
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
        self.parts = parts
        """They do the work."""
        self.at_cut = None if parts.cut is None else CutParticipant(self, parts.cut, parts.hand_over)
        """Its part in checkpoints and reconfigurations; None if it has none."""
        if self.at_cut is not None:
            received.channel.reader.defer()
        self.agenda = Agenda()
        """All that is due."""
        self._positions = Positions()
        """Of the input of this slice."""
        self._steps: Iterator[None] | None = None
        """The rest of a turn that found no room for its output."""
        self._waiting = 0
        """Untracked tuples that were emitted in earlier turns, and that there was no room for as yet."""

    # -- what an executor sees

    @property
    def largest_slice(self) -> int | None:
        """As in the base class."""
        return self.parts.largest_slice

    @property
    def processor(self) -> Processor:
        """The processor that gives tuples to the component."""
        return self.parts.processor

    @property
    def is_cyclic(self) -> bool:
        """True if tuples come back to the task through a cycle."""
        return self._received.is_cyclic

    @property
    def is_paused(self) -> bool:
        """True if the task is in the middle of a turn, which continues when there is room."""
        return self._steps is not None

    @property
    def waiting_for(self) -> str | None:
        """The task that holds this one back, its input or its transactions, if one does."""
        group = self.parts.group
        return group.holder if group and group.waits_at else self._received.held_by

    @property
    def waits_with_input(self) -> bool:
        """True if there is input that cannot be processed yet."""
        return self._received.waits

    @property
    def ends_at_us(self) -> int | None:
        """Event time in microseconds at which something is due there, whatever input comes; None if nothing
        is."""
        return self.agenda.ends_at_us if self.agenda.has_clients and not self.is_ending else None

    @property
    def wake_at_s(self) -> float:
        """Monotonic time in seconds at which a turn would be of use although nothing has come."""
        # A component that is to be made anew cannot be given what is due meanwhile.
        if self.slot.restart_at_s is not None:
            return self.slot.restart_at_s
        at_s = self.context.checkpoints.write_at_s
        if self.parts.awaited.since_s is not None:
            at_s = min(at_s, self.parts.awaited.due_at_s)
        asks = self.agenda.has_clients and not self._waits_at_cut
        return min(self.agenda.due_at_s, at_s) if asks else at_s

    @property
    def last_begun(self) -> int:
        """A number that changes with each tuple; another thread sees by it that the task makes progress."""
        return self.parts.processor.last_begun

    @property
    def awaits_answers(self) -> bool:
        """As in the base class."""
        return self.parts.awaited.since_s is not None

    @property
    def in_flight(self) -> int:
        """As in the base class."""
        return 0 if self.parts.in_flight is None else self.parts.in_flight.count

    @property
    def _has_parts_that_wait(self) -> bool:
        """True if it may wait at a cut, or for other tasks."""
        parts = self.parts
        return not (self.at_cut is None and parts.group is None and parts.claimants is None)

    def is_runnable(self, now_s: float) -> bool:
        """As in the base class; one without parts in cuts and groups that was signalled asks nothing more."""
        if self._has_parts_that_wait or not self.is_signalled:
            return super().is_runnable(now_s)
        if self.state is TaskState.FINISHED or self.emitter.blocked:
            return False
        return self.slot.restart_at_s is None or super().is_runnable(now_s)

    @property
    def is_at_rest(self) -> bool:
        """True if nothing but a signal, a time or another thread can make it runnable."""
        return not (
            self.is_signalled
            or self._has_parts_that_wait
            or self._steps is not None
            or self.emitter.blocked
            or self.state is not TaskState.RUNNING
            or self.parts.awaited.since_s is not None
        )

    def _ends_without_component(self, now_s: float) -> bool:
        if self.is_cyclic or self.slot.state is not None:
            return False
        if self._steps is not None and self.parts.processor.may_need_component:
            return False
        ready, watermark, _ = self._received.outlook()
        return watermark == END and not ready

    def _wants_turn(self, now_s: float) -> bool:
        at_cut = self.at_cut
        if at_cut is not None and at_cut.is_handing_over:
            return at_cut.can_take_over
        if self.parts.group is not None and not self.awaits_answers:
            goes_on = self._goes_on_in_group(self.parts.group)
            if goes_on is not None:
                return goes_on
        if self.parts.claimants is not None and self._goes_on_with(self.parts.claimants):
            return True
        return (
            self.is_signalled
            or self._steps is not None
            or self.state is TaskState.ENDING
            or (self.agenda.has_clients and self.agenda.due_at_s <= now_s and not self._waits_at_cut)
            or self.parts.assigner.has_output  # of a thread of the component's own
            or (self.awaits_answers and self.parts.awaited.wants_turn(now_s))
            or (at_cut is not None and at_cut.wants_turn(now_s))
        )

    def _goes_on_with(self, claimants: Claimants) -> bool:
        """True if a task that waits for those that claim keys with it can continue."""
        if self.at_cut is not None and self.at_cut.cut.is_there:
            return self.at_cut.claimants_have_come(claimants)
        return self.progress is Progress.OVER and self._may_end()

    @property
    def _waits_at_cut(self) -> bool:
        return self.at_cut is not None and self.at_cut.cut.is_there

    def _goes_on_in_group(self, group: Membership) -> bool | None:
        """True if a task that waits for others of its group can continue; None if it waits for none."""
        if group.waits_at is not None:
            return group.may_go_on
        if not group.is_keeper or self.is_ending:
            return None
        if self.at_cut is not None and self.at_cut.cut.is_there:
            return group.is_evaluated(self.at_cut.cut.stands_at) or None
        return (self.progress is Progress.OVER and group.is_evaluated(END)) or None

    # -- lifecycle

    def resume(self, floor: Position, *, has_run: bool = True) -> None:
        """As in the base class."""
        super().resume(floor, has_run=has_run)
        if self.commits is None:
            self.parts.assigner.lineage.resume(floor)
            if self.parts.group is not None:  # nobody calls back what a dead process has gathered
                self.parts.group.recorder.leave_published()
        if self.parts.acker is not None:
            self.parts.acker.resume()
        has_gone_on = has_run if self.commits is None else self.commits.has_begun
        if self.parts.commits is not None and has_gone_on:
            self.parts.commits.take_over()

    def _begin(self) -> None:
        self.parts.interludes.begin()
        if self.parts.commits is not None:
            self.parts.commits.begin()
        if self.commits is None:
            self.slot.commit()
        self.agenda = self.parts.make_agenda()
        restored = self.context.checkpoints.restored
        if restored is not None:
            self.agenda.restore(restored["agenda"])
            self.parts.interludes.restore(restored["tick"])
        if self.commits is not None:  # behind a checkpoint, as what a predecessor has committed is later
            self.commits.keep("lineage", self.parts.assigner.lineage)
            if self.parts.claimants is not None:
                self.commits.call_behind(partial(self._give_up, self.parts.claimants))
            if self.at_cut is not None:
                self.commits.keep("cut", self.at_cut.cut)
            if self.parts.group is not None:  # a successor repeats what was not called back then
                self.parts.group.repeat()
                self.commits.keep("transactions", self.parts.group)
                self.commits.call_behind(self.parts.group.release)
            if self.agenda.has_clients:
                self.commits.keep("ticks", self.parts.interludes)
                self.commits.keep("agenda", self.agenda)
            if self.parts.commits is not None:
                self.parts.commits.go_back_with(self.commits)

    def _come_here(self) -> None:
        super()._come_here()
        if self.parts.acker is not None:
            self.parts.acker.come_here()

    def ticks_on_demand(self) -> AskedFor:
        """From now on give the component a tick whenever one is asked for, too, as tests do."""
        ticks = AskedFor(self.parts.interludes.tick)
        self.agenda = self.agenda.also(ticks)
        return ticks

    def end_cycle(self) -> None:
        """Note that nothing comes back through the cycle any more."""
        self._received.end_cycle()
        self.signal()

    def go_round(self, time_us: int) -> None:
        """Place tuples that come back through a cycle at this time, with all other input processed."""
        at = Position(time_us, 0, 0)
        self.parts.assigner.lineage.advance(at)
        self.emitter.publish(at)

    # -- work

    def run(self, limit: int) -> int:
        """Process about so many ready tuples at most, and promise the progress to the consumers."""
        if self.state is TaskState.ENDING:
            self._finish()
            return 0
        before = self.context.counters.processed
        if self.slot.restart_at_s is not None and time.monotonic() >= self.slot.restart_at_s:
            self.parts.interludes.restart()
        if self._steps is None:
            self.is_signalled = False
            if self.at_cut is not None and self.at_cut.cut.is_there and not self.at_cut.passes():
                self.at_cut.wait()
                return 0
            self._steps = self._turn(limit)
        until_s, group = time.monotonic() + TURN_S, self.parts.group
        for _ in self._steps:
            self.emitter.place()
            # One that waits for others tells how far it is all the same, or these might wait for it.
            waits_for_members = group is not None and group.waits_at is not None
            if time.monotonic() > until_s and not waits_for_members:
                self.emitter.give_way()
                return self.context.counters.processed - before
            if not self.unblock() or self.slot.is_gone or waits_for_members:
                return self.context.counters.processed - before
        self._steps = None
        if self.emitter.commits is not None:  # not the property, here and below: it is asked at each turn
            self.commit(is_last=self.progress is Progress.OVER)
            if self.parts.commits is not None:
                self.parts.commits.committed()
        if self.context.checkpoints.pending is not None:
            self.context.checkpoints.go_on(is_committed=self.emitter.commits is None)
        if group is not None and self.commits is None:  # no successor may repeat what was called back
            group.release()
        if self.progress is Progress.OVER and self._may_end() and self.parts.awaited.may_end():
            self.state = TaskState.ENDING
            self.slot.give_up_restart()
            self._finish()
        return self.context.counters.processed - before

    def commit(self, *, is_last: bool = False) -> bool:
        """As in the base class; a commit takes in all that was taken of the channel, so nothing is in flight
        then."""
        return not self.in_flight and super().commit(is_last=is_last)

    def _may_end(self) -> bool:
        """True if a task whose input is over may end: one that saves what others change ends after them.

        Others count on its commit then. With exact recovery, none is made as long as output waits for room.
        """
        group, claimants = self.parts.group, self.parts.claimants
        if claimants is not None:
            is_committed = self.emitter.commits is None or self.emitter.is_clear
            if not is_committed or not claimants.end():
                return False
        return group is None or not group.is_keeper or group.is_evaluated(END)

    def drain(self, reason: StopReason, now_s: float) -> None:
        """As in the base class."""
        super().drain(reason, now_s)
        if reason is not StopReason.SUSPENDED:
            self.parts.awaited.drain(now_s)

    def close(self) -> None:
        """As in the base class."""
        self.parts.awaited.close()
        if self.parts.in_flight is not None:
            self.context.counters.lost += self.parts.in_flight.close()
        super().close()

    def unblock(self) -> bool:
        """As in the base class; between two turns, all input that has left no output behind is done with.

        Consumers of a task that waits for others of its group hear how far it is. Otherwise these, and with
        them the others, might wait for this task.
        """
        done = super().unblock()
        if done and self.parts.group is not None and self.parts.group.waits_at is not None:
            self.emitter.publish(self.agenda.held(self.parts.group.waits_at))
        if self._steps is None:
            self._done_with_input()
            if done and self.emitter.commits is not None:
                self.commit(is_last=self.progress is Progress.OVER)
        return done

    def let_go(self) -> None:
        """As in the base class."""
        if self.at_cut is not None:
            self.at_cut.let_go()
        super().let_go()

    # -- for checkpoints

    def save(self) -> dict[str, Any]:
        """As in the base class."""
        saved = {**super().save(), "agenda": self.agenda.save(), "tick": self.parts.interludes.number}
        if isinstance(self.parts.commits, CheckpointCommits):
            saved[SINK] = self.parts.commits.described
        return saved

    def cut(self, number: int) -> None:
        """As in the base class."""
        if isinstance(self.parts.commits, CheckpointCommits):
            self.parts.commits.cut(number)

    def complete(self, number: int) -> None:
        """As in the base class."""
        if isinstance(self.parts.commits, CheckpointCommits):
            self.parts.commits.complete(number)

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
        if self.parts.assigner.has_output:
            self.emitter.place()
        if self.agenda.has_clients:
            yield from self._perform(self.agenda.take_timed(time.monotonic()))
        pieces = self._begin_slice(limit)
        if pieces:
            yield from self._process_between(pieces) if self.agenda.has_clients else self._process(pieces)
            self._end_slice()
        for back in self._received.feedback:
            yield from self._process_feedback(back, limit)
        self.emitter.flush()
        del pieces  # whose columns may be lent, and are asked back
        self._done_with_input()
        ready, watermark, until_us = self._received.outlook()
        self.parts.assigner.lineage.come_until(until_us)
        if ready:  # as a slice has its limits; whatever comes from now on is signalled
            self.is_signalled = True
        if self.at_cut is not None and self.at_cut.cut.has_come_to(watermark):
            yield from self.at_cut.come_to(self._reached(watermark))
        else:
            self._advance(watermark)
            if self.agenda.has_clients:
                yield from self.perform_until(self._reached(watermark))
            if self.parts.group is not None:
                self.parts.group.come_to(watermark)
        if self.emitter.commits is None:
            self.slot.commit(is_last=self.progress is Progress.OVER)
            if self.parts.claimants is not None:
                self._give_up(self.parts.claimants)
        self._publish()

    def _begin_slice(self, limit: int) -> list[Piece]:
        """Take tuples of the channel."""
        positions, received = self._positions, self._received
        positions.clear()
        pieces = self._taken(received.channel, limit, positions)
        if pieces:
            if self.progress is Progress.OPEN and positions.last_ts() >= LAST.ts:
                self.tell_last_ts(received.last_ts())
            below = not received.feedback or positions[0] >= self.emitter.published
            self.parts.assigner.begin_slice(positions, below=below)
            self.parts.answering.begin(positions, may_be_tracked=received.channel.reader.carries_tracked)
            if self._waiting:  # else the reader has said it itself
                received.channel.reader.working(self.parts.answering.untracked(positions) + self._waiting)
        return pieces

    def _end_slice(self) -> None:
        self.parts.answering.end(len(self._positions))
        self.parts.assigner.end_slice()
        if self.parts.interludes.notes_input:
            self.parts.interludes.input_passed(self._positions)

    def _process_feedback(self, back: Inlet, limit: int) -> Iterator[None]:
        # In order of arrival: what comes back takes its place at the frontier, as a timer's emit does.
        positions = Positions()
        pieces = self._taken(back, limit, positions)
        if pieces:
            self.emitter.signal_neighbours()  # among them those that wait for room to send more back
            self.parts.answering.begin(positions, may_be_tracked=True)
            yield from self._process(pieces)
            self.parts.answering.end(len(positions))

    def _taken(self, inlet: Channel, limit: int, positions: Positions) -> list[Piece]:
        try:
            if self.at_cut is not None and inlet is self._received.channel:
                return inlet.take_first(limit, positions, self.at_cut.cut.count_below)
            return inlet.take(limit, positions)
        except CodecError as error:
            self.context.fail("input", error)

    def perform_until(self, reached: Frontier) -> Iterator[None]:
        """Do what is due up to there."""
        return self._perform(self.agenda.take_until(reached))

    def _perform(self, entries: Iterable[Entry]) -> Iterator[None]:
        for entry in entries:
            self.emitter.place()
            entry.run(entry.at)
            yield

    def _process_between(self, pieces: list[Piece]) -> Iterator[None]:
        """Process input, and do in between what is due there."""
        agenda, positions = self.agenda, self._positions
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
        self.parts.assigner.mark_at(level)
        return self.parts.processor.process(pieces)

    def _process_levels(self, pieces: list[Piece]) -> Iterator[None]:
        for number, (level, group) in enumerate(self._received.by_level(pieces)):
            if number:
                self.emitter.place()
            self.parts.assigner.mark_at(level)
            yield from self.parts.processor.process(group)

    # -- behind the input so far

    def tell_last_ts(self, last_us: int) -> None:
        """Inform the consumers of the event time, before anything comes to them that no longer says it.

        Otherwise a tick would lie after outputs that are placed beyond all time, and should lie before them.
        """
        self._last_us = max(self._last_us, last_us)
        self.emitter.tell_last_ts(self._last_us)

    def _advance(self, watermark: Position) -> None:
        """Note that the input has been processed up to a position."""
        lineage = self.parts.assigner.lineage
        if watermark.ts < LAST.ts:
            if lineage.until_us != UNTOLD:
                self.tell_last_ts(lineage.until_us)
            lineage.advance(watermark)
            return
        at_end = Progress.OVER if self._received.cycle_is_over else Progress.DRAINED
        self.progress = at_end if watermark == END else Progress.QUIET
        self.tell_last_ts(self._received.last_ts())
        # What comes back may have been placed at a later round.
        lineage.advance(max(LAST if watermark == END else watermark, lineage.frontier))

    def _reached(self, watermark: Position) -> Frontier:
        lineage = self.parts.assigner.lineage
        frontier = max(watermark, lineage.frontier)
        last_us = lineage.until_us if frontier < LAST else max(self._last_us, self._received.last_ts())
        return Frontier(watermark, min(frontier.ts, last_us), self.progress is Progress.OVER)

    def _give_up(self, claimants: Claimants) -> None:
        """Let other tasks have key groups, as all changes of theirs are committed."""
        if self.slot.state is not None:
            self.slot.state.let_kept_go()
        claimants.give_up()

    def _publish(self) -> None:
        """Promise the consumers the present progress."""
        lineage, counters = self.parts.assigner.lineage, self.context.counters
        counters.saturated, counters.unplanned = lineage.saturated, self.parts.assigner.unplanned
        agenda, frontier = self.agenda, lineage.frontier
        self.emitter.publish(agenda.held(frontier) if agenda.has_clients else frontier)

    # -- from another thread

    def landed(self) -> None:
        """The oldest tuple in flight is done."""
        self.signal()
        self._scheduler.wake()

    def stand_in(self) -> None:
        """Do what the task's own thread would, if that is away in a callback."""
        self.slot.presence.stand_in(self._go_on)

    def _go_on(self) -> None:
        self.emitter.place()
        self.emitter.flush()
        self.emitter.publish(self.agenda.held(self.parts.assigner.current))


class CutParticipant:
    """A task that waits at a cut, with all before it committed, until it has done what is due there.

    Args:
        task: it has this part in cuts.
        cut: knows the cut that the task has not come to yet.
        hand_over: hands key groups over; None for a component that keeps its tasks.
    """

    def __init__(self, task: BoltTask, cut: BoltCut, hand_over: HandOver | None) -> None:
        self.cut = cut
        self.task = task
        self._hand_over = hand_over
        self._stands_at = self._saved_at = 0
        """The last attempts at whose cut it has stood, and was saved there, if it claims key groups."""
        cut.call_there(self._at_cut)

    @property
    def is_handing_over(self) -> bool:
        """True if the task waits at a cut, and has not taken over all key groups of its siblings that it
        gets."""
        return self._hand_over is not None and self._hand_over.goes_on

    @property
    def can_take_over(self) -> bool:
        """True if all of these have been handed over."""
        return self._hand_over is not None and self._hand_over.can_take

    def let_go(self) -> None:
        """Let go of the task: the cut refers to this, and this to the cut."""
        self.cut.call_there(lambda proposal: True)
        del self.task

    def claimants_have_come(self, claimants: Claimants) -> bool:
        """True if a task that stands at the cut of a checkpoint waits for none that claim keys with it.

        If the checkpoint is given up, they may not come. Then it waits for those that write nevertheless.
        """
        attempt = self._stands_at
        if attempt != self.cut.attempt:
            return False  # it does not stand there as yet
        if not self.cut.is_wanted:
            return not claimants.are_writing
        saved = self._saved_at == attempt
        return claimants.has_written(attempt) if saved else claimants.stand(attempt)

    def wants_turn(self, now_s: float) -> bool:
        """True if a part of a checkpoint is to be written, or the input has come to a cut."""
        is_due = now_s >= self.task.context.checkpoints.write_at_s
        return is_due or self.cut.has_come_to(self.task.parts.assigner.lineage.frontier)

    def come_to(self, reached: Frontier) -> Iterator[None]:
        """Do what is due before a cut that all input has come to; the task waits there then."""
        task, cut = self.task, self.cut
        lineage, promised, place = task.parts.assigner.lineage, cut.promised(reached), cut.place
        there = cut.frontier(reached)
        yield from task.perform_until(there)
        if there.time_us < promised.ts:
            task.tell_last_ts(there.time_us)
        if task.parts.group is not None:
            task.parts.group.come_to(place)
        task.slot.save()
        lineage.advance(max(promised, lineage.frontier))
        cut.come()
        task.signal()

    def passes(self) -> bool:
        """True if the task passes the cut: all before it is committed, and the work that is due at it is
        done."""
        task = self.task
        if task.emitter.commits is not None and not task.commit():
            task.signal()  # once there is room for what waits
            return False
        if not self.cut.passes():
            return False
        task.commit()  # what has changed at the cut
        if self._hand_over is not None and task.commits is None:  # else behind the commit
            self._hand_over.keep(self.cut.passed)
        return True

    def wait(self) -> None:
        """Hand on what was emitted, by threads of the component's own perhaps, and nothing else."""
        self.task.emitter.place()
        self.task.emitter.flush()
        self.task.context.checkpoints.go_on(is_committed=self.task.emitter.commits is None)

    def _at_cut(self, proposal: Proposal) -> bool:
        """All that lies before the cut has been processed and is committed, and nothing else."""
        if proposal.purpose is Purpose.CHECKPOINT:
            return self._save(proposal)
        assert self._hand_over is not None
        return self._hand_over_to_siblings(proposal, self._hand_over)

    def _hand_over_to_siblings(self, proposal: Proposal, hand_over: HandOver) -> bool:
        """Hand over what is another's after the cut, and take what is the task's; true if that is done."""
        task = self.task
        if not hand_over.goes_on:
            task.context.checkpoints.begin_anew()
            task.slot.save(commit=task.commits is None, hands_over=True)
            if task.commits is not None and not task.commit():
                task.signal()  # once there is room for what waits
                return False
            hand_over.begin(proposal.attempt)
        if not hand_over.can_take:
            return False
        task.slot.own(hand_over.take())
        task.agenda.taken_over()
        return True

    def _save(self, proposal: Proposal) -> bool:
        """All that belongs to a checkpoint has been processed, and nothing else: save the task.

        One that saves shared tables waits for their other members. No transaction after the cut is evaluated
        until it continues. So it then finds the tables as all transactions before the cut have left them.
        """
        task, cut = self.task, self.cut
        group = task.parts.group
        tables = group if group is not None and group.is_keeper else None
        if tables is not None and not tables.is_evaluated(cut.stands_at):
            return False
        if not task.parts.awaited.may_pass():
            return False
        if task.parts.claimants is not None:
            return self._save_with(task.parts.claimants, proposal)
        self._save_task(proposal, [each for each in (task.slot.state, tables) if each is not None])
        return True

    def _save_with(self, claimants: Claimants, proposal: Proposal) -> bool:
        """Save the task once all that claim its keys are at the cut; true if they have written all."""
        self._stands_at = proposal.attempt
        if not self.claimants_have_come(claimants):
            return False
        if self._saved_at == proposal.attempt or not self.cut.is_wanted:
            return True
        with claimants.writing():
            if self.cut.is_wanted:
                self._saved_at = proposal.attempt
                state = self.task.slot.state
                self._save_task(proposal, [] if state is None else [state])
                self.task.context.checkpoints.write_all()
        return self.claimants_have_come(claimants)

    def _save_task(self, proposal: Proposal, remembers: Sequence[Remembers]) -> None:
        self.task.emitter.place()
        self.task.cut(proposal.number)
        saved = self.task.save()
        self.task.context.checkpoints.cut(proposal, saved, remembers, self.cut.stands_since_s)
