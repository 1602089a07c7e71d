"""Event time as users write it."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.common import units
from framework.common.units import date_of, micros_of, micros_of_plain, nanos_of

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
    "2013-01-01T12:00:00z",
    "2013-01-01t12:00:00Z",
    "2013-01-01T12:00:00,000Z",
    "2013-01-01T12:00:00.000000000000Z",
    "2013-01-01T1200",
    "2013-01-01T17:30:15+05:30:15",
    "2013-01-01T17:30:15+053015",
    "2013-01-01T12:00:00-00:00",
    "2013-01-01T06:00:00-06",
    "2013-01-02T06:00:00+18:00",
    "2012-12-31T18:00:00-18:00",
    "2013-01-01T07:00:00 Etc/GMT+5",
    "2013-01-01T09:00 America/Argentina/Buenos_Aires",
    "20130101T12",
    "20130101T1200",
    "20130101T120000",
    "20130101T120000.0Z",
    "20130101T120000,0Z",
    "20130101t173000+0530",
    "20130101T12:00:00",
    "\t2013-01-01T12:00:00\n",
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
    "2013-01-01T24:00:00",
    "2013-01-01T23:59:60",
    "2013-W01-2",
    "2013-W01-2T12:00:00",
    "2013-001",
    "2013-01-01x12:00",
    "2013-01-01  12:00",
    "2013-01-01T",
    "2013-01-01Z",
    "2013-01-01T12:00:",
    "2013-01-01T12:00:00.",
    "2013-01-01T12.5",
    "20130101T1200.5",
    "20130101 1200",
    "2013-01-01T120",
    "2013-01-01T12:00+05:60",
    "2013-01-01T12:00+18:01",
    "2013-01-01T12:00+053",
    "2013-01-01T12:00+05:30:15.5",
    "2013-01-01T12:00 CST",
    "2013-01-01T12:00 EST",
    "2013-01-01T12:00 utc",
    "2013-01-01T12:00 Europe/",
    "+2013-01-01",
    "-2013-01-01",
    "12013-01-01",
    "0000-01-01",
    "0001-01-01T00:00+00:01",
    "9999-12-31T23:59-00:01",
    "1_000",
    "1e3",
    "0x10",
    "inf",
    "NaN",
)
HOUR = 3_600_000_000
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
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
        (Decimal("253402300799.9999999"), 253_402_300_799_999_999),
        (Decimal("-0.0000001"), -1),
        ("0001-01-01", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.9999999Z", 253_402_300_799_999_999),
        ("1800-06-01T12:00:00-05:30", -5_351_553_000_000_000),
        ("2024-03-10T02:30 America/New_York", 1_710_055_800_000_000),
        ("2024-11-03T01:30 America/New_York", 1_730_611_800_000_000),
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
    assert micros_of(Decimal("1.0000001"), "s", round_up=True) == 1_000_001


@pytest.mark.parametrize("value", [Decimal("Infinity"), Decimal("1e400"), float("inf")])
def test_numbers_that_no_calendar_reaches(value: Any) -> None:
    with pytest.raises(OverflowError):
        micros_of(value, "s")


def test_nanoseconds_of_a_text_are_exact() -> None:
    assert nanos_of("2024-01-01T00:00:00.123456789Z") == (1_704_067_200_123_456_789, False)
    assert nanos_of("1969-12-31T23:59:59.9999999999") == (-1, True)


@pytest.mark.parametrize(
    "text", [*NOON_TEXTS, *NO_TEXTS, "2013-01-01\n2013-01-01", "2013-01-01T12:00:00.123456Z"]
)
def test_many_at_once_are_as_one_by_one_or_refused(text: str) -> None:
    try:
        found = micros_of_plain([text, "1970-01-01", text])
    except ValueError:
        return
    assert found == [micros_of(text, "s"), 0, micros_of(text, "s")]


def test_many_at_once() -> None:
    texts = [
        "2013-01-01",
        "2013-01-01T12:00:00.001",
        "2013-01-01t12:00:00.000001+00:00",
        "1969-12-31 23:59:59Z",
    ]
    assert micros_of_plain(texts) == [NOON - 12 * HOUR, NOON + 1000, NOON + 1, -1_000_000]
    assert micros_of_plain([]) == []
    for far in ("9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01", "2013-02-30"):
        with pytest.raises(ValueError):
            micros_of_plain(["2013-01-01", far])


@pytest.mark.parametrize("text", NOON_TEXTS)
def test_the_form_that_is_read_at_once_is_read_alike(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own reader, which takes other forms in each of its versions, is given none that differs."""
    monkeypatch.setattr(units, "_CANONICAL", re.compile("(?!)"))
    assert micros_of(text, "s") == NOON


@given(
    st.datetimes(min_value=datetime.datetime(2, 1, 1), max_value=datetime.datetime(9998, 12, 31)),
    st.integers(-18 * 60, 18 * 60),
    st.sampled_from(("seconds", "milliseconds", "microseconds")),
)
def test_what_python_writes_is_read_back(moment: datetime.datetime, minutes: int, spec: str) -> None:
    aware = moment.replace(tzinfo=datetime.timezone(datetime.timedelta(minutes=minutes)))
    text = aware.isoformat(timespec=spec)
    expected = (datetime.datetime.fromisoformat(text) - EPOCH) // datetime.timedelta(microseconds=1)
    assert micros_of(text, "s") == expected
    assert micros_of(text.replace("T", "t").replace(".", ","), "s") == expected
    zone = aware.strftime("%z")
    assert micros_of(aware.strftime("%Y%m%dT%H%M%S").rjust(15, "0") + zone, "s") == expected // 10**6 * 10**6


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2024-02-29", (2024, 2, 29)),
        (" 2024-2-9 ", (2024, 2, 9)),
        ("20240229", (2024, 2, 29)),
        ("0001-01-01", (1, 1, 1)),
        ("9999-12-31", (9999, 12, 31)),
    ],
)
def test_dates(text: str, found: tuple[int, int, int]) -> None:
    assert date_of(text) == datetime.date(*found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2023-02-29",
        "2024-02-29T00:00",
        "2024-W10-7",
        "2024-070",
        "2024-02",
        "0000-01-01",
        "2024-0229",
    ],
)
def test_texts_that_are_no_date(text: str) -> None:
    with pytest.raises(ValueError):
        date_of(text)
