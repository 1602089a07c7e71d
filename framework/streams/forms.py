"""The forms of windows that a stream with a key can have, by Flink's and by Storm's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, Self

from framework.windows.lengths import length_of

Length = timedelta | int | str
"""A duration: a timedelta, a number of microseconds, or a text such as ``10s``."""


class WindowForm(Protocol):
    """How windows are formed."""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The same as arguments of a bolt, in plain values."""


@dataclass(frozen=True, slots=True)
class Tumbling:
    """Windows of a length, each of which starts where the one before ends: at the multiples of the length."""

    size: Length

    def __post_init__(self) -> None:
        _check(self, size=self.size)

    @classmethod
    def of(cls, size: Length) -> Self:
        """As the constructor; Storm's name for it."""
        return cls(size)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """As `WindowForm.arguments`."""
        return {"size": _plain(self.size)}


@dataclass(frozen=True, slots=True)
class Sliding:
    """Windows of a length, one of which starts at each multiple of another, shorter or longer one."""

    size: Length
    advance: Length

    def __post_init__(self) -> None:
        _check(self, size=self.size, advance=self.advance)

    @classmethod
    def of(cls, size: Length, advance: Length) -> Self:
        """As the constructor; Storm's name for it."""
        return cls(size, advance)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """As `WindowForm.arguments`."""
        return {"size": _plain(self.size), "advance": _plain(self.advance)}


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


def _plain(length: Length) -> int | str:
    return length // timedelta(microseconds=1) if isinstance(length, timedelta) else length
