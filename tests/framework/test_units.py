"""Event time as users write it."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from framework.units import micros_of

NOON = 1_357_041_600_000_000
"""2013-01-01T12:00:00Z in microseconds since 1970."""
NOON_TEXTS = (
    "2013-01-01T12:00:00Z",
    "2013-01-01 12:00:00",
    "  2013-01-01T12:00  ",
    "2013-1-1 12:0:0",
    "2013-01-01T12",
    "2013-01-01T12:00:00.000",
    "2013-01-01T14:00:00+02:00",
    "2013-01-01T14:00:00 +0200",
    "2013-01-01T14:00:00+2",
    "2013-01-01T06:30:00-05:30",
    "2013-01-01T13:00:00 Europe/Berlin",
    "2013-01-01T12:00:00UTC",
    "2013-01-01T13:00:00 GMT+1",
)
NO_TEXTS = (
    "",
    "noon",
    "5",
    "20130101",
    "12:00",
    "2013-01",
    "2013-13-01",
    "2013-02-30",
    "2013-01-01T25:00",
    "2013-01-01T12:00 Nowhere/Else",
    "2013-01-01T12:00 ../../etc",
    "2013-01-01T12:00+25:00",
    "13-01-01",
)
HOUR = 3_600_000_000
ZONE = datetime.timezone(datetime.timedelta(hours=2))


@pytest.mark.parametrize("text", NOON_TEXTS)
def test_texts_of_one_moment(text: str) -> None:
    assert micros_of(text, "s") == NOON


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2013-01-01", NOON - 12 * HOUR),
        (datetime.date(2013, 1, 1), NOON - 12 * HOUR),
        (datetime.datetime(2013, 1, 1, 12), NOON),
        (datetime.datetime(2013, 1, 1, 14, tzinfo=ZONE), NOON),
        ("2013-01-01T12:00:00.5Z", NOON + 500_000),
        ("2013-01-01T12:00:00.1234567Z", NOON + 123_456),
        ("1969-12-31T23:59:59.9999999Z", -1),
        (1.5, 1_500_000),
        (-3, -3_000_000),
        (Decimal("0.25"), 250_000),
    ],
)
def test_moments(value: Any, expected: int) -> None:
    assert micros_of(value, "s") == expected


@pytest.mark.parametrize("text", [*NO_TEXTS, "٢٠١٣-01-01"])
def test_texts_that_are_no_time(text: str) -> None:
    with pytest.raises(ValueError):
        micros_of(text, "ms")


@pytest.mark.parametrize("value", [None, True, b"5", [1], {}])
def test_values_that_are_no_time(value: Any) -> None:
    with pytest.raises(TypeError):
        micros_of(value, "ms")


def test_nanoseconds_are_rounded_down_or_up() -> None:
    assert [micros_of(value, "ns") for value in (1999, -1, 1999.0, 2.5e3)] == [1, -1, 2, 2]
    assert [micros_of(value, "ns", round_up=True) for value in (1999, -1, 2000)] == [2, 0, 2]
    assert micros_of("1970-01-01T00:00:00.0000001Z", "s", round_up=True) == 1
