"""Replays recorded input, at exactly the recorded positions, or as the tuples of a new spout."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

from framework.model.errors import RecordingError
from framework.model.topology import Role, Stream
from framework.operators.components import Spout
from framework.operators.components.component import tasks_of
from framework.planning import Plan
from framework.recording.header import Header, RecordedComponent
from framework.recording.reading import Recorded, Recording
from framework.recording.timeline import ReplayTicks
from viper.jumbo import Emission
from viper.payload import Rows
from viper.position import END, Position, Positions
from viper.rows import is_plain


class RecordedInput(Protocol):
    """Input that was recorded before: tuples in the order of the positions that they were recorded with."""

    @property
    def exhausted(self) -> bool:
        """True if there are no more tuples."""

    @property
    def frontier(self) -> Position:
        """Nothing that comes later has a smaller position."""

    def take(self, limit: int) -> Emission:
        """The next tuples, at most `limit` of them; an empty batch means that there are none yet."""


class ReplaySource:
    """Stands in for the input of one task of a spout.

    The recorded source partitions are dealt out in turn: of three tasks, the first gets
    partitions 0, 3, 6 and so on. Positions say which partition a tuple came from, and are kept.

    Args:
        recording: one that `check_replayable` has accepted.
        spout: its component.
        index: of the task within its component.
        tasks: how many there are.
    """

    def __init__(self, recording: Recording, spout: str, index: int, tasks: int) -> None:
        partitions = range(len(recording.header.tasks_of(spout)))[index::tasks]
        self._tagged = len(recording.streams_of(spout)) > 1
        self._coming = recording.input_of(spout, partitions)
        self._next: Recorded | None = next(self._coming, None)

    @property
    def exhausted(self) -> bool:
        """True if there are no more tuples."""
        return self._next is None

    @property
    def frontier(self) -> Position:
        """Nothing that comes later has a smaller position."""
        return END if self._next is None else self._next.position

    def take(self, limit: int) -> Emission:
        """The next tuples, at most `limit` of them."""
        taken = list(islice(self._remaining(), limit))
        rows = [recorded.values for recorded in taken]
        positions = Positions()
        for recorded in taken:
            positions.append(recorded.position)
        tags = array("H", [recorded.tag for recorded in taken]).tobytes() if self._tagged else None
        return Emission(Rows(rows, mutable=not all(map(is_plain, rows))), tags, positions)

    def _remaining(self) -> Iterator[Recorded]:
        while self._next is not None:
            current, self._next = self._next, next(self._coming, None)
            yield current


def replay_ticks(recording: Recording, component: str, index: int, tasks: int) -> ReplayTicks:
    """Return the wall-clock ticks for one task of a component.

    A task gets the ticks of the recorded task with its index. If the run had another number of tasks, every
    task gets the ticks of the first, because nobody knows which task's timer a key was under.
    """
    recorded = recording.header.tasks_of(component)
    if not recorded:
        return ReplayTicks(())
    return ReplayTicks(recording.ticks(component, index if len(recorded) == tasks else 0))


def check_replayable(recording: Recording, plan: Plan) -> None:
    """Check that a recording can be the input of a plan.

    Time and spouts must be the same, with their streams and fields. Parallelism may differ, and so may
    the bolts, so that a corrected bolt can be run on the very input that it failed on.

    Raises:
        RecordingError: it is of another topology; the message has a line for each difference.
    """
    found = list(_differences(recording.header, plan))
    if found:
        lines = "".join(f"\n  {line}" for line in found)
        raise RecordingError(f"{recording.path} cannot be replayed into {plan.topology.name!r}:{lines}")


def _differences(header: Header, plan: Plan) -> Iterator[str]:
    if header.time != plan.time:
        yield f"it was recorded by {header.time} time, not {plan.time}: set viper.time to {header.time}"
    recorded = {c.id: c for c in header.components if c.role is Role.SPOUT}
    for spout in plan.topology.spouts:
        if spout.id in recorded:
            yield from _of_spout(recorded.pop(spout.id), spout.outputs or (), plan)
        else:
            yield f"spout {spout.id!r} is not in it"
    yield from (f"it has a spout {spout!r}, which the topology has not" for spout in recorded)


def _of_spout(recorded: RecordedComponent, streams: tuple[Stream, ...], plan: Plan) -> Iterator[str]:
    if recorded.streams != streams:
        yield f"spout {recorded.id!r} emitted {_described(recorded.streams)}, now {_described(streams)}"
    elif recorded.level != plan.layout.components[recorded.id]:
        # The other spouts decide, and their order, as which one's tuples come first at the same time.
        yield f"spout {recorded.id!r} marks positions otherwise: the spouts must be defined in the same order"


def _described(streams: tuple[Stream, ...]) -> str:
    shown = (f"{s.name}({', '.join(s.fields)}){' direct' if s.direct else ''}" for s in streams)
    return ", ".join(shown) or "nothing"


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
"""The latest time that a tuple may have; output at the end of all input comes after it."""


class RecordedSpout(Spout):
    """Brings the tuples that a component has emitted in a run that was recorded, by their positions.

    It takes the place of a part of a topology, a spout or a bolt with everything before it, so that the part
    after it can run alone. It has to declare the streams of the component that it brings. By event time each
    tuple has the time that it had in the recorded run; otherwise tuples of several such spouts come together
    as those of any spouts do. Of several tasks, each has the tuples of some recorded tasks.

    Treat a recording like code: reading it runs what it says.

    Args:
        recording: its path.
        component: whose tuples these are.
        streams: the streams to bring; None for all.
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
