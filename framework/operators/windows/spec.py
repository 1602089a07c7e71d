"""The forms of a bolt's windows: by Storm's configuration keys, which `WindowedBolt`'s methods write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from framework.model.errors import ConfigError
from framework.operators.windows.grids import CalendarGrid, Grid
from framework.operators.windows.lengths import Count, calendar_length_of, length_of, offset_of
from framework.operators.windows.zones import DAY_US, Zone

LENGTH_COUNT: Final = "topology.bolts.window.length.count"
LENGTH_MS: Final = "topology.bolts.window.length.duration.ms"
SLIDE_COUNT: Final = "topology.bolts.window.sliding.interval.count"
SLIDE_MS: Final = "topology.bolts.window.sliding.interval.duration.ms"
GAP_MS: Final = "viper.window.session.gap.ms"
TIME_FIELD: Final = "topology.bolts.tuple.timestamp.field.name"
LAG_MS: Final = "topology.bolts.tuple.timestamp.max.lag.ms"
LATENESS_MS: Final = "viper.window.allowed.lateness.ms"
LATE_STREAM: Final = "topology.bolts.late.tuple.stream"
WATERMARK_MS: Final = "topology.bolts.watermark.event.interval.ms"
LENGTH_MONTHS: Final = "viper.window.length.months"
SLIDE_MONTHS: Final = "viper.window.sliding.interval.months"
OFFSET_MS: Final = "viper.window.offset.ms"
ZONE: Final = "viper.window.zone"
PARTIAL: Final = "viper.window.partial"
JOIN_HOW: Final = "viper.join.how"
MOST_ROWS: Final = "viper.window.rows"
MOST_BYTES: Final = "viper.window.bytes"

FORMING: Final = (LENGTH_COUNT, LENGTH_MS, LENGTH_MONTHS, SLIDE_COUNT, SLIDE_MS, SLIDE_MONTHS, GAP_MS)
"""The keys that say how windows are formed.

