"""Publishes the passing of time for spouts that emit nothing at present.

The time of a live source goes by the wall clock, and passes although the source is silent. Nobody needs to
hear of it unless a bolt has input that waits for it, or a window that has ended by now. So the executor of
that bolt asks, and only then are heartbeats sent. Each executor once sent them up to 20 times a second, and
every bolt behind it ran for each. A topology in which nothing happened then took 3 to 6 % of a core.

The time of a paced replay makes ticks due, and a spout that waits for acks passes the time at which it would
emit again. Both send heartbeats by themselves, ever less often while nothing moves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.source_task import SourceTask
from viper.bell import Bell

FIRST_PAUSE_S = 0.0001
"""Shortest pause in seconds between two heartbeats while no tuple moves; it doubles with each of them."""
LONGEST_PAUSE_S = 0.05
"""Longest such pause in seconds."""
BUSY_PERIOD_S = 0.001
"""Seconds between two looks of an executor that never rests."""


class HeartbeatRequests:
    """Asks other executors for the heartbeats of their spouts, and notices that others have asked.

    Args:
        requests: counts the requests of all executors.
        bells: those of all others who can send heartbeats for spouts.
    """

    def __init__(self, requests: Bell, bells: Sequence[Bell]) -> None:
        self._requests = requests
        self._bells = tuple(bells)
        self._seen = requests.ticket()

    def ask(self) -> None:
        """Ask for heartbeats; to be called before the caller's own spouts send theirs."""
        if not self._bells:
            return
        self._requests.ring()  # first, so that whoever is woken by its bell sees the request
        self._seen = self._requests.ticket()
        for bell in self._bells:
            bell.ring()

    def have_come(self) -> bool:
        """True if anybody has asked since the last call."""
        before, self._seen = self._seen, self._requests.ticket()
        return self._seen != before


class LiveTime:
    """Has an executor's spouts send heartbeats when somebody needs them.

    A heartbeat wakes the consumers, and may not release what waits, if that waits for something else as well.
    Without growing pauses between requests, two executors that have nothing to do would wake each other for
    ever.

    Args:
        spouts: the executor's spout tasks.
        bolts: the executor's bolt tasks that can be asked, whenever this is iterated over.
        is_in_callback: returns whether a spout is being called right now, and must be left alone.
        requests: how the executor asks others; None where the time of spouts does not pass by itself.
    """

    def __init__(
        self,
        spouts: Sequence[SourceTask],
        bolts: Iterable[BoltTask],
        is_in_callback: Callable[[SourceTask], bool],
        requests: HeartbeatRequests | None,
    ) -> None:
        self._spouts = tuple(spouts)
        self._is_in_callback = is_in_callback
        self._bolts = bolts
        self._requests = requests
        self._pause_s = 0.0
        self._again_at_s = 0.0
        self._busy_look_at_s = 0.0

    @property
    def due_at_s(self) -> float:
        """Monotonic time in seconds at which `look` has something to do; infinite if it may never have."""
        if self._requests is None:
            return float("inf")
        if self._is_awaited():
            return self._again_at_s
        ends_at_us = self._ends_at_us()
        if ends_at_us is None:
            return float("inf")
        return max(time.monotonic() + (ends_at_us - _now_us()) / 1e6, self._again_at_s)

    @property
    def passes_by_itself(self) -> bool:
        """True if a spout sends heartbeats although nobody asks: `look_after_rest` is to be called often."""
        return any(spout.passes_time for spout in self._spouts)

    def something_moved(self) -> None:
        """Note that a task has emitted or processed tuples, so that a bolt may soon wait for these spouts."""
        self._pause_s = self._again_at_s = 0.0

    def look(self, now_s: float) -> bool:
        """Send heartbeats, and ask for others', if the pause is over, and a bolt waits for them or has a
        window that has ended.

        Args:
            now_s: monotonic time in seconds.

        Returns:
            True if it has done so, and tasks may be runnable.
        """
        if self._requests is None or now_s < self._again_at_s:
            return False
        if not (self._is_awaited() or self._has_ended()):
            return False
        self._requests.ask()
        self._go_on_and_pause(now_s)
        return True

    def look_after_rest(self, now_s: float) -> None:
        """Have the spouts that pass time by themselves do so, if the pause is over or a bolt waits.

        Args:
            now_s: monotonic time in seconds.
        """
        if not self.passes_by_itself:
            return
        if now_s >= self._again_at_s or any(bolt.waits_with_input for bolt in self._bolts):
            self._go_on_and_pause(now_s)

    def look_if_busy(self, now_s: float) -> None:
        """As `look`, now and then, between the turns of an executor that may not rest for long."""
        if now_s >= self._busy_look_at_s:
            self._busy_look_at_s = now_s + BUSY_PERIOD_S
            if self._is_awaited():  # what ends at a time has heartbeats enough while sources bring something
                self.look(now_s)

    def answer(self) -> None:
        """Send heartbeats if another executor has asked for them; to be called when the bell was rung."""
        if self._requests is not None and self._requests.have_come():
            self.go_on()

    def source_had_its_turn(self, count: int) -> None:
        """Send heartbeats of all spouts, as one of them has had its turn and brought so many tuples."""
        if count or self._requests is None:
            self.go_on()

    def go_on(self) -> None:
        """Send heartbeats now."""
        for spout in self._spouts:
            if not spout.is_finished and not self._is_in_callback(spout):
                spout.pass_time()

    def _go_on_and_pause(self, now_s: float) -> None:
        self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
        self._again_at_s = now_s + self._pause_s
        self.go_on()

    def _is_awaited(self) -> bool:
        return self._requests is not None and any(bolt.waits_with_input for bolt in self._bolts)

    def _ends_at_us(self) -> int | None:
        """The time of sources, which is that of the wall clock, at which a window of a bolt ends."""
        ends = [bolt.ends_at_us for bolt in self._bolts]
        return min((end_us for end_us in ends if end_us is not None), default=None)

    def _has_ended(self) -> bool:
        ends_at_us = self._ends_at_us()
        return ends_at_us is not None and ends_at_us <= _now_us()


def _now_us() -> int:
    """The time of live sources, in microseconds."""
    return time.time_ns() // 1000
