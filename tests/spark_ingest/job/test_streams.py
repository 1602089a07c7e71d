"""Streams: the same rows in the same places, whoever splits the input, and however."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("pyspark")
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_ingest.engine.session import set_for_now
from spark_ingest.errors import JobError
from spark_ingest.job.stream_spec import TIME, StreamSpec
from spark_ingest.job.streams import as_streams

SCHEMA = "at long, k string, n int, x double, m map<string,int>, a array<string>, s struct<p:int,q:string>"


def rows(seed: int, count: int = 400) -> list[tuple[Any, ...]]:
    """Many equal times, keys and rows, and values that compare equal but are not the same."""
    rng = random.Random(seed)
    return [
        (
            rng.randrange(20),
            rng.choice(["a", "b", "c", None]),
            rng.choice([1, 2, None]),
            rng.choice([0.0, -0.0, 1.5, float("nan"), None]),
            rng.choice([{}, {"u": 1}, {"u": 1, "v": None}, None]),
            rng.choice([[], ["a, b"], ["a", "b"], [None], None]),
            rng.choice([(1, "x"), (None, None), None]),
        )
        for _ in range(count)
    ]


def placed(streams: DataFrame) -> list[list[str]]:
    """The rows of each partition in order, told apart by all that Python can tell."""
    return streams.rdd.glom().map(lambda part: [repr(tuple(row)) for row in part]).collect()


SPECS = [
    StreamSpec("at", streams=3),
    StreamSpec("at", streams=4, key=("k",)),
    StreamSpec("at", streams=2, key=("k", "n"), order=("n",), columns=("x", "k")),
    StreamSpec("at", streams=1, order=("k", "n")),
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_split_and_the_order_of_the_input_do_not_matter(spark: SparkSession, spec: StreamSpec) -> None:
    given = rows(seed=1)
    found = []
    for slices, seed in [(1, 0), (5, 1), (2, 2)]:
        shuffled = random.Random(seed).sample(given, len(given))
        df = spark.createDataFrame(spark.sparkContext.parallelize(shuffled, slices), SCHEMA)
        found.append(placed(as_streams(df, spec)))
    assert len(found[0]) == spec.streams
    assert sum(map(len, found[0])) == len(given)
    assert found[0] == found[1] == found[2]


def test_all_rows_arrive_each_once_sorted_by_time(spark: SparkSession) -> None:
    given = rows(seed=2)
    df = spark.createDataFrame(given, SCHEMA)
    parts = as_streams(df, StreamSpec("at", streams=3)).rdd.glom().collect()
    for part in parts:
        assert [row[TIME] for row in part] == sorted(row[TIME] for row in part)
    arrived = Counter(repr(tuple(row)[1:]) for part in parts for row in part)
    assert arrived == Counter(map(repr, map(_row, given)))


def _row(values: tuple[Any, ...]) -> tuple[Any, ...]:
    from pyspark.sql import Row

    *others, pair = values
    return (*others, None if pair is None else Row(p=pair[0], q=pair[1]))


def test_equal_keys_meet(spark: SparkSession) -> None:
    df = spark.createDataFrame(rows(seed=3), SCHEMA)
    parts = as_streams(df, StreamSpec("at", streams=4, key=("k",))).rdd.glom().collect()
    where = [{row.k for row in part} for part in parts]
    assert sum(map(len, where)) == 4


def test_the_order_among_equal_times(spark: SparkSession) -> None:
    given = [(1, 3, "a"), (1, 1, "z"), (1, 2, "m"), (1, 1, "b"), (0, 9, "q")]
    df = spark.createDataFrame(given, "at long, n int, t string")
    found = as_streams(df, StreamSpec("at", streams=1, order=("n",), columns=("t",))).collect()
    assert [tuple(row) for row in found] == [(0, "q"), (1, "b"), (1, "z"), (1, "m"), (1, "a")]


def test_there_are_as_many_partitions_as_streams_whatever_spark_thinks_best(spark: SparkSession) -> None:
    """The source is partitioned by the key already, and tiny: Spark may merge its partitions, not ours."""
    df = spark.range(100).select((F.col("id") % 5).alias("k"), "id").groupBy("k").agg(F.max("id").alias("at"))
    conf = {"spark.sql.shuffle.partitions": "4", "spark.sql.adaptive.enabled": "true"}
    with set_for_now(spark, conf):
        streams = as_streams(df, StreamSpec("at", streams=4, key=("k",)))
        assert len(placed(streams)) == 4
        again = streams.mapInArrow(lambda batches: batches, streams.schema)
        assert len(placed(again)) == 4


def test_columns_with_dots_and_quotes(spark: SparkSession) -> None:
    df = spark.createDataFrame([(2, 1), (1, 2)], ["at.time", "a`b"])
    streams = as_streams(df, StreamSpec("at.time", unit="s", streams=1, key=("a`b",)))
    assert streams.columns == [TIME, "at.time", "a`b"]
    assert [tuple(row) for row in streams.collect()] == [(1_000_000, 1, 2), (2_000_000, 2, 1)]


def test_all_missing_columns_are_told_at_once(spark: SparkSession) -> None:
    df = spark.sql("select 1 as departure, 'AA' as carrier")
    spec = StreamSpec("departur", key=("Carrier",), order=("nothing",), columns=("carrier", "carier"))
    with pytest.raises(JobError) as refused:
        as_streams(df, spec)
    expected = "expected 'carrier' or 'departure'"
    assert str(refused.value).split("; unknown ") == [
        f"unknown column in timestamp 'departur': {expected}; did you mean 'departure'?",
        f"column in key 'Carrier': {expected}; did you mean 'carrier'?",
        f"column in order 'nothing': {expected}",
        f"column in columns 'carier': {expected}; did you mean 'carrier'?",
    ]


def test_two_columns_of_one_name(spark: SparkSession) -> None:
    df = spark.sql("select 1 as at, 2 as n, 3 as n")
    with pytest.raises(JobError, match="2 columns are called 'n': rename all but one"):
        as_streams(df, StreamSpec("at"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"streams": 0}, "streams is 0: expected a whole number from 1 upwards"),
        ({"streams": True}, "streams is True"),
        ({"streams": "4"}, "streams is '4'"),
        ({"unit": "min"}, "unit is 'min': expected one of s, ms, us, ns"),
        ({"key": 3}, "key is 3: expected names of columns"),
        ({"columns": []}, "columns is empty"),
        ({"columns": ["a", "b", "a"]}, "columns names 'a' more than once"),
        ({"timestamp": ""}, "timestamp is '': expected the name of a column"),
    ],
)
def test_what_a_spec_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError, match=message):
        StreamSpec(**{"timestamp": "at", **arguments})


def test_a_single_name_is_a_list_of_one() -> None:
    assert StreamSpec("at", key="carrier").key == ("carrier",)  # type: ignore[arg-type]


def test_decimals_sort_as_numbers(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1, Decimal("10.00")), (1, Decimal("9.00"))], "at long, d decimal(10,2)")
    found = as_streams(df, StreamSpec("at", streams=1)).collect()
    assert [row.d for row in found] == [Decimal("9.00"), Decimal("10.00")]


def test_a_column_called_hash_is_carried_with_ends_too(spark: SparkSession) -> None:
    df = spark.sql("select id as at, id as _hash from range(5)")
    found = as_streams(df, StreamSpec("at", streams=2), ends=True).collect()
    assert sorted(row._hash for row in found if row._hash is not None) == [0, 1, 2, 3, 4]


def test_ends_beside_names_with_dots(spark: SparkSession) -> None:
    df = spark.range(9).selectExpr("timestamp_micros(id) AS `at.utc`", "id AS `my name`", "id % 2 AS `a.b`")
    found = as_streams(df, StreamSpec("at.utc", streams=3, key=("a.b",)), ends=True)
    assert found.columns == ["_time_us", "at.utc", "my name", "a.b"]
    assert [row[2] for row in found.collect()].count(None) == 3
