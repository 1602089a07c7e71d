"""How a bolt's windows are formed: by Storm's configuration keys, which `WindowedBolt`'s methods write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from framework.errors import ConfigError
from framework.windows.lengths import Count, length_of

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
OFFSET_MS: Final = "viper.window.offset.ms"
PARTIAL: Final = "viper.window.partial"
JOIN_HOW: Final = "viper.join.how"
MOST_ROWS: Final = "viper.window.rows"
MOST_BYTES: Final = "viper.window.bytes"

FORMING: Final = (LENGTH_COUNT, LENGTH_MS, SLIDE_COUNT, SLIDE_MS, GAP_MS)
"""The keys that say how windows are formed. Methods that form them anew set all of these."""
_LONGEST_US: Final = 1 << 60
"""A duration that no two event times exceed; the end of a window must be a time as well."""


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """How windows are formed. Times are in microseconds.

    Exactly one of the lengths is there, and one of the slides; or the gap alone.
    """

    length_count: int | None = None
    """Tuples in a window."""
    length_us: int | None = None
    """How far a window reaches back behind its end, which belongs to it; its other end does not."""
    slide_count: int | None = None
    """Tuples from one window to the next; each fires with the tuple that completes it."""
    slide_us: int | None = None
    """Time from the end of one window to that of the next; all ends are multiples of it."""
    gap_us: int | None = None
    """Of sessions: the time without a tuple that ends one."""

    @property
    def is_timed(self) -> bool:
        """Whether windows end at times, and not with tuples."""
        return self.slide_us is not None or self.gap_us is not None

    @property
    def has_durations(self) -> bool:
        """Whether it needs to know how long a microsecond is."""
        return self.is_timed or self.length_us is not None


def spec_in(conf: Mapping[str, Any]) -> WindowSpec | None:
    """How a component's configuration forms windows; None where it says nothing of them.

    Raises:
        ConfigError: it says it twice, or by halves.
    """
    chosen = {key: conf[key] for key in FORMING if conf.get(key) is not None}
    if not chosen:
        return None
    told = ", ".join(f"{key}: {value}" for key, value in chosen.items())
    if GAP_MS in chosen:
        if len(chosen) > 1:
            raise ConfigError(f"{told}: expected a session's gap, or a length and an interval")
        return WindowSpec(gap_us=_us(chosen[GAP_MS]))
    if (LENGTH_COUNT in chosen) == (LENGTH_MS in chosen):
        raise ConfigError(f"{told}: expected one of {LENGTH_COUNT} and {LENGTH_MS}")
    if SLIDE_COUNT in chosen and SLIDE_MS in chosen:
        raise ConfigError(f"{told}: expected one of {SLIDE_COUNT} and {SLIDE_MS}")
    by_time = SLIDE_MS in chosen
    return WindowSpec(
        chosen.get(LENGTH_COUNT),
        _us(chosen[LENGTH_MS]) if LENGTH_MS in chosen else None,
        None if by_time else chosen.get(SLIDE_COUNT, 1),
        _us(chosen[SLIDE_MS]) if by_time else None,
    )


def _us(milliseconds: float) -> int:
    return max(round(min(milliseconds * 1000, _LONGEST_US)), 1)


def forming(length: object, sliding: object) -> dict[str, Any]:
    """The configuration of windows of a length, the next of which each fires an interval later.

    Raises:
        TypeError: one of them is neither a `Count` nor a duration.
        ValueError: one of them is not above 0.
    """
    lengths = _entry("the length of a window", length, LENGTH_COUNT, LENGTH_MS)
    return {**dict.fromkeys(FORMING), **lengths, **_entry("an interval", sliding, SLIDE_COUNT, SLIDE_MS)}


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
