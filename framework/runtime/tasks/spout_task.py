"""The task of a spout: asks for tuples and gives them their first positions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from framework.runtime.coordination.stop import StopReason
from framework.runtime.exchange.buffer import SPILL_AT
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.tasks.aligned_spout import AlignedSpout, SpoutOffset
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.outcomes import Outcomes
from framework.runtime.tasks.pullers import Allowance, Puller
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.source_task import PollTimer, SourceTask
from framework.runtime.tasks.spout_assigner import SpoutAssigner
from framework.runtime.tasks.task import TaskState
from viper.position import LEAST, Position

LAST_EMITS = 1000
"""Tuples that one callback may still emit when the run is to stop."""
LAST_EMITS_S = 1.0
"""Seconds that it has for it."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The way of asking a spout for tuples."""

    make_puller: Callable[[], Puller]
    """Makes what asks it; called whenever there is a component."""
    allowance: Allowance
    """The number of tuples it may emit."""
    longest_pause_s: float
    """Longest pause in seconds before a spout is asked again that had nothing."""
    largest_slice: int | None = None
    """As `Task.largest_slice`."""
    skips: bool = False
    """True if bolts may place outputs at the spout's present time, beside their input."""
    spill_above: int = SPILL_AT - 1
    """Tuples that may wait until the callback has returned. Of columns these are a slice: to run other
    tasks on top of the callback takes one more look at all of them."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """The way of the tuples that a spout emits."""

    assigner: SpoutAssigner
    """Gives it positions."""
    outcomes: Outcomes
    """The outcomes of its tuples, which are reported to the spout."""
    aligned: AlignedSpout
    """Has it come to the time of a checkpoint."""


class SpoutTask(SourceTask):
    """Runs one task of a spout."""

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        emitter: Emitter,
        emitted: Emitted,
        asking: Asking,
    ) -> None:
        """
        Args:
            context: what is fixed about the task.
            slot: holds the spout.
            emitter: sends off what it emits.
            emitted: what becomes of that.
            asking: how it is asked for tuples.
        """
        super().__init__(context, slot, emitter, PollTimer(asking.longest_pause_s))
        self._assigner = emitted.assigner
        self._outcomes = emitted.outcomes
        self._aligned = emitted.aligned
        self._asking = asking
        self._puller: Puller | None = None
        self._exhausted = False
        """True if the spout has no more tuples."""

    # -- what an executor sees

    @property
    def has_ended(self) -> bool:
        """True if nothing more will come from it, acks and fails included."""
        return self._exhausted and not self._outcomes.are_awaited

    def _can_finish(self, now_s: float) -> bool:
        return self._brings_nothing_more or self._outcomes.may_be_told(now_s)

    @property
    def largest_slice(self) -> int | None:
        """As in the base class."""
        return self._asking.largest_slice

    @property
    def brings_nothing(self) -> bool:
        """True if the spout has ended, or only waits for the outcomes of its tuples."""
        return self.is_finished or self._assigner.has_brought_all

    @property
    def wake_at_s(self) -> float:
        """Monotonic time in seconds at which a turn would be of use although nothing has come."""
        is_asked = (self._outcomes.room > 0 and not self._exhausted) or self._aligned.is_asked
        return min(
            super().wake_at_s if is_asked or self.slot.is_gone else float("inf"), self._outcomes.wake_at_s
        )

    @property
    def _waits_behind_last(self) -> bool:
        """True if the task has not ended although the spout has, as another run may resume there."""
        return self._aligned.keeps_from_end or self._assigner.is_closed

    def _ends_now(self, now_s: float) -> bool:
        if self._aligned.must_hear_decision:
            return False
        goes_on = self.state is TaskState.RUNNING and not self._is_draining
        if goes_on and self._waits_behind_last:
            return False
        may_end = self._exhausted or self._is_draining or self.state is TaskState.ENDING
        return may_end and super()._ends_now(now_s)

    def _has_work(self, now_s: float) -> bool:
        if self._outcomes.may_be_told(now_s) and not self._aligned.is_there:
            return True
        if self._aligned.has_news:
            return True
        if self._aligned.is_asked:
            return self._poll.is_due(now_s)
        return not self._exhausted and super()._has_work(now_s) and self._outcomes.room > 0

    def leaves_now(self, stopped_at_s: float) -> bool:
        """True if a callback that continues to emit although the run is to stop has had its chance.

        A call that emits a few tuples is left alone; one that never returns has to be unwound.

        Args:
            stopped_at_s: monotonic time in seconds at which the stop was asked for.
        """
        emitted = self._puller.emitted_by_call if self._puller is not None else 0
        return emitted >= LAST_EMITS or time.monotonic() >= stopped_at_s + LAST_EMITS_S

    def is_left_waiting(self, stopped_at_s: float) -> bool:
        """True if the spout is being asked for tuples, and has not returned although the run is to stop.

        Args:
            stopped_at_s: as for `leaves_now`.
        """
        is_asking = self._puller is not None and self._puller.is_asking
        return is_asking and self.leaves_now(stopped_at_s)

    @property
    def waits_for_world(self) -> bool:
        """True if there may be nothing to bring for hours, so that a long callback means nothing."""
        return self.slot.presence.is_blocking

    @property
    def passes_time(self) -> bool:
        """True if the spout waits for answers to what it or others have placed, while time passes."""
        if self.is_finished:
            return False
        return self._leaves_places_out or (self._assigner.is_live and self._assigner.has_brought_all)

    @property
    def _leaves_places_out(self) -> bool:
        return self._asking.skips and not self._exhausted and self._outcomes.room <= 0

    def pass_time(self) -> None:
        """Let the time of a live source pass while it has nothing to bring.

        So does a source that waits for answers to tuples which others may have placed at its present time.
        """
        if self._leaves_places_out:
            if self._aligned.is_asked:
                return
            self._assigner.skip()
        elif not self._assigner.is_live:
            return
        self._publish()

    # -- lifecycle

    def resume(self, floor: Position, *, has_run: bool = True) -> None:
        """As in the base class.

        A spout that had brought everything begins again if it had tracked tuples in flight, of which it
        will not hear: only the component knows where to find out what has become of them.
        """
        super().resume(floor, has_run=has_run)
        if floor < LAST:
            self._aligned.go_on_behind(floor)
        unheard = self._outcomes.abandon()
        if self.commits is None:
            self._assigner.resume(floor)
            self._exhausted = floor >= LAST and not unheard
        elif self._assigner.is_live and floor < LAST:
            self._assigner.resume(floor)

    def _begin(self) -> None:
        self.slot.begin()
        offset = SpoutOffset(self.context, self.slot.host.component)
        self._aligned.watch(offset, self.save)
        restored = self.context.checkpoints.restored
        if restored is None:
            self.emitter.place()
        else:
            with self.emitter.discarding():  # as the run before has emitted it
                self.emitter.place()
            self._aligned.go_on_from(restored)
            if self.commits is None and self.emitter.last_placed > LEAST:
                self._assigner.resume(self.emitter.last_placed)  # as it is not the first that goes on there
        if self.commits is not None:
            self.commits.keep("offset", self._aligned)
        self._puller = self._asking.make_puller()

    def _restart(self) -> None:
        self.context.counters.anew = self.context.counters.emitted
        self._outcomes.abandon()
        self._exhausted = False
        self.slot.remake()
        self._begin()
        if self.active:
            self.activate()

    def drain(self, reason: StopReason, now_s: float) -> None:
        """As in the base class; the task of a run that is suspended ends where it is."""
        super().drain(reason, now_s)
        if reason is StopReason.SUSPENDED:
            self._aligned.suspend()
        self._poll.ask_at(0.0)

    def activate(self) -> None:
        """Inform the spout that tuples will be asked for."""
        super().activate()
        self.slot.call("activate", self.slot.host.component.activate)
        if self._puller is not None:
            self._puller.has_heard()
        self._poll.found()

    def deactivate(self) -> None:
        """Inform the spout that no more tuples will be asked for."""
        super().deactivate()
        self.slot.call("deactivate", self.slot.host.component.deactivate)
        self.emitter.place()

    def _stop_asking(self) -> None:
        self._exhausted = True
        if self._puller is not None:
            self._puller.close()
        if self._aligned.is_suspended:
            self._last_us = max(self._last_us, self.emitter.told_us)
        else:
            self._aligned.end()
        if self.active:
            self.deactivate()
        self._assigner.end()
        self.emitter.place()
        if self._aligned.is_suspended:
            return
        if not self._assigner.has_brought_all:
            self._last_us = self._assigner.current.ts
        self._report_end()

    def _finish(self) -> bool:
        """As in the base class, once the spout has heard what has become of all its tracked tuples."""
        if self.is_finished:
            return True
        if not self._aligned.is_suspended:
            self._outcomes.tell()
        if self.slot.is_gone:  # nothing comes that a new component would be needed for
            self._outcomes.abandon()
            self.slot.give_up_restart()
        self.emitter.place()
        if self._aligned.is_suspended or not self._outcomes.are_awaited:
            return super()._finish()
        done = self.emitter.flush()
        self._wait_for_answers()
        return done

    @property
    def _brings_nothing_more(self) -> bool:
        return self._aligned.is_suspended or not self._outcomes.are_awaited

    def close(self) -> None:
        """As in the base class."""
        self._outcomes.close()
        super().close()

    # -- for checkpoints

    def save(self) -> dict[str, Any]:
        """As in the base class, with where the spout is."""
        return {**super().save(), **self._aligned.saved}

    def complete(self, number: int) -> None:
        """As in the base class: all that was processed is in the checkpoint with which the run has ended."""
        self._outcomes.tell_all()

    def last(self) -> None:
        """As in the base class."""
        self._outcomes.tell_all()

    def _report_end(self) -> None:
        """Report the final state for a checkpoint, as the spout has brought all it has."""
        if self._aligned.may_be_asked:
            self.context.checkpoints.finish(self.save())

    # -- work

    def run(self, limit: int) -> int:
        """Ask for about so many tuples at most, or for as many as come within the linger time."""
        if self._ends_now(time.monotonic()):
            self.end()
            return 0
        if self.slot.is_gone:
            self._restart()
        before = self.context.counters.emitted
        wants_rows = self._aligned.wants_rows()
        told, failed = (0, False) if self._aligned.is_there else self._outcomes.tell()
        if failed:  # and may be repeated by `next_tuple`
            self._exhausted = False
        if told and self._puller is not None:
            self._puller.has_heard()
        if told and self.commits is not None:  # a successor is not told once more, and is to do the same
            self.emitter.place()
            self.commit()
        if wants_rows and self.active and not self._exhausted and not self.slot.is_gone:
            is_asked = self._aligned.is_asked
            self._ask(min(limit, self._outcomes.room_to_align if is_asked else self._outcomes.room))
        if self._outcomes.wait_for_checkpoint:
            self._aligned.want_checkpoint()
        if self._exhausted:
            self._assigner.end()
        has_placed = self._assigner.has_output
        if has_placed:
            self.emitter.place()
        self._asking.allowance.give_back()
        emitted = self.context.counters.emitted - before
        self._rest(emitted)
        commits = self.emitter.commits
        if commits is not None and self._is_to_commit(emitted, has_placed=has_placed):
            commits.make_due()
        if self.emitter.is_laden or (commits is not None and commits.is_due):
            self.unblock()
        if self._exhausted and self._outcomes.are_awaited and not self._waits_behind_last:
            self._wait_for_answers()
        was_asked = self._aligned.is_asked
        if was_asked and not (self.commits is not None and self.is_blocked):
            self._aligned.after_turn(time.monotonic(), had_nothing=not emitted, has_ended=self._exhausted)
        # Whoever waits for the time of a live source asks for it, but for bolts that are to come to a cut.
        if emitted or self._assigner.has_brought_all or not self._assigner.is_live or was_asked:
            self._publish()
        return emitted

    def _is_to_commit(self, emitted: int, *, has_placed: bool) -> bool:
        """True if the work up to the end of a turn is to be committed now."""
        at_once = self._aligned.is_asked or self._is_draining or self._exhausted
        placed = self.emitter.last_placed
        return self._assigner.is_to_commit(emitted, placed, has_placed=has_placed, at_once=at_once)

    def _ask(self, count: int) -> None:
        puller = self._puller
        if puller is None or puller.waits(time.monotonic()):
            return
        granted = self._asking.allowance.take(count)
        if granted:
            if self._aligned.is_asked_singly:
                self._exhausted = self._ask_singly(puller, granted)
            else:
                self._exhausted = puller.pull(granted)

    def _ask_singly(self, puller: Puller, count: int) -> bool:
        """Ask for one tuple after the other, until one comes that is later than the time of a checkpoint;
        whether the spout has none any more."""
        self.emitter.place()
        counters = self.context.counters
        end, has_ended = counters.emitted + count, False
        while not (has_ended or self.slot.is_gone or self._assigner.is_closed):
            self._aligned.before_call()
            before = counters.emitted
            has_ended = puller.pull(1)
            self.emitter.place()
            if counters.emitted in (before, end) or not self.emitter.flush():
                break
        return has_ended

    def _rest(self, emitted: int) -> None:
        later = None if self._puller is None else self._puller.later
        if later is not None and not self._aligned.is_asked:
            self._rest_until(later.look_at_s(time.monotonic()), later.readable)
        elif emitted:
            self._poll.found()
        elif self._aligned.is_asked:
            self._wait_for_others(time.monotonic())
        else:
            self._poll.found_nothing(time.monotonic())

    def _publish(self) -> None:
        """Promise the consumers the progress of the task."""
        if self._aligned.may_be_asked:
            self._aligned.answer()  # before they are told of a time that others have agreed on
        self.emitter.publish(self._aligned.frontier())
        self._aligned.told()

    def unblock(self) -> bool:
        """As in the base class. Whoever waits for room also says how far it is, as others wait for that."""
        if self._aligned.may_be_asked:
            self._aligned.answer()
        return super().unblock()

    def _wait_for_answers(self) -> None:
        """Inform the consumers that all has been brought, but for repeats, which come after it."""
        if not self._assigner.has_brought_all:
            self._aligned.end()
            self._report_end()
            self._last_us = self._assigner.current.ts
            self._assigner.bring_only_repeats()
            self.emitter.tell_last_ts(self._last_us)
        self._publish()

    # -- in the middle of a callback

    def _spill(self) -> None:
        # Called at every emit of a polled spout, which may never return from next_tuple.
        if self.emitter.is_busy:
            return
        puller, now_s = self._puller, time.monotonic()
        if puller is None or not puller.is_asking:
            self._flows()
        elif puller.waiting > self._asking.spill_above or puller.has_lingered(now_s):
            puller.begin_slice(now_s)
            self._aligned.look_in_call()
            self._flows()
            self._publish()
            if not self._others_have_run():
                puller.end_slice(time.monotonic())

    def _others_have_run(self) -> bool:
        """Run other tasks, which may need what this one was granted and has not used.

        Returns:
            True if the spout may continue to emit afterwards.
        """
        held = self._asking.allowance.give_back()
        self._scheduler.make_room(self)
        return self._asking.allowance.take(held) >= max(held, 1)

    def leave(self, stopped_at_s: float) -> None:
        """As in the base class; what the spout has emitted is handed on, what it has not brought is lost."""
        presence = self.slot.presence
        if not self.is_finished and (presence.is_left or self.is_left_waiting(stopped_at_s)):
            presence.leave(self._end_without_thread)

    def _end_without_thread(self) -> None:
        if self.state is TaskState.RUNNING:
            self.state = TaskState.ENDING
            self._exhausted = True
            self._outcomes.abandon()
            self._assigner.end()
            self.emitter.place()
            self._last_us = self._assigner.current.ts
        if self._finish():
            self.emitter.close_recorder()

    def stand_in(self) -> None:
        """Do what the task's own thread would, if that is away in a callback."""
        self.slot.presence.stand_in(self._go_on)

    def _go_on(self) -> None:
        self.emitter.place()
        self.emitter.flush()
        self._publish()
