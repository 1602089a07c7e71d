"""Doubtful timestamps: counted exactly, and kept, dropped or refused."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from spark_ingest.errors import JobError, RowsRefused
from spark_ingest.job.quality import Count, Quality, checked
from spark_ingest.job.stream_spec import TIME, StreamSpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "at string, k string, n int"
GIVEN = [
    ("2020-01-02", "a", 1),
    ("2020-01-02", "a", 2),
    ("2020-01-02", "b", 3),
    ("2020-01-01", "a", 4),
    (None, "a", 5),
    (None, "a", 6),
    ("soon", "b", 7),
]
DAY_US = 86_400_000_000
FIRST_US = 18262 * DAY_US
ALL_KEPT = Quality("keep", "keep", "keep")


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(GIVEN, SCHEMA)


def numbers(rows: DataFrame) -> list[int]:
    return sorted(row.n for row in rows.collect())


def test_what_is_kept_comes_first(df: DataFrame) -> None:
    rows, counts = checked(df, StreamSpec("at"), ALL_KEPT)
    assert counts == (Count(2, 2, 0), Count(2, 2, 0), Count(1, 1, 0), 7, FIRST_US)
    times = {row.n: row[TIME] for row in rows.collect()}
    assert times == dict.fromkeys((1, 2, 3), FIRST_US + DAY_US) | dict.fromkeys((4, 5, 6, 7), FIRST_US)


def test_what_is_dropped_is_counted(df: DataFrame) -> None:
    rows, counts = checked(df, StreamSpec("at"), Quality("drop", "drop", "drop"))
    assert counts == (Count(2, 0, 2), Count(2, 0, 2), Count(1, 0, 1), 2, FIRST_US)
    assert numbers(rows) == [1, 4]


def test_nulls_and_texts_are_told_apart(df: DataFrame) -> None:
    assert numbers(checked(df, StreamSpec("at"), Quality("drop", "keep", "keep"))[0]) == [1, 2, 3, 4, 7]
    assert numbers(checked(df, StreamSpec("at"), Quality("keep", "keep", "drop"))[0]) == [1, 2, 3, 4, 5, 6]


def test_the_first_of_each_time_and_key_stays(df: DataFrame) -> None:
    spec = StreamSpec("at", key=("k",), order=("n",))
    rows, counts = checked(df, spec, Quality("keep", "drop", "keep"))
    assert counts.duplicates == Count(1, 0, 1)
    assert numbers(rows) == [1, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        (
            "nulls",
            StreamSpec("at"),
            "'at' is null in 2 of 7 rows, and nulls='refuse': say nulls='drop' or nulls='keep' to go on. "
            "For example\n    at=None, k='a', n=5\n    at=None, k='a', n=6",
        ),
        (
            "unparsable",
            StreamSpec("at"),
            "'at' is no time from year 1 to 9999 when read as 'ISO 8601' in 1 of 7 rows, and "
            "unparsable='refuse': say unparsable='drop' or unparsable='keep' to go on. For example\n"
            "    at='soon', k='b', n=7",
        ),
        (
            "duplicates",
            StreamSpec("at", key=("k",)),
            "the time and the key are another row's in 1 of 7 rows, and duplicates='refuse': say "
            "duplicates='drop' or duplicates='keep' to go on. For example\n"
            "    at='2020-01-02', k='a', n=1\n    at='2020-01-02', k='a', n=2",
        ),
    ],
)
def test_a_refusal_says_how_many_and_which(df: DataFrame, kind: str, spec: StreamSpec, expected: str) -> None:
    quality = Quality(**{**dict.fromkeys(("nulls", "duplicates", "unparsable"), "keep"), kind: "refuse"})
    with pytest.raises(RowsRefused) as refused:
        checked(df, spec, quality)
    assert str(refused.value) == expected
    assert refused.value.kind == kind


def test_a_wrong_unit_shows(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1_600_000_000_000,)], "at long")
    with pytest.raises(RowsRefused, match="no time from year 1 to 9999 when read in 's'"):
        checked(df, StreamSpec("at", unit="s"), Quality())


def test_rows_without_any_time(spark: SparkSession) -> None:
    df = spark.createDataFrame([(None, 1)], "at timestamp, n int")
    rows, counts = checked(df, StreamSpec("at"), ALL_KEPT)
    assert [row[TIME] for row in rows.collect()] == [0]
    assert counts.rows == 1
    assert checked(df.limit(0), StreamSpec("at"), Quality())[1].rows == 0


def test_counts_and_rows_are_those_of_python(spark: SparkSession) -> None:
    rng = random.Random(5)
    given = [(rng.choice([None, 1, 2, 3, 10**15]), rng.choice("ab"), n) for n in range(300)]
    df = spark.createDataFrame(given, "at long, k string, n int")
    good = [(at, k) for at, k, _ in given if at in (1, 2, 3)]
    repeated = sum(count - 1 for count in Counter(good).values())
    rows, counts = checked(df, StreamSpec("at", unit="s", key=("k",)), Quality("drop", "drop", "drop"))
    nulls, unparsable = (sum(at == value for at, _, _ in given) for value in (None, 10**15))
    assert [count.found for count in counts[:3]] == [nulls, repeated, unparsable]
    first: dict[tuple[Any, str], int] = {}
    for at, k, n in given:
        if at in (1, 2, 3):
            first.setdefault((at, k), n)
    assert numbers(rows) == sorted(first.values())


def test_duplicates_need_not_be_counted(df: DataFrame) -> None:
    assert checked(df, StreamSpec("at"), ALL_KEPT, count_duplicates=False)[1].duplicates == Count()


def test_a_word_that_is_none_of_the_three() -> None:
    with pytest.raises(JobError, match="nulls is 'ignore': expected 'keep', 'drop' or 'refuse'"):
        Quality(nulls="ignore")
