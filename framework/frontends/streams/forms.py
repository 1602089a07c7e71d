"""The forms of windows that a stream with a key can have, by Flink's and by Storm's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import Any, Protocol, Self
from zoneinfo import ZoneInfo

from framework.operators.windows.lengths import length_of
from framework.operators.windows.spec import forming

Length = timedelta | int | str
"""A duration: a timedelta, a number of microseconds, or a text such as ``10s``."""
Zone = str | ZoneInfo
"""A time zone: its name, such as ``Europe/Berlin``, or a ZoneInfo that has one."""


class WindowForm(Protocol):
    """A form of windows."""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The same as arguments of a bolt, in plain values."""


@dataclass(frozen=True, slots=True)
class Tumbling:
    """Windows of a length, each of which starts where the one before ends: at the multiples of the length."""

    size: Length
    """With a zone its days, weeks or months: ``1d``, ``1w`` or ``1mo``."""
    _: KW_ONLY
    offset: Length | None = None
    """The time by which windows start later than at these multiples; earlier, if it is below 0, as
    ``-30m``."""
    zone: Zone | None = None
    """The zone whose days begin where windows do, the offset later by its clocks; UTC, if None."""

    def __post_init__(self) -> None:
        _check_placed(self, self.offset, self.zone, size=self.size)

    @classmethod
    def of(cls, size: Length) -> Self:
        """As the constructor; Storm's name for it."""
        return cls(size)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """As `WindowForm.arguments`."""
        return {"size": _plain(self.size, self.zone), **_placed(self.offset, self.zone)}


@dataclass(frozen=True, slots=True)
class Sliding:
    """Windows of a length, one of which starts at each multiple of another, shorter or longer one."""

    size: Length
    """As of `Tumbling`."""
    advance: Length
    """Likewise."""
    _: KW_ONLY
    offset: Length | None = None
    """As of `Tumbling`."""
    zone: Zone | None = None
    """As of `Tumbling`."""

    def __post_init__(self) -> None:
        _check_placed(self, self.offset, self.zone, size=self.size, advance=self.advance)

    @classmethod
    def of(cls, size: Length, advance: Length) -> Self:
        """As the constructor; Storm's name for it."""
        return cls(size, advance)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """As `WindowForm.arguments`."""
        lengths = {"size": _plain(self.size, self.zone), "advance": _plain(self.advance, self.zone)}
        return {**lengths, **_placed(self.offset, self.zone)}


@dataclass(frozen=True, slots=True)
class Session:
    """Windows that each end when no tuple with the key has come for some time."""

    gap: Length

    def __post_init__(self) -> None:
        _check(self, gap=self.gap)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """As `WindowForm.arguments`."""
        return {"gap": _plain(self.gap)}


@dataclass(frozen=True, slots=True)
class CountWindow:
    """Windows of so many tuples with one key, each of which starts so many tuples behind the one before."""

    count: int
    slide: int | None = None
    """As many as a window has, if None."""

    def __post_init__(self) -> None:
        for name, value in (("count", self.count), ("slide", self.slide)):
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(f"CountWindow: {name} is {value!r}, expected a number of tuples above 0")

    @property
    def arguments(self) -> Mapping[str, Any]:
        """As `WindowForm.arguments`."""
        return {"count": self.count, **({} if self.slide is None else {"slide": self.slide})}


TumblingWindows = Tumbling
"""Storm's name for it."""
SlidingWindows = Sliding
"""Storm's name for it."""


def _check(form: object, **lengths: Length) -> None:
    for name, value in lengths.items():
        length = length_of(f"{type(form).__name__}: {name}", value)
        if not isinstance(length, timedelta) or length <= timedelta(0):
            raise ValueError(f"{type(form).__name__}: {name} is {value!r}, expected a duration above 0")


def _check_placed(
    form: object, offset: Length | None, zone: Zone | None, **lengths: Length
) -> None:
    """Check the beginning of windows that come every so much time, likewise."""
    if zone is None:
        _check(form, **lengths)
    name = type(form).__name__
    size, *others = (
        value if zone is not None else length_of(f"{name}: {what}", value) for what, value in lengths.items()
    )
    try:
        forming(size, others[0] if others else size, offset, zone)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error


def _plain(length: Length, zone: Zone | None = None) -> int | str:
    if not isinstance(length, timedelta):
        return length
    micros = length // timedelta(microseconds=1)
    return micros if zone is None else f"{length // timedelta(days=1)}d"


def _placed(offset: Length | None, zone: Zone | None) -> Mapping[str, Any]:
    """The arguments that say where windows start."""
    made: dict[str, Any] = {} if offset is None else {"offset": _plain(offset)}
    return made if zone is None else {**made, "zone": zone.key if isinstance(zone, ZoneInfo) else zone}
