"""The event time of the tuples that a spout emits, replayed ones included."""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from framework.common.units import MICROS_PER_SECOND, PER_SECOND, micros_of
from framework.model.errors import EmitError
from framework.runtime.order.positions.lineage import LAST
from viper.payload import Payload, Row

_LATEST_US = LAST.ts - 1
"""The latest event time; what comes after all input is placed behind it."""
AT_FRONTIER = -(1 << 63)
"""The time of a tuple that is placed as early as may be: at that of the tuple before it."""


class EventTimes:
    """Reads the time of tuples: what the emit gave, or what their timestamp field holds.

    Args:
        spout: its name, for messages.
        fields: for each port the index of its timestamp field, where it has one.
        unit: s, ms, us or ns: what a number in that field counts.
        units: the same for ports whose schema says it.
    """

    def __init__(
        self, spout: str, fields: Mapping[int, int], unit: str, units: Mapping[int, str] | None = None
    ) -> None:
        self.spout = spout
        self._fields = fields
        self._unit = unit
        self._units = units or {}

    def of(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int]) -> array[int]:
        """The time of each row in microseconds since 1970 UTC, as array("q").

        Args:
            payload: what was emitted, in order.
            tags: the port of each row as native uint16, None for a single port.
            stamps: the times that the emits gave, by index of the row.

        Raises:
            EmitError: a row has no event time.
        """
        ports = [0] * len(payload) if tags is None else memoryview(tags).cast("H")
        is_of_one = not stamps and len(payload) and (tags is None or payload.columns is not None)
        times = self._at_once(payload, ports[0]) if is_of_one else None
        if times is not None:
            return times
        return array("q", [self._time(i, row, ports[i], stamps) for i, row in enumerate(payload.rows)])

    def _at_once(self, payload: Payload, port: int) -> array[int] | None:
        """The time of each row of one stream; None where that is to be found out row by row."""
        if port not in self._fields:
            return None
        field, unit = self._fields[port], self._units.get(port, self._unit)
        is_rows = payload.columns is None
        return _whole(payload.rows, field, unit) if is_rows else payload.times(field, unit)

    def _time(self, index: int, row: Row, port: int, stamps: Mapping[int, int]) -> int:
        stamp = stamps.get(index)
        if stamp is not None:
            return stamp
        if self._fields.get(port, len(row)) >= len(row):  # nobody counts the values that nobody receives
            raise EmitError(
                f"spout {self.spout} emitted {row!r:.300} without event time: give timestamp= at the emit, "
                "or name the field with viper.timestamp.field"
            )
        return to_micros(row[self._fields[port]], self._units.get(port, self._unit), self.spout)


def _whole(rows: Sequence[Row], field: int, unit: str) -> array[int] | None:
    """The times of rows, where they are all whole numbers in range."""
    try:
        values = [row[field] for row in rows]
    except IndexError:
        return None
    if set(map(type, values)) != {int}:  # which costs a tenth of a look at each
        return None
    per_second = PER_SECOND[unit]
    if per_second != MICROS_PER_SECOND:
        values = [value * MICROS_PER_SECOND // per_second for value in values]
    return array("q", values) if min(values) >= -_LATEST_US and max(values) <= _LATEST_US else None


def to_micros(value: Any, unit: str, spout: str) -> int:
    """Event time in microseconds since 1970 UTC, see `micros_of`.

    Raises:
        EmitError: the value is no time, or out of range.
    """
    try:
        micros = micros_of(value, unit)
    except (TypeError, ValueError, OverflowError):
        raise EmitError(
            f"spout {spout}: timestamp {value!r:.100} is no time: expected a number of {unit}, a datetime, "
            "a date or an ISO 8601 text such as '2013-01-01T05:00:00Z'"
        ) from None
    if not -_LATEST_US <= micros <= _LATEST_US:
        raise EmitError(
            f"spout {spout}: timestamp {value!r:.100} is out of range when it counts {unit}: "
            "set viper.timestamp.unit to s, ms, us or ns"
        )
    return micros


def shown(time_us: int) -> str:
    """A time as messages show it."""
    return f"{time_us} us"


class Replays:
    """Recognizes replayed tuples by their ids, and gives them a time.

    A replayed tuple still has its old event time, which is before the source's present one. It is placed at
    the source's frontier, and the rule that event time must not go back does not apply to it. A tuple whose
    id cannot be hashed is not recognized.
    """

    def __init__(self) -> None:
        self._failed: set[Hashable] = set()

    def failed(self, tup_id: Any) -> None:
        """Note that the tuple with an id has failed, and may be replayed."""
        with contextlib.suppress(TypeError):
            self._failed.add(tup_id)

    def acked(self, tup_id: Any) -> None:
        """Note that the tuple with an id was acked, and will not be replayed."""
        if self._failed:
            with contextlib.suppress(TypeError):
                self._failed.discard(tup_id)

    def mark(self, ids: Iterable[tuple[int, Any]], stamps: dict[int, int]) -> None:
        """Give replayed tuples their time.

        Args:
            ids: the indexes and ids of emitted tuples.
            stamps: event times by index; those of replayed tuples are set to `AT_FRONTIER`.
        """
        if not self._failed:
            return
        for index, tup_id in ids:
            with contextlib.suppress(TypeError):
                if tup_id in self._failed:
                    stamps[index] = AT_FRONTIER
