"""Conditions of joins: which tuple of one stream belongs to which of another."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from framework.common.coroutines import check_awaits_nothing
from framework.model.importing import import_object
from framework.model.topology import unknown
from framework.operators.windows.grids import Grid
from framework.operators.windows.spec import WindowSpec, forming, spec_in
from framework.operators.windows.zones import DAY_US
from viper.hashing import are_partners

Span = str | timedelta
"""A duration: a timedelta, or a text such as ``"5m"``."""
Match = Callable[[tuple[Any, ...], tuple[Any, ...]], Any]
"""Says of the values of two tuples, left and right, whether they belong together."""

_UNITS: Final = {"us": 1, "ms": 1000, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_SPAN: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|m|h|d)", re.ASCII)


def span_us(what: str, span: object) -> int:
    """A duration in microseconds.

    Raises:
        TypeError: it is neither text nor timedelta.
        ValueError: it is below 0, or a text in another form.
    """
    if isinstance(span, timedelta):
        found = span // timedelta(microseconds=1)
    elif isinstance(span, str):
        parts = _SPAN.fullmatch(span.strip())
        if parts is None:
            units = ", ".join(_UNITS)
            raise ValueError(f"{what} is {span!r}: expected a number and one of {units}, as in '5m'")
        found = round(float(parts["number"]) * _UNITS[parts["unit"]])
    else:
        raise TypeError(f"{what} is {span!r}: expected a duration, such as '5m' or timedelta(minutes=5)")
    if found < 0:
        raise ValueError(f"{what} is {span!r}: expected a duration of 0 or more")
    return found


@dataclass(frozen=True, slots=True)
class Pair:
    """Two fields whose values are compared. A None on either side never matches, nor does NaN.

    Values are equal if they are one key, as of a grouping (`viper.hashing.comparable`).
    """

    left: str
    right: str
    width: float | None = None
    """The largest distance of the values; None if they must be equal."""

    def holds(self, left: Any, right: Any) -> bool:
        """True if the condition holds for two values of any types; Python subtracts the numbers of a band.

        Raises:
            TypeError: values that must be equal are no keys, or those of a band no numbers.
        """
        if left is None or right is None:
            return False
        if self.width is None:
            return are_partners(left, right)
        return _is_finite(left) and _is_finite(right) and bool(abs(left - right) <= self.width)

    def __str__(self) -> str:
        if self.width is None:
            return f"{self.left} = {self.right}"
        return f"|{self.left} - {self.right}| <= {self.width}"


def _is_finite(number: Any) -> bool:
    """False of what lies in no band; a Decimal that is NaN would raise where it is compared."""
    return isinstance(number, int) or math.isfinite(number)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of two matching tuples' distance in time, in microseconds."""

    before_us: int
    """The time by which the right tuple may be earlier than the left one."""
    after_us: int
    """The time by which it may be later."""
    window: WindowSpec | None = None
    """The tumbling windows of which one must have both; None where that does not matter."""
    _grid: Grid | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_grid", None if self.window is None else self.window.grid())

    def least_us(self, time_us: int, *, is_left: bool) -> int:
        """The time before which no stored tuple matches one that comes now, on the given side."""
        least = time_us - (self.before_us if is_left else self.after_us)
        return least if self._grid is None else max(least, self._grid.first_start(time_us))

    def hold(self, left_us: int, right_us: int) -> bool:
        """True if the times of two tuples lie within these bounds."""
        if not -self.before_us <= right_us - left_us <= self.after_us:
            return False
        return self._grid is None or self._grid.pane_at(left_us) == self._grid.pane_at(right_us)

    def end_us(self, time_us: int, *, is_left: bool) -> int:
        """The time from which on no tuple comes that matches one of this time, on the given side."""
        end = time_us + (self.after_us if is_left else self.before_us) + 1
        return end if self._grid is None else min(end, self._grid.pane_until(time_us))


@dataclass(frozen=True, slots=True)
class Condition:
    """All of what is asked of two tuples. Two conditions, or one and a function, are combined by ``&``."""

    pairs: tuple[Pair, ...] = ()
    bounds: tuple[Bounds, ...] = ()
    functions: tuple[Match, ...] = ()

    def __and__(self, other: Condition | Match) -> Condition:
        also = as_condition(other)
        return Condition(
            self.pairs + also.pairs, self.bounds + also.bounds, self.functions + also.functions
        )

    def __rand__(self, other: Match) -> Condition:
        return as_condition(other) & self

    def least_us(self, time_us: int, *, is_left: bool) -> int:
        """As `Bounds.least_us`, of all bounds."""
        return max(bounds.least_us(time_us, is_left=is_left) for bounds in self.bounds)

    def end_us(self, time_us: int, *, is_left: bool) -> int:
        """As `Bounds.end_us`, of all bounds."""
        return min(bounds.end_us(time_us, is_left=is_left) for bounds in self.bounds)

    def __str__(self) -> str:
        names = [getattr(function, "__name__", "function") for function in self.functions]
        return " and ".join([*map(str, self.pairs), *(f"{name}(left, right)" for name in names)]) or "any"


