"""A spout that brings what a component has emitted in a run that was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from framework.model.positions import Position
from framework.operators.components import Spout
from framework.operators.components.component import tasks_of
from framework.recording.reading import Recorded, Recording

CONFIG: Mapping[str, Any] = {
    "viper.spout.bounded": True,
    "viper.timestamp.field": None,
    "viper.timestamp.unit": "us",
    "viper.timestamp.slack": 0,
    "viper.timestamp.late": "error",
}
"""A `RecordedSpout` gives each tuple its time at the emit, whatever the topology says of other spouts."""
_AT_ONCE = 1000
"""Tuples that a call of `RecordedSpout.next_tuple` emits."""
_LAST_US = (1 << 62) - 2
"""The latest time that is given to a tuple; what a task emitted at the end of all input stands behind it."""


class RecordedSpout(Spout):
    """Brings the tuples that a component has emitted in a run that was recorded, by their positions.

    It takes the place of a part of a topology, a spout or a bolt with all that lies in front of it, so that
    what lies behind can be run alone. It has to declare the streams of the component that it brings. By event
    time each tuple has the time that it had in the recorded run; otherwise tuples of several such spouts
    come together as those of any spouts do. Of several tasks, each has the tuples of some recorded tasks.

    Treat a recording like code: reading it runs what it says.

    Args:
        recording: its path.
        component: whose tuples these are.
        streams: those that are brought; None for all.
        tracked: whether tuples have ids, so that they are tracked.
    """

    config = CONFIG

    def __init__(
        self, recording: str, component: str, streams: Iterable[str] | None = None, tracked: bool = False
    ) -> None:
        super().__init__()
        self._path = recording
        self._component = component
        self._streams = None if streams is None else frozenset(streams)
        self._tracked = tracked
        self._recording: Recording | None = None
        self._coming: Iterator[tuple[str, Recorded]] = iter(())
        self._count = 0

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Open the recording.

        Raises:
            RecordingError: it is none, or has no such component or stream.
        """
        mine = tasks_of(context["componentid"], context)
        self._has_times = storm_conf["viper.time"] == "event"
        self._recording = recording = Recording(self._path)
        names = [stream.name for stream in recording.streams_of(self._component)]
        wanted = names if self._streams is None else self._streams
        tasks = range(len(recording.header.tasks_of(self._component)))
        own = tasks[mine.index(context["taskid"]) :: len(mine)]
        self._coming = (
            (stream, found)
            for found in recording.input_of(self._component, own)
            if (stream := names[found.tag]) in wanted
        )

    def next_tuple(self) -> None:
        """Emit some of the tuples that are left.

        Raises:
            StopIteration: there are none.
        """
        taken = list(islice(self._coming, _AT_ONCE))
        if not taken:
            raise StopIteration
        for stream, (position, _, _, values) in taken:
            self._count += 1
            time = _time_us(position) if self._has_times else None
            self.emit(values, self._count if self._tracked else None, stream, timestamp=time)

    def close(self) -> None:
        """Close the recording."""
        if self._recording is not None:
            self._recording.close()


def _time_us(position: Position) -> int:
    """The time of a position, as near as an emit may give it."""
    return max(-_LAST_US, min(position.ts, _LAST_US))
