"""The work of a merge bolt's task, which passes on its input: at the same positions, in batches."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence

from framework.runtime.exchange.pieces import InputStream, Piece
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.processors import DONE
from viper.jumbo import Emission
from viper.payload import Payload, worth_joining
from viper.position import Positions

_Part = tuple[Payload, "array[int] | None"]
"""Some tuples, and for each the index of its stream, where there are several."""


class Forwarder:
    """Sends the tuples of a slice on as they are.

    Args:
        emitter: sends them.
        counters: the task's.
        acker: answers for them; None where nothing is tracked.
        streams: the index of each stream by its component and name.
    """

    left_open = 0
    last_begun = 0
    may_need_component = False
    """No component is called."""

    def __init__(
        self,
        emitter: Emitter,
        counters: TaskCounters,
        acker: Acker | None,
        streams: Mapping[tuple[str, str], int],
    ) -> None:
        self._emitter = emitter
        self._counters = counters
        self._acker = acker
        self._streams = streams
        self._positions = Positions()
        self._first = 0

    def begin(self, positions: Positions) -> None:
        """Prepare for tuples at these positions."""
        self._positions, self._first = positions, 0

    def process(self, pieces: list[Piece]) -> Iterable[None]:
        """Send them on."""
        parts = [self._part(piece) for piece in pieces]
        while parts:
            count = worth_joining([payload for payload, _ in parts])
            payload, tags = _joined(parts[:count])
            self._send(payload, None if tags is None else tags.tobytes())
            del parts[:count]
        return DONE

    def _part(self, piece: Piece) -> _Part:
        rows, first, count = piece[:3]
        payload: Payload = rows.slice(first, count)
        if len(self._streams) == 1:
            return payload, None
        if len(piece) == 4:
            return payload, array("H", [self._tag(piece[3])]) * count
        tags, which = [self._tag(stream) for stream in piece[3]], memoryview(piece[4]).cast("H")
        return payload, array("H", map(tags.__getitem__, which[first : first + count]))

    def _tag(self, stream: InputStream) -> int:
        return self._streams[stream.component, stream.name]

    def _send(self, payload: Payload, tags: bytes | None) -> None:
        count, positions = len(payload), Positions()
        positions.extend_from(self._positions, self._first, count)
        self._emitter.send(Emission(payload, tags, positions, may_be_tracked=True))
        self._first += count
        self._counters.emitted += count
        if self._acker is not None:
            self._acker.passed(count)


def _joined(parts: Sequence[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    first, *others = (payload for payload, _ in parts)
    if parts[0][1] is None:
        return first.joined(*others), None
    tags = array("H")
    for _, part in parts:
        tags.extend(part or ())
    return first.joined(*others), tags
