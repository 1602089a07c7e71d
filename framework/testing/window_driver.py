"""Calls the callbacks of one windowed bolt, without a worker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from framework.common.units import micros_of
from framework.operators.windows.due import Due
from framework.operators.windows.spec import TIME_FIELD
from framework.runtime.tasks.task import Task
from framework.testing.driver import Driver, is_tick


class WindowDriver(Driver):
    """Gives tuples to a windowed bolt, at the times that a field of theirs says, or at their numbers."""

    def __init__(self, task: Task, key: tuple[int, ...] | None = None) -> None:
        super().__init__(task, key)
        conf = task.context.identity.conf
        self._field: str | None = conf[TIME_FIELD]
        self._unit: str = conf["viper.timestamp.unit"]
        self._now_us = 0

    def run(self, tuples: Iterable[Any]) -> None:
        """As in the base class."""
        assert self._state is not None
        self._state.tell_time_by(lambda: self._now_us)
        super().run(tuples)

    def _give(self, tup: Any) -> None:
        if not is_tick(tup):
            self._now_us = max(self._now_us, self._time_of(tup))
            self._fire_until(self._now_us)
        super()._give(tup)

    def _time_of(self, tup: Any) -> int:
        if self._field is None:
            return self._now_us + 1
        return micros_of(getattr(tup.values, self._field), self._unit)

    def _end(self) -> None:
        self._fire_until(None)
        self._guarded((), self._host.fire_rest)

    def _fire_until(self, time_us: int | None) -> None:
        windows = self._host.windows
        while (end_us := windows.next_over(time_us)) is not None:
            self._guarded((), self._host.fire_window, end_us)


class KeyWindowDriver(WindowDriver):
    """Likewise, to an operator over windows by key."""

    def _end(self) -> None:
        self._fire_until(None)
        for due in list(self._host.key_windows.rest()):
            self._fire(due)

    def _fire_until(self, time_us: int | None) -> None:
        if self._host.key_windows.spec.is_timed:
            while (due := self._host.key_windows.next_due(time_us)) is not None:
                self._fire(due)

    def _fire(self, due: Due) -> None:
        for call in self._host.take_due(due):
            self._guarded((), call)
