"""The leader's part in a drain: partitioned spouts come to one cut, and end there."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from framework.model.config import Settings
from framework.planning import Plan
from framework.runtime.coordination.cut_leader import CutInterruptedError, CutLeader
from framework.runtime.coordination.cut_record import CutRecord, Purpose
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.execution.assembly.network import Network

log = logging.getLogger("viperstorm.run")

OF_THE_DRAIN = 0.25
"""The share of the drain time that the way to the cut may take.

Whoever asks for an end does not want to wait, and a task can be far ahead. The tuples of a stream with few
rows lie in its channel before others come to them.
"""
_LOOK_S = 0.001
"""Seconds between two looks at how far the sources are."""


class _GivenUpError(Exception):
    """The sources are waited for no longer."""


@contextmanager
def draining(
    plan: Plan, settings: Settings, network: Network, leader: CutLeader | None, stop: StopSignal
) -> Iterator[None]:
    """For as long as the block runs, partitioned spouts end at one cut if the run is to drain."""
    if not plan.drained_at_cut or leader is None or network.record is None:
        yield
        return
    made = Draining(plan, network.record, leader, stop, settings["viper.drain.timeout.secs"])
    with stop.heeded(lambda: stop.requested, made.lead, "viper-draining"):
        try:
            yield
        finally:
            made.end()


class Draining:
    """Has the partitioned spouts of a run that drains end at one event time.

    Args:
        plan: of the run.
        record: where its sources agree.
        leader: has them agree; whoever else does takes turns with this.
        stop: asks for the drain.
        timeout_s: seconds that a drain may take (``viper.drain.timeout.secs``).
    """

    def __init__(
        self, plan: Plan, record: CutRecord, leader: CutLeader, stop: StopSignal, timeout_s: float
    ) -> None:
        self._plan = plan
        self._record = record
        self._leader = leader
        self._stop = stop
        self._longest_s = timeout_s * OF_THE_DRAIN
        self._until_s = 0.0
        """Monotonic time in seconds at which the sources are released."""
        self._over = threading.Event()

    def end(self) -> None:
        """The run is over: `lead` returns soon."""
        self._over.set()

    def lead(self) -> None:
        """Bring the sources to a cut, and release them afterwards.

        They are released at once where the quota is used up, as nobody could catch up.
        """
        try:
            if self._stop.reason in (StopReason.INTERRUPTED, StopReason.DURATION):
                self._until_s = time.monotonic() + self._longest_s
                self._cut()
        except _GivenUpError:
            pass
        finally:
            self._record.release()
            self._leader.wake()

    def _cut(self) -> None:
        while not self._leader.turn.acquire(timeout=_LOOK_S):
            self._check([], "a checkpoint or a change of tasks goes on")
        try:
            while True:
                with suppress(CutInterruptedError):  # once more, with those that follow the dead
                    self._leader.agree(0, self._wait, Purpose.DRAIN)
                    break
            self._leader.wait_for_sources(self._wait)
        finally:
            self._leader.turn.release()

    def _wait(self, tasks: Sequence[int], hint: str) -> None:
        self._check(tasks, hint)
        time.sleep(_LOOK_S)

    def _check(self, tasks: Sequence[int], hint: str) -> None:
        """Raise _GivenUpError if the run is over, or the time is; say for whom it was not enough."""
        if self._over.is_set() or self._stop.aborted:
            raise _GivenUpError
        if time.monotonic() >= self._until_s:
            names = {task.id: f"{task.component}:{task.id}" for task in self._plan.tasks}
            log.warning(
                "%s has not come to the time of the others within %g s (a quarter of "
                "viper.drain.timeout.secs): %s; all sources end where they are",
                *(", ".join(names[task] for task in tasks) or "a source", self._longest_s, hint),
            )
            raise _GivenUpError
