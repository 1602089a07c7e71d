"""The common part of all tasks that bring tuples, and the timer by which an idle one is asked again."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence

from framework.operators.components import HasFileno
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.readable import CAN_HEAR, Readable
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.task import Task, TaskState


class SourceTask(Task):
    """A task of a spout."""

    is_source = True
    waiting_for = None

    def __init__(self, context: TaskContext, slot: ComponentSlot, emitter: Emitter, poll: PollTimer) -> None:
        """
        Args:
            context: as in the base class, like all but the last.
            slot: holds its component.
            emitter: sends off what that emits.
            poll: says when the source is asked again that had nothing.
        """
        super().__init__(context, slot, emitter)
        self.active = False
        """True if tuples are asked for."""
        self._poll = poll

    # -- what an executor sees

    @property
    def brings_nothing(self) -> bool:
        """True if the source has ended, or only waits for the outcomes of its tuples."""
        return self.is_finished

    @property
    def wake_at_s(self) -> float:
        """Monotonic time in seconds at which a turn would be of use although nothing has come."""
        if self.slot.is_gone or self.state is TaskState.ENDING or not self.active:
            return super().wake_at_s
        return self._poll.due_at_s

    @property
    @abstractmethod
    def has_ended(self) -> bool:
        """True if nothing more will come from it."""

    def leaves_now(self, stopped_at_s: float) -> bool:
        """True if a callback that continues to emit although the run is to stop has had its chance.

        Args:
            stopped_at_s: monotonic time in seconds at which the stop was asked for.
        """
        return False

    def is_left_waiting(self, stopped_at_s: float) -> bool:
        """True if the component is being asked for tuples, and has not returned although the run is to stop.

        Args:
            stopped_at_s: as for `leaves_now`.
        """
        return False

    @property
    def passes_time(self) -> bool:
        """True if `pass_time` is to be called again and again, although nobody may have asked for it."""
        return False

    def pass_time(self) -> None:
        """Let the time of a live source pass while it has nothing to bring."""

    def _wants_turn(self, now_s: float) -> bool:
        if self.state is TaskState.ENDING:
            return self._can_finish(now_s)
        return self._ends_now(now_s) or self._has_work(now_s)

    def _ends_without_component(self, now_s: float) -> bool:
        return self._is_draining and self._ends_now(now_s)

    def _can_finish(self, now_s: float) -> bool:
        """True if a turn would bring the end nearer, at a monotonic time in seconds."""
        return True

    def _has_work(self, now_s: float) -> bool:
        """True if the source may be asked for tuples now."""
        return self.active and self._poll.is_due(now_s)

    def _ends_now(self, now_s: float) -> bool:
        ends_by_itself = self.state is TaskState.ENDING or self.has_ended
        return ends_by_itself or (self._is_draining and self._stops(now_s))

    def _stops(self, now_s: float) -> bool:
        """True if the source ends at once, now that the run is to drain."""
        return True

    def unblock(self) -> bool:
        """As in the base class; between two turns, all that was brought is committed then."""
        done = super().unblock()
        if done and self.commits is not None and self.commits.take_due():
            self.commit()
        return done

    # -- lifecycle

    def activate(self) -> None:
        """Ask for tuples from now on."""
        self.active = True

    def _wait_for_others(self, now_s: float) -> None:
        """Compare again, soon, how far the others are that the task waits for."""
        self._poll.wait_for_others(now_s)
        self.emitter.signal_neighbours()  # so that the executor looks at others, which may be blocked

    def deactivate(self) -> None:
        """Ask for no more tuples, until `activate`."""
        self.active = False

    def ask_soon(self) -> None:
        """Have the source asked at the next turn, as it may have something now."""
        self._poll.found()

    def _rest_until(self, due_at_s: float, descriptors: Sequence[int | HasFileno]) -> None:
        """Leave the source alone until a monotonic time in seconds, or until a descriptor is readable."""
        if not descriptors:
            self._poll.ask_at(due_at_s)
            return
        if not CAN_HEAR:
            self._poll.found_nothing(time.monotonic())
            return
        self._poll.ask_at(due_at_s)
        self._poll.hear(descriptors, self._is_readable)  # last, as another thread may call that from here on

    def _is_readable(self) -> None:
        self._poll.found()
        self._scheduler.wake()

    def close(self) -> None:
        """As in the base class."""
        self._poll.hear_nothing()
        super().close()

    def let_go(self) -> None:
        """As in the base class."""
        self._poll.hear_nothing()
        super().let_go()

    def end(self) -> None:
        """Bring nothing more."""
        if self.state is TaskState.RUNNING:
            self.state = TaskState.ENDING
            self._stop_asking()
        self._finish()

    def _stop_asking(self) -> None:
        """Inform the component that it is asked for no more, and place its last emits."""


ALIGNING_PAUSE_S = 0.001
"""Seconds between two looks at how far others are that a source waits for."""
FIRST_PAUSE_S = 0.00002
"""The first pause of an idle source; twice as long each time, up to a bound.

So a tuple waits no longer than there had been none before it, and at any rate at most for the bound.
"""


class PollTimer:
    """Says when a source is to be asked again that had nothing when it was asked last.

    Args:
        longest_s: longest pause in seconds.
    """

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._pause_s = 0.0
        self.due_at_s = 0.0
        """Monotonic time in seconds before which the source is left alone."""
        self._readable: Readable | None = None
        """The descriptors that the source waits for, once it has waited for any."""

    def is_due(self, now_s: float) -> bool:
        """True if the source may be asked at a monotonic time in seconds."""
        return now_s >= self.due_at_s

    def found(self) -> None:
        """Note that the source had something: it may be asked again at once."""
        self._pause_s = self.due_at_s = 0.0

    def found_nothing(self, now_s: float) -> None:
        """Note that the source had nothing at a monotonic time in seconds: leave it alone for a while."""
        self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), self._longest_s)
        self.due_at_s = now_s + self._pause_s

    def ask_at(self, due_at_s: float) -> None:
        """Have the source asked at a monotonic time in seconds, when it is known to have something."""
        self._pause_s, self.due_at_s = 0.0, due_at_s

    def hear(self, descriptors: Sequence[int | HasFileno], tell: Callable[[], None]) -> None:
        """Have `tell` called by another thread once a descriptor is readable."""
        if self._readable is None:
            self._readable = Readable(tell)
        self._readable.wait_for(descriptors)

    def hear_nothing(self) -> None:
        """Wait for no descriptor any more."""
        if self._readable is not None:
            self._readable.close()

    def wait_for_others(self, now_s: float) -> None:
        """Note that the source waits for others: its task compares again, soon, how far they are."""
        self.due_at_s = now_s + ALIGNING_PAUSE_S
