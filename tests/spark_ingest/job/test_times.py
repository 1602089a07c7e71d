"""The event time of a row, of every type that it may have."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from framework.common.units import PER_SECOND, micros_of
from spark_ingest.engine.session import set_for_now
from spark_ingest.errors import JobError
from spark_ingest.job.stream_spec import TIME, StreamSpec
from spark_ingest.job.times import FIRST_US, LAST_US, timed
from tests.framework.common.test_units import NO_TEXTS, NOON_TEXTS
from tests.framework.common.test_units import NOON as NOON_US

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOON = datetime(2013, 3, 10, 12, 0, 0, 123456, UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def times(spark: SparkSession, values: list[Any], kind: str, **spec: Any) -> list[int | None]:
    df = spark.createDataFrame([(value,) for value in values], f"at {kind}")
    return [row[TIME] for row in timed(df, StreamSpec("at", **spec)).collect()]


def test_timestamps_are_moments_whatever_the_zone(spark: SparkSession) -> None:
    there = NOON.astimezone(timezone(timedelta(hours=5)))
    assert times(spark, [NOON, there, None], "timestamp") == [us(NOON), us(NOON), None]


def test_dates_are_midnights(spark: SparkSession) -> None:
    assert times(spark, [date(1970, 1, 2), date(1969, 12, 31)], "date") == [86_400_000_000, -86_400_000_000]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_what_has_no_zone_is_utc_in_every_session(spark: SparkSession, zone: str) -> None:
    with set_for_now(spark, {"spark.sql.session.timeZone": zone}):
        # 02:30 did not exist in New York that day.
        df = spark.sql(
            "select timestamp_ntz'2013-03-10 02:30:00' as ntz, '2013-03-10T02:30:00' as text, "
            "date'2013-03-10' as day, '2013-03-10 02:30:00 +02:00' as offset, '03/10/2013 02.30' as own"
        )
        at = us(datetime(2013, 3, 10, 2, 30, tzinfo=UTC))
        expected = {"ntz": at, "text": at, "offset": at - 7_200_000_000, "day": at - 9_000_000_000}
        found = {name: timed(df, StreamSpec(name)).collect()[0][TIME] for name in expected}
        own = timed(df, StreamSpec("own", timestamp_format="MM/dd/yyyy HH.mm")).collect()[0][TIME]
        assert spark.conf.get("spark.sql.session.timeZone") == zone
    assert found == expected
    assert own == at


WHOLE = [
    ("s", -2, -2_000_000),
    ("ms", 1_500, 1_500_000),
    ("us", 7, 7),
    ("ns", 1_999, 1),
    ("ns", -1, -1),
    ("ns", 2**62, 2**62 // 1000),
    ("s", 253_402_300_799, LAST_US - 999_999),
    ("s", 253_402_300_800, None),
    ("s", -62_135_596_801, None),
    ("s", 2**63 - 1, None),
    ("us", FIRST_US, FIRST_US),
    ("us", FIRST_US - 1, None),
    ("us", LAST_US, LAST_US),
    ("us", LAST_US + 1, None),
]
"""Unit, number, and the time that it is."""


@pytest.mark.parametrize("unit", PER_SECOND)
def test_whole_numbers_are_exact(spark: SparkSession, unit: str) -> None:
    expected = {number: time for each, number, time in WHOLE if each == unit}
    assert times(spark, list(expected), "bigint", unit=unit) == list(expected.values())


def test_small_whole_numbers(spark: SparkSession) -> None:
    for kind in ("tinyint", "smallint", "int"):
        assert times(spark, [100, None], kind, unit="s") == [100_000_000, None]


def test_floats(spark: SparkSession) -> None:
    given = [1363003200.123456, float("nan"), float("inf"), -float("inf"), 1e300, -0.0, None]
    assert times(spark, given, "double", unit="s") == [1363003200123456, None, None, None, None, 0, None]
    assert times(spark, [1500.4], "double", unit="ns") == [2]
    assert times(spark, [0.5], "float", unit="s") == [500_000]


def test_decimals_are_exact(spark: SparkSession) -> None:
    given = [Decimal("1363003200.123456789"), Decimal("-0.000000001"), Decimal("999999999999.0"), None]
    assert times(spark, given, "decimal(21,9)", unit="s") == [1363003200123456, -1, None, None]


def test_texts_that_are_no_times(spark: SparkSession) -> None:
    good = ["2013-03-10", " 2013-03-10 12:00:00.5 "]
    bad = ["2013-02-30", "12:30", "T12:30", "2013", "now", "", "1363003200"]
    day = us(datetime(2013, 3, 10, tzinfo=UTC))
    assert times(spark, good + bad, "string") == [day, day + 43_200_500_000, *[None] * 7]


def test_a_column_that_can_be_no_time(spark: SparkSession) -> None:
    df = spark.sql("select array(1) as at, true as flag")
    with pytest.raises(JobError, match=r"timestamp 'at' is array<int>: expected a timestamp, a date, a num"):
        timed(df, StreamSpec("at"))
    with pytest.raises(JobError, match="timestamp 'flag' is boolean"):
        timed(df, StreamSpec("flag"))


def test_texts_are_read_as_those_that_a_spout_emits(spark: SparkSession) -> None:
    assert times(spark, list(NOON_TEXTS), "string") == [NOON_US] * len(NOON_TEXTS)
    assert times(spark, list(NO_TEXTS), "string") == [None] * len(NO_TEXTS)
    finer = [
        "2013-01-01T12:00:00.1234567Z",
        "1969-12-31 23:59:59.9999999",
        "0001-01-01",
        "9999-12-31T23:59:59.9999999Z",
        "1800-06-01T12:00:00-05:30",
        "2024-03-10T02:30 America/New_York",  # which did not exist
        "2024-11-03T01:30 America/New_York",  # which there was twice
        "1850-01-01T12:00 Europe/Berlin",  # of local mean time
        "20240310T023000,25z",
    ]
    assert times(spark, finer, "string") == [micros_of(text, "s") for text in finer]
