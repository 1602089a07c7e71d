"""Time zones: from an instant to what clocks there show, and back.

An instant is a number of microseconds since 1970 in UTC, as event times are. A reading is what a clock of the
zone shows, as if it were such a number. Both may be any integer: Python knows the years 1 to 9999, and the
rules of a zone repeat every 400 years.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from framework.model.errors import ConfigError
from framework.model.topology import did_you_mean

SECOND_US: Final = 10**6
DAY_US: Final = 86_400 * SECOND_US
_MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1)
_CYCLE_US: Final = 146_097 * DAY_US
"""400 years of the calendar, which are whole weeks. Behind the last change of a zone that has a date of its
own, its rules give the same for each of them."""
_LEAST_US: Final = (datetime(2, 1, 1) - _EPOCH) // _MICROSECOND
"""Before it clocks show what they showed until the first change."""
_MOST_US: Final = (datetime(2800, 1, 1) - _EPOCH) // _MICROSECOND
_TOLD: Final = range((datetime(1800, 1, 1) - _EPOCH).days, (datetime(2100, 1, 1) - _EPOCH).days)
"""The days that `Zone.rules` covers.

The last change that any zone has by its own date is in 2087.
"""
INSTALL: Final = "install the system's package tzdata, or: pip install viperstorm[zones]"


class Zone:
    """The clocks of a time zone.

    Args:
        name: as the time zone database has it, such as ``Europe/Berlin``.

    Raises:
        ConfigError: it is not known here.
    """

    __slots__ = ("_info", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._info = _info_of(name)

    def offset_us(self, instant_us: int) -> int:
        """Return the microseconds by which clocks are ahead of UTC at an instant."""
        second = (instant_us + _into_known_years(instant_us)) // SECOND_US
        offset = datetime.fromtimestamp(second, self._info).utcoffset()
        assert offset is not None, "a ZoneInfo knows the offset of each time"
        return offset // _MICROSECOND

    def first_at(self, reading_us: int) -> int:
        """The first instant at which clocks show a time, or one behind it.

        A time that they show twice is the first of both. One that they leave out is the instant at which they
        are set forward.
        """
        shift_us = _into_known_years(reading_us)
        reading_us += shift_us
        shown = (_EPOCH + timedelta(microseconds=reading_us)).replace(tzinfo=self._info)
        one, other = (
            reading_us - (shown.replace(fold=fold).utcoffset() or timedelta()) // _MICROSECOND
            for fold in (0, 1)
        )
        if one > other:  # it is left out; `one` is by the clock before, `other` by the one behind
            one = _first(other, one, lambda at: at + self.offset_us(at) >= reading_us)
        return one - shift_us

    @property
    def rules(self) -> str:
        """A digest of all its offsets: of two machines with the same one, clocks of the zone are the same."""
        return _rules_of(self.name)


@lru_cache
def _rules_of(name: str) -> str:
    zone, found = Zone(name), []
    before = zone.offset_us(_TOLD[0] * DAY_US)
    for day in _TOLD:
        offset = zone.offset_us(day * DAY_US)
        if offset != before:
            is_there = partial(_has_offset, zone, offset)
            found.append((_first((day - 1) * DAY_US, day * DAY_US, is_there), offset))
            before = offset
    return hashlib.sha256(repr((before, found)).encode()).hexdigest()[:16]


def _has_offset(zone: Zone, offset_us: int, instant_us: int) -> bool:
    return zone.offset_us(instant_us) == offset_us


def _first(least: int, most: int, is_there: Callable[[int], bool]) -> int:
    """The first instant of a range from which on something is there; it is there at the last one."""
    while least < most:
        middle = (least + most) // 2
        if is_there(middle):
            most = middle
        else:
            least = middle + 1
    return most


def _into_known_years(time_us: int) -> int:
    """Return the offset that brings a time into Python's range, without a change of its day in the
    calendar."""
    if time_us < _LEAST_US:
        return -(-(_LEAST_US - time_us) // _CYCLE_US) * _CYCLE_US
    if time_us >= _MOST_US:
        return -((time_us - _MOST_US) // _CYCLE_US + 1) * _CYCLE_US
    return 0


def _info_of(name: str) -> ZoneInfo:
    try:
        # The zones of "right/" count leap seconds, which event times do not, and zoneinfo does not know of.
        if not name.startswith("right/"):
            return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        pass
    known = sorted(available_timezones())
    if not known:
        raise ConfigError(f"zone {name!r}: this machine has no time zones: {INSTALL}")
    raise ConfigError(
        f"unknown zone {name!r}: expected a name of the time zone database, such as 'Europe/Berlin' or "
        f"'UTC'; if it is newer than the database of this machine, {INSTALL}{did_you_mean(name, known)}"
    )
