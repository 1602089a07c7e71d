"""What a spout emits: with an id, and with a timestamp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from framework.components.collector import EmitResult
from framework.errors import EmitError
from framework.planning import TimeMode
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.positions.clocks import to_micros


class SpoutCollector(TaskCollector):
    """A spout's collector: its emit takes an id and a timestamp."""

    time: TimeMode
    unit: str = "ms"
    done_at_emit: Callable[[Any], None]
    """Called with the id of a tuple that is not tracked: nobody receives it, or nothing is tracked at all."""
    tracks: bool = False
    """Whether tuples with ids are tracked."""

    def emit(  # type: ignore[override]
        self,
        tup: Sequence[Any],
        tup_id: Any = None,
        stream: str | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
        *,
        timestamp: Any = None,
    ) -> EmitResult:
        """A spout's emit, in all its forms."""
        stamp = None if timestamp is None else self._micros(timestamp)
        receivers = self._put(tup, stream, direct_task, need_task_ids, stamp, about=tup_id)
        if tup_id is not None and not (self.tracks and self.is_taken(stream)):
            self.done_at_emit(tup_id)
        return receivers

    def _note(self, about: Any) -> Any:
        return about if self.tracks else None

    def _micros(self, timestamp: Any) -> int:
        if self.time is not TimeMode.EVENT:
            raise EmitError(
                f"component {self._component!r} emits with timestamp={timestamp!r:.100}, "
                f"but the topology runs by {self.time} time: set viper.time to event"
            )
        return to_micros(timestamp, self.unit, self._component)