def Equal(*fields: str, left: str | None = None, right: str | None = None) -> Condition:
    """Fields have the same value.

    Args:
        fields: names that both streams have.
        left: a field of the left stream alone, which equals `right`.
        right: the right stream's.

    Raises:
        ValueError: neither fields nor both of `left` and `right`.
    """
    if (left is None) != (right is None) or not (fields or left):
        told = f"Equal({fields!r}, {left=}, {right=})"
        raise ValueError(f"{told}: expected Equal('field') or Equal(left=, right=)")
    pairs = [Pair(name, name) for name in fields]
    return Condition((*pairs, Pair(left, right)) if left and right else tuple(pairs))


def Band(
    width: float | None = None, *, left: str | None = None, right: str | None = None, **widths: float
) -> Condition:
    """Numbers lie no further apart than a width, the bounds included.

    ``Band(x=10, y=10)`` is for fields that both streams have, ``Band(10, left="x", right="a")`` for others.

    Args:
        width: of `left` and `right`.
        left: a field of the left stream.
        right: one of the right stream.
        widths: the width of each field.

    Raises:
        ValueError: one without the others, nothing at all, or a width that is below 0 or infinite.
    """
    one = (width, left, right)
    if any(given is None for given in one) != all(given is None for given in one) or not (widths or left):
        raise ValueError("Band() takes Band(field=width, ...) or Band(width, left='field', right='field')")
    pairs = [Pair(name, name, _checked(name, found)) for name, found in widths.items()]
    if width is not None and left is not None and right is not None:
        pairs.append(Pair(left, right, _checked(left, width)))
    return Condition(tuple(pairs))


def _checked(name: str, width: object) -> float:
    if not isinstance(width, int | float) or isinstance(width, bool) or not (0 <= width < math.inf):
        raise ValueError(f"the band of {name!r} is {width!r}: expected a number from 0 on")
    return width


def Within(
    span: Span | None = None, *, before: Span | None = None, after: Span | None = None
) -> Condition:
    """The right tuple's event time lies from `before` ahead of the left one's to `after` behind it.

    Both bounds are included, as in Flink's interval joins.

    Args:
        span: for both.
        before: how much earlier the right one may be; 0 where only `after` is given.
        after: how much later; 0 where only `before` is given.

    Raises:
        TypeError: no duration.
        ValueError: below 0, none at all, or `span` beside one of the others.
    """
    if (span is None) == (before is None and after is None):
        raise ValueError("Within() takes Within('5m'), or before= and after=, one of them at least")
    ahead, behind = (before, after) if span is None else (span, span)
    before_us = 0 if ahead is None else span_us("before", ahead)
    return Condition(bounds=(Bounds(before_us, 0 if behind is None else span_us("after", behind)),))


def SameWindow(
    size: Span, *, offset: timedelta | int | str | None = None, zone: str | ZoneInfo | None = None
) -> Condition:
    """Both lie in one tumbling window of event time, [start, start + size), starts being multiples of size.

    Args:
        size: how long windows are.
        offset: as of `Tumbling`.
        zone: likewise.

    Raises:
        TypeError: no duration.
        ValueError: one that is not above 0; or as of `Tumbling`.
    """
    if zone is not None:
        window = spec_in(forming(size, size, offset, zone))
    else:
        size_us = span_us("the size", size)
        if not size_us:
            raise ValueError(f"the size of windows is {size!r}: expected more than 0")
        length = timedelta(microseconds=size_us)
        window = spec_in(forming(length, length, offset))
    assert window is not None and window.length_us is not None
    # A day may have two, where a zone has had one twice.
    most_us = window.length_us + (0 if zone is None else 2 * DAY_US)
    return Condition(bounds=(Bounds(most_us, most_us, window),))


One = Condition | Match | str | Mapping[str, Any]
Given = One | Sequence[One]
"""A condition, also as YAML has it; a function or its dotted path; or several, all of which must hold."""


def as_condition(given: Given) -> Condition:
    """One condition of what was given.

    Raises:
        LoadError: nothing has that dotted path.
        TypeError: it is no condition.
        ValueError: a condition of that name is not known, or does not take what it is given.
    """
    if isinstance(given, Condition):
        return given
    if isinstance(given, str):
        return as_condition(_function(given))
    if isinstance(given, Mapping):
        return _written(given)
    if callable(given):
        check_awaits_nothing("a condition", given)
        return Condition(functions=(given,))
    if not isinstance(given, Sequence):
        raise TypeError(f"{given!r} is no condition: expected Equal(), Band(), Within() or a function")
    made = Condition()
    for one in given:
        made = made & as_condition(one)
    return made


def _written(given: Mapping[str, Any]) -> Condition:
    """Conditions as YAML has them: arguments by the names of the functions, in small letters."""
    made = Condition()
    for name, arguments in given.items():
        if name not in _BY_NAME:
            raise ValueError(unknown("condition", name, _BY_NAME))
        function = _BY_NAME[name]
        if isinstance(arguments, Mapping):
            made &= function(**arguments)
        else:
            made &= function(*arguments) if isinstance(arguments, list | tuple) else function(arguments)
    return made


_BY_NAME: Final[Mapping[str, Callable[..., Condition]]] = {
    "equal": Equal,
    "band": Band,
    "within": Within,
    "same_window": SameWindow,
}


def _function(path: str) -> Match:
    found = import_object(path)
    if not callable(found):
        raise TypeError(f"{path!r} is a {type(found).__name__}: expected a function of two tuples")
    function: Match = found
    return function


Side = Literal[0, 1]
"""0 for the left stream, 1 for the right one."""
