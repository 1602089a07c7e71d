"""The leader's part in a cut: it proposes a time ahead of all sources, and decides."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from framework.planning import Plan
from framework.runtime.coordination.cut_record import CutRecord, Purpose
from framework.runtime.order.positions.lineage import LAST
from viper.position import LEAST

MARGIN_S: Final = 0.05
"""The lead of the first proposal over the sources, in seconds of event time.

All answers come within two slices of some milliseconds. A source that reaches the proposed time before the
decision has to wait for it.
"""
SAMPLE_S: Final = 0.005
"""Seconds for which the leader measures how fast event time passes."""

Wait = Callable[[Sequence[int], str], None]
"""Waits for some tasks, with a hint at what may hold them up; raises what ends the attempt."""


class Margin(NamedTuple):
    """The distance of a proposal ahead of its sources, in time that passes for them."""

    sample_s: float
    """Seconds for which the leader measures how fast their event time passes."""
    ahead_s: float
    """So many seconds' worth of that; twice as many with each proposal that was void."""


class CutInterruptedError(Exception):
    """A worker process has died, and its successors are not to be bound by what it has said."""


class CutLeader:
    """Has the sources of a run agree on a cut.

    Args:
        plan: of the run.
        record: where they agree.
        wake: has all executors look at it.
    """

    def __init__(self, plan: Plan, record: CutRecord, wake: Callable[[], None]) -> None:
        self._plan = plan
        self._parts = plan.aligned_sources
        self._sources: Sequence[int] = ()
        """The sources that the attempt concerns."""
        self._record = record
        self.wake = wake
        """Has all executors look at what was said."""
        self._lock = threading.Lock()
        """Held by whoever changes the record: the thread that makes checkpoints, or the one that hears of a
        death."""
        self.turn = threading.Lock()
        """Held by whoever has the sources agree, until what they have agreed on is done: one at a time."""
        self._is_interrupted = False
        self._before: dict[Sequence[int], tuple[float, int]] = {}
        """By part a monotonic time in seconds, and the event time that it had come to then."""
        self.voids = 0
        """The number of proposals that were void, as a source was ahead."""

    def agree(
        self,
        number: int,
        wait: Wait,
        purpose: Purpose = Purpose.CHECKPOINT,
        ahead: Callable[[], None] = lambda: None,
        margin: Margin | None = None,
    ) -> int:
        """Have all sources agree on a time; returns the number of the attempt.

        Args:
            number: the id of the checkpoint; 0 for a reconfiguration.
            wait: waits for sources that have not answered.
            purpose: what is to happen at the cut.
            ahead: called ahead of the decision; what it raises ends the attempt.
            margin: how far ahead of the sources the first proposal lies; by default as far as voids few.

        Raises:
            CutInterruptedError: a process has died meanwhile.
        """
        margin = margin or Margin(SAMPLE_S, MARGIN_S)
        self._is_interrupted = False
        of_all = [task for part in self._parts for task in part]
        self._sources = self._plan.drained_at_cut if purpose is Purpose.DRAIN else of_all
        while True:
            times_us = {} if purpose.stops else self._times_us(margin)
            with self._lock:
                self._check()
                self._record.propose(number, times_us, purpose)
            self.wake()
            while missing := self._unanswered():
                self._check()
                wait(missing, "its source may be in a callback, or deactivated")
            with self._lock:
                self._check()
                ahead()
                if purpose.stops:
                    self._record.decide(self._reached())
                    break
                if not self._ahead():
                    self._record.decide()
                    break
                self._record.make_void()
            self.voids += 1
            margin = margin._replace(ahead_s=2 * margin.ahead_s)
        self.wake()
        return self._record.attempt

    def wait_for_sources(self, wait: Wait) -> None:
        """Wait until all sources have passed the cut, or ended."""
        while missing := [task for task in self._open_sources() if not self._record.has_passed(task)]:
            self.check()
            wait(missing, "its source may stand still, or be deactivated")
        self.wake()  # as a source that stands still has no news for its consumers

    def close(self) -> Sequence[int]:
        """End the run at the cut that all sources have come to; returns the bolts that prevent it, as their
        end has begun.

        Raises:
            CutInterruptedError: a process has died meanwhile.
        """
        with self._lock:
            self._check()
            return self._record.close()

    def give_up(self) -> None:
        """End the attempt."""
        with self._lock:
            self._record.make_void()
        self.wake()

    def interrupt(self) -> None:
        """Make any proposal void, as a worker process has died; any thread may call it.

        A reconfiguration or a drain that is decided is not, nor is the end of a run that is closed.
        They bind the successors of the dead.
        """
        with self._lock:
            if not self._record.is_final:
                self._is_interrupted = True
                self._record.make_void()

    def check(self) -> None:
        """Raise `CutInterruptedError` if a process has died since the attempt was begun."""
        with self._lock:
            self._check()

    def last_us(self, task: int) -> int:
        """The last event time of a source that belongs to the checkpoint."""
        ended_us = self._record.ended_us(task)
        return self._record.last_us(task) if ended_us is None else ended_us

    def _check(self) -> None:
        if self._is_interrupted:
            raise CutInterruptedError

    def _open_sources(self) -> Sequence[int]:
        return [task for task in self._sources if self._record.ended_us(task) is None]

    def _unanswered(self) -> Sequence[int]:
        return [task for task in self._open_sources() if self._record.answer_of(task) is None]

    def _ahead(self) -> bool:
        """True if a source was beyond its time when it answered, or when it ended."""
        return any(self._reached_us(task) > self._record.time_us(task) for task in self._sources)

    def _reached_us(self, task: int) -> int:
        """The last reported time of a source for an attempt, or when it ended."""
        ended_us, answer_us = self._record.ended_us(task), self._record.answer_of(task)
        if answer_us is not None:  # what it has brought since then is bound by that
            return answer_us
        return LEAST.ts if ended_us is None else ended_us

    def _reached(self) -> Mapping[Sequence[int], int]:
        """By part the latest time that one of its sources was at when it answered, or when it ended."""
        concerned = {part: [task for task in part if task in self._sources] for part in self._parts}
        return {part: max(map(self._reached_us, tasks)) for part, tasks in concerned.items() if tasks}

    # -- how far ahead

    def _times_us(self, margin: Margin) -> Mapping[Sequence[int], int]:
        """For each part a time that lies ahead of all its sources by what they bring in so many seconds."""
        first_s, first = time.monotonic(), self._told()
        time.sleep(margin.sample_s)
        now_s, now = time.monotonic(), self._told()
        times_us = {}
        for part, told_us in now.items():
            samples = (first_s, first[part]), self._before.get(part, (first_s, first[part]))
            speed = max(_speed(*sample, now_s, told_us) for sample in samples)
            times_us[part] = min(told_us + max(int(speed * margin.ahead_s), 1), LAST.ts - 1)
            self._before[part] = now_s, told_us
        return times_us

    def _told(self) -> dict[Sequence[int], int]:
        """By part how far its first source is that consumers know of."""
        return {
            part: max(max(self._record.told_us(task), self._reached_us(task)) for task in part)
            for part in self._parts
        }


def _speed(before_s: float, before_us: int, now_s: float, now_us: int) -> float:
    """Microseconds of event time in a second; 0 where it has not begun."""
    if before_us == LEAST.ts or now_s <= before_s:
        return 0.0
    return (now_us - before_us) / (now_s - before_s)
