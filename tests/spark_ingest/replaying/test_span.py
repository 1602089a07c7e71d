from __future__ import annotations

import datetime
from array import array
from typing import Any

import pytest

from spark_ingest.errors import JobError
from spark_ingest.replaying.span import Span, moment, shown, span_of

NOON_US = 1_356_998_400_000_000 + 12 * 3_600_000_000
OSLO = datetime.timezone(datetime.timedelta(hours=1))


@pytest.mark.parametrize(
    ("given", "unit"),
    [
        ("2013-01-01T12:00:00Z", "us"),
        ("2013-01-01 12:00", "us"),
        (" 2013-01-01T13:00:00+01:00 ", "s"),
        (datetime.datetime(2013, 1, 1, 12), "us"),
        (datetime.datetime(2013, 1, 1, 13, tzinfo=OSLO), "ns"),
        (NOON_US // 1_000_000, "s"),
        (NOON_US / 1e6, "s"),
        (NOON_US // 1000, "ms"),
        (NOON_US, "us"),
        (NOON_US * 1000, "ns"),
        (NOON_US * 1000 - 1, "ns"),
    ],
)
def test_moments(given: Any, unit: str) -> None:
    assert moment("start", given, unit) == NOON_US


@pytest.mark.parametrize("given", ["2013-01-01", datetime.date(2013, 1, 1)])
def test_a_date_is_its_midnight(given: Any) -> None:
    assert moment("start", given, "us") == NOON_US - 12 * 3_600_000_000


def test_a_fraction_of_a_second_is_not_lost() -> None:
    assert moment("start", 1.1, "s") == 1_100_000
    assert moment("start", "1969-12-31T23:59:59.999999Z", "us") == -1


@pytest.mark.parametrize("given", ["soon", "", True, [], float("nan"), float("inf")])
def test_no_moment(given: Any) -> None:
    with pytest.raises(
        JobError, match=r"until is .*: expected ISO 8601 text .* a datetime, or a number of ms"
    ):
        moment("until", given, "ms")


def test_shown() -> None:
    assert shown(NOON_US) == "2013-01-01T12:00:00+00:00"
    assert shown(2**62) == f"{2**62} us"


@pytest.mark.parametrize("until", [1, 0])
def test_nothing_between_start_and_until(until: int) -> None:
    with pytest.raises(JobError, match=r"nothing to replay: until .* is not after start"):
        span_of(1, until, "s")


def test_half_open() -> None:
    times = array("q", [1, 2, 2, 3, 3, 4])
    assert times[Span(2, 3).part_of(times)] == array("q", [2, 2])
    assert times[Span().part_of(times)] == times
    assert times[Span(start_us=4).part_of(times)] == array("q", [4])
    assert times[Span(until_us=1).part_of(times)] == array("q")


def test_what_it_meets() -> None:
    assert Span().meets(5, 6)
    assert Span(6, 7).meets(5, 6) and Span(5, 6).meets(5, 6)
    assert not Span(7, 8).meets(5, 6)
    assert not Span(4, 5).meets(5, 6)


def test_starting_later() -> None:
    assert Span().starting(None) == Span()
    assert Span(2, 9).starting(1) == Span(2, 9)
    assert Span(2, 9).starting(3) == Span(3, 9)
    assert not Span(2, 9).starting(9).meets(9, 9)
