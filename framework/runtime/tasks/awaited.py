"""The wait of a bolt's task for answers that its component owes."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import Final

from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.interludes import Interludes
from framework.runtime.tasks.slot import ComponentSlot

LOOK_S: Final = 0.02
"""Seconds between two looks at what a program has said that works in the background."""
LAST_WORDS_S: Final = 2.0
"""Seconds that a program has to say something behind the end of its input."""
OF_THE_DRAIN: Final = 0.75
"""The share of the time to drain of a program whose input has not been closed: it may answer then only."""


class Awaited:
    """Has a task wait for a component that decides itself when it answers, as it may emit until then.

    A bolt may work in threads, in asyncio, or in the background of a program. Its task has then processed all
    input before anything has come of it. So the task ends, and is saved for a checkpoint, only when all
    tuples were answered; or after ``viper.drain.timeout.secs``, and then they are counted.

    Args:
        context: the task's.
        slot: holds the component, and knows what it has not answered.
        interludes: call it.
        acker: knows which tracked tuples it holds; None where nothing is tracked.
        longest_s: seconds for which it is waited for.
        may_end: whether the end of the input is not only that of a run that another one resumes.
    """

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        interludes: Interludes,
        acker: Acker | None,
        longest_s: float,
        may_end: Callable[[], bool],
    ) -> None:
        self._context = context
        self._slot = slot
        self._interludes = interludes
        self._acker = acker
        self._longest_s = longest_s
        self._may_end = may_end
        self.since_s: float | None = None
        """Monotonic time in seconds since which the task waits; None while it does not."""
        self._look_at_s = inf
        """The time at which a program is read next."""
        self._drains_since_s = inf
        self._closed_at_s: float | None = None
        """The time at which the input of the program was closed."""
        self._given_up_at = -1
        """The number of processed tuples at the last cut at which answers were waited for in vain."""
        self._has_ended = False

    @property
    def due_at_s(self) -> float:
        """Monotonic time in seconds at which a waiting task polls again."""
        return self._look_at_s if self._slot.host.speaks_by_itself else self._closes_at_s

    @property
    def count(self) -> int:
        """The number of unanswered tuples that nobody tracks."""
        return len(self._slot.unanswered)

    def wants_turn(self, now_s: float) -> bool:
        """True if a waiting task has all answers, or is to poll."""
        return now_s >= self.due_at_s or not (self.count or self._slot.host.speaks_by_itself)

    def drain(self, now_s: float) -> None:
        """Note that the run is to drain, from this monotonic time in seconds on."""
        self._drains_since_s = now_s

    # -- at the end

    def may_end(self) -> bool:
        """With all input processed: whether the component has answered, or is not waited for any more."""
        if self._slot.host.answers_itself and not self._slot.is_gone:
            if not (self._has_answered() and self._has_said_all()):
                return False
            self._interludes.place()  # what threads have emitted before they have answered
        self._end()
        return True

    def _has_answered(self) -> bool:
        """True if there is no answer to wait for; meanwhile, a program's output is read."""
        if self._closed_at_s is not None:
            return True
        if self.count and self._given_up_at != self._context.counters.processed:
            self._begin()
            self._interludes.listen()
            return not self.count or self._slot.is_gone or time.monotonic() >= self._closes_at_s
        return True

    def _has_said_all(self) -> bool:
        """True if a program has heard of the end of its input, and has sent all its output."""
        if self._slot.is_gone or not (self._slot.host.speaks_by_itself and self._may_end()):
            return True
        self._begin()
        now_s = time.monotonic()
        if self._closed_at_s is None:
            self._closed_at_s = now_s
        until_s = self._closed_at_s + LAST_WORDS_S
        return self._interludes.finish() or now_s >= (max(until_s, self._until_s) if self.count else until_s)

    def _end(self) -> None:
        if self._has_ended:
            return
        self._has_ended, self.since_s = True, None
        if self._slot.is_gone:
            self._context.counters.lost += self._slot.unanswered.let_go()
        elif self.count:
            self._context.logger.warning(
                "%s has not answered %s tuples within %g s (viper.drain.timeout.secs), and is waited for no "
                "more: a component with auto_ack = False acks or fails each tuple that it receives",
                *(self._context.name, f"{self.count:,}", self._longest_s),
            )
        self.close()

    def close(self) -> None:
        """Count the unanswered tuples, as the task is over, at its end or before."""
        self._has_ended = True
        self._context.counters.unanswered += self._slot.unanswered.let_go()

    # -- at a cut

    def may_pass(self) -> bool:
        """True if the component has answered all tuples before a checkpoint, or is not waited for."""
        host = self._slot.host
        if host.is_batching and not host.speaks_by_itself:  # it gathers, and answers when a batch is due
            return True
        if not host.answers_itself or self._slot.is_gone:
            return True
        held = self.count + (0 if self._acker is None else self._acker.held_alive)
        if held:
            self._begin()
            self._interludes.listen()
            held = self.count + (0 if self._acker is None else self._acker.held_alive)
        if held and time.monotonic() < self._until_s:
            return False
        self.since_s = None
        if held:
            self._given_up_at = self._context.counters.processed
            self._context.logger.warning(
                "%s has not answered %s tuples within %g s (viper.drain.timeout.secs) at a checkpoint: a run "
                "that goes on from there does not have what comes of them",
                *(self._context.name, f"{held:,}", self._longest_s),
            )
        return True

    # -- how long

    def _begin(self) -> None:
        now_s = time.monotonic()
        self._look_at_s = now_s + LOOK_S
        if self.since_s is None:
            self.since_s = now_s

    @property
    def _until_s(self) -> float:
        assert self.since_s is not None
        return min(self.since_s, self._drains_since_s) + self._longest_s

    @property
    def _closes_at_s(self) -> float:
        """The time at which a program hears that its input is over; of other components, the end of the wait.

        In a run that drains, this is early enough for the program to answer only then.
        """
        assert self.since_s is not None
        by_itself = self.since_s + self._longest_s
        share = OF_THE_DRAIN if self._slot.host.speaks_by_itself else 1.0
        return min(by_itself, self._drains_since_s + share * self._longest_s)