Methods that set another form set all of these.
"""
PLACING: Final = (OFFSET_MS, ZONE)
"""The keys that say where such windows begin, if not at the multiples of their interval in UTC."""
BEHIND_TIME: Final = 1 << 62
"""Tuples at this time or later lie after all that has a time."""
_LONGEST_US: Final = 1 << 60
"""A duration that no two event times exceed; the end of a window must be a time as well."""
_MONTH_US: Final = 31 * DAY_US
"""No month is longer."""
_MONDAY: Final = timedelta(days=4)
"""From the first day of 1970 to its first Monday."""


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """The form of a bolt's windows.

    Times are in microseconds. Exactly one of the lengths is set, and one of the slides; or the gap alone.
    """

    length_count: int | None = None
    """Tuples in a window."""
    length_us: int | None = None
    """The length of a window before its end, which belongs to it; its start does not."""
    slide_count: int | None = None
    """Tuples from one window to the next; each fires with the tuple that completes it."""
    slide_us: int | None = None
    """Time from the end of one window to that of the next; all ends are multiples of it."""
    gap_us: int | None = None
    """Of sessions: the time without a tuple that ends one."""
    offset_us: int = 0
    """The time by which windows end and start later than at multiples of `slide_us`; with a zone by its
    clocks."""
    zone: str | None = None
    """The zone whose days or months windows have."""
    length_months: int | None = None
    """The number of months in a window of months; `length_us` is no less then."""
    slide_months: int | None = None
    """Months from one window to the next, likewise."""

    @property
    def is_timed(self) -> bool:
        """True if windows end at times, and not with tuples."""
        return self.slide_us is not None or self.gap_us is not None

    @property
    def has_durations(self) -> bool:
        """True if its windows have a length or an interval in time."""
        return self.is_timed or self.length_us is not None

    @property
    def tumbles(self) -> bool:
        """True if each window by time begins where the one before ends."""
        return self.length_us is not None and self.length_us == self.slide_us

    def grid(self) -> Grid:
        """The bounds of windows that come every so much time.

        Raises:
            ConfigError: the zone is not known here.
        """
        assert self.slide_us is not None, "other windows have no bounds by time"
        size_us = self.slide_us if self.length_us is None else self.length_us
        if self.zone is None:
            return Grid(size_us, self.slide_us, self.offset_us)
        if self.slide_months is not None:
            size = self.slide_months if self.length_months is None else self.length_months
            return CalendarGrid(Zone(self.zone), size, self.slide_months, self.offset_us, months=True)
        return CalendarGrid(Zone(self.zone), size_us // DAY_US, self.slide_us // DAY_US, self.offset_us)


def spec_in(conf: Mapping[str, Any]) -> WindowSpec | None:
    """Return the form of windows that a component's configuration sets; None if it sets none.

    Raises:
        ConfigError: it sets two forms, or only a part of one, or a beginning for windows that cannot have
            one.
    """
    chosen = {key: conf[key] for key in FORMING if conf.get(key) is not None}
    if not chosen:
        return None
    told = ", ".join(f"{key}: {value}" for key, value in chosen.items())
    placed = {key: conf[key] for key in PLACING if conf.get(key) not in (None, 0)}
    if GAP_MS in chosen:
        if len(chosen) > 1:
            raise ConfigError(f"{told}: expected a session's gap, or a length and an interval")
        _refuse_placing(told, placed)
        return WindowSpec(gap_us=_us(chosen[GAP_MS]))
    length = _one_of(told, chosen, LENGTH_COUNT, LENGTH_MS, LENGTH_MONTHS)
    slide = _one_of(told, chosen, SLIDE_COUNT, SLIDE_MS, SLIDE_MONTHS) if len(chosen) > 1 else SLIDE_COUNT
    if slide == SLIDE_COUNT:
        if length == LENGTH_MONTHS:
            raise ConfigError(f"{told}: expected {SLIDE_MONTHS} as well")
        _refuse_placing(told, placed)
    months = [key for key in (length, slide) if key in (LENGTH_MONTHS, SLIDE_MONTHS)]
    if len(months) == 1 and length != LENGTH_COUNT:
        raise ConfigError(f"{told}: expected both in months, or both in milliseconds")
    if months and ZONE not in placed:
        raise ConfigError(f"{told}: expected {ZONE} as well, as months are those of a zone, such as UTC")
    if ZONE in placed:
        Zone(placed[ZONE])
        for key in (LENGTH_MS, SLIDE_MS):
            if chosen.get(key, 0) * 1000 % DAY_US:
                raise ConfigError(
                    f"{key}: {chosen[key]} with {ZONE}: {placed[ZONE]}: expected whole days, a multiple of "
                    f"86400000; windows of other lengths are the same in every zone: leave out {ZONE}"
                )
    slide_us = _length_us(chosen, SLIDE_MS, SLIDE_MONTHS)
    offset_us = round(placed.get(OFFSET_MS, 0) * 1000)
    return WindowSpec(
        chosen.get(LENGTH_COUNT),
        _length_us(chosen, LENGTH_MS, LENGTH_MONTHS),
        chosen.get(SLIDE_COUNT, 1) if slide == SLIDE_COUNT else None,
        slide_us,
        # A whole interval later, the windows are the same; months are not of one length.
        offset_us=offset_us if slide_us is None or months else offset_us % slide_us,
        zone=placed.get(ZONE),
        length_months=chosen.get(LENGTH_MONTHS),
        slide_months=chosen.get(SLIDE_MONTHS),
    )


def _one_of(told: str, chosen: Mapping[str, Any], by_count: str, by_time: str, by_months: str) -> str:
    found = [key for key in (by_count, by_time, by_months) if key in chosen]
    if len(found) != 1:
        raise ConfigError(f"{told}: expected one of {by_count} and {by_time}, or {by_months}")
    return found[0]


def _refuse_placing(told: str, placed: Mapping[str, Any]) -> None:
    """Refuse a zone or an offset for windows that begin or end with tuples, and so have no place in time."""
    for key, value in placed.items():
        raise ConfigError(
            f"{told} with {key}: {value}: expected {SLIDE_MS}, as only windows that come every so much time "
            f"have an offset and a zone; leave out {key}"
        )


def _length_us(chosen: Mapping[str, Any], by_time: str, by_months: str) -> int | None:
    if by_months in chosen:
        return min(int(chosen[by_months]) * _MONTH_US, _LONGEST_US)
    return _us(chosen[by_time]) if by_time in chosen else None


def _us(milliseconds: float) -> int:
    return max(round(min(milliseconds * 1000, _LONGEST_US)), 1)


def forming(length: object, sliding: object, offset: object = None, zone: object = None) -> dict[str, Any]:
    """The configuration of windows of a length, the next of which each fires an interval later.

    Args:
        length: a `Count` or a timedelta; with a zone days, weeks or months, as of `calendar_length_of`.
        sliding: likewise.
        offset: how much later than at the multiples of the interval windows begin, or earlier; as of
            `offset_of`, None for nothing.
        zone: the name of the zone whose days, weeks or months they are, or a ZoneInfo; None for UTC.

    Raises:
        TypeError: one of them is none of these.
        ValueError: a length is not above 0, an offset or a zone is of windows that have none, or a zone is
            not known here.
    """
    made: dict[str, Any] = dict.fromkeys(FORMING)
    shift = timedelta(0) if offset is None else offset_of("the offset", offset)
    if zone is None:
        made |= _entry("the length of a window", length, LENGTH_COUNT, LENGTH_MS)
        made |= _entry("an interval", sliding, SLIDE_COUNT, SLIDE_MS)
    else:
        made[ZONE] = _zone_name(zone)
        made |= _calendar_entry("the length of a window", length, LENGTH_COUNT, LENGTH_MS, LENGTH_MONTHS)
        made |= _calendar_entry("an interval", sliding, SLIDE_COUNT, SLIDE_MS, SLIDE_MONTHS)
        if isinstance(sliding, str) and calendar_length_of("an interval", sliding).is_weeks:
            shift += _MONDAY
    if offset is not None or shift:
        made[OFFSET_MS] = _plain_ms(shift)
    spec_in(made)
    return made


def _zone_name(zone: object) -> str:
    found = zone.key if isinstance(zone, ZoneInfo) else zone
    if not isinstance(found, str) or not found:
        raise TypeError(f"zone is {zone!r}: expected the name of a zone, such as 'Europe/Berlin'")
    return found


def _calendar_entry(what: str, value: object, by_count: str, by_time: str, by_months: str) -> dict[str, Any]:
    if isinstance(value, Count):
        return _entry(what, value, by_count, by_time)
    found = calendar_length_of(what, value)
    if found.is_months:
        return {by_months: found.number}
    return {by_time: found.number * DAY_US // 1000}


def forming_sessions(gap: object) -> dict[str, Any]:
    """The configuration of sessions; errors as of `forming`, also for a `Count`."""
    return {**dict.fromkeys(FORMING), GAP_MS: milliseconds("the gap of a session", gap)}


def milliseconds(what: str, value: object, *, zero: bool = False) -> float:
    """A duration, or a text such as ``10s``, as a number of milliseconds.

    Raises:
        TypeError: it is none.
        ValueError: it is below 0, or 0 where that means nothing; or a text without a number and a unit.
    """
    if isinstance(value, str):
        value = length_of(what, value)
    if not isinstance(value, timedelta):
        raise TypeError(f"{what} is {value!r}: expected a timedelta, or a text such as '10s'")
    if value < timedelta(0) or not (value or zero):
        raise ValueError(f"{what} is {value!r}: expected {'at least' if zero else 'more than'} 0")
    return _plain_ms(value)


def _plain_ms(value: timedelta) -> float:
    found = value / timedelta(milliseconds=1)
    return int(found) if found.is_integer() else found


def _entry(what: str, value: object, by_count: str, by_time: str) -> dict[str, Any]:
    if isinstance(value, timedelta):
        return {by_time: milliseconds(what, value)}
    if not isinstance(value, Count):
        raise TypeError(
            f"{what} is {value!r}: expected a Count, such as Count(10), or a timedelta, such as "
            "Duration.seconds(10)"
        )
    if value < 1:
        raise ValueError(f"{what} is {value!r}: expected more than 0")
    return {by_count: int(value)}
