"""The changes of tasks in one run: for its report, and for its recording."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from framework.planning.routing import TaskSet
from framework.recording import ScaleChange, append_change
from framework.runtime.coordination.measuring import flow_of
from framework.runtime.observation.statistics import ChannelStatistics

log = logging.getLogger("viperstorm.scale")


class ScaleJournal:
    """Takes note of every change, whoever has asked for it.

    Args:
        elapsed_s: returns the seconds from the activation of the spouts to a monotonic time.
        channels: returns the counts of the channels of the run.
    """

    def __init__(
        self, elapsed_s: Callable[[float], float], channels: Callable[[], Sequence[ChannelStatistics]]
    ) -> None:
        self._elapsed_s = elapsed_s
        self._channels = channels
        self._folder: Path | None = None
        self.changes: Sequence[ScaleChange] = ()
        """All so far, in their order; replaced as a whole."""

    def record_to(self, folder: Path | None) -> None:
        """Write changes down in a folder from now on, and those that were made already; None: nowhere."""
        self._folder = folder
        for change in self.changes:
            self._record(change)

    def note(self, component: str, before: TaskSet, tasks: TaskSet, by: str) -> None:
        """Note that a component continues with other tasks, as requested; one caller at a time."""
        received = flow_of(component, self._channels()).received
        change = ScaleChange(
            component=component,
            before=len(before),
            tasks=len(tasks),
            at_s=self._elapsed_s(time.monotonic()),
            received=received,
            by=by,
            chosen=None if tasks.is_first else tasks.indexes,
        )
        self.changes = [*self.changes, change]
        self._record(change)

    def _record(self, change: ScaleChange) -> None:
        if self._folder is None:
            return
        try:
            append_change(self._folder, change)
        except OSError as error:
            why = error.strerror or error
            log.warning("%s cannot be recorded as it is scaled: %s", change.component, why)
