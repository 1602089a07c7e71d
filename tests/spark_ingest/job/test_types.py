"""The types that can be carried, and the messages about the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_ingest.engine.session import set_for_now
from spark_ingest.errors import JobError
from spark_ingest.job.stream_spec import StreamSpec
from spark_ingest.job.types import (
    CARRIED,
    check_columns,
    chosen_columns,
    column_types,
    comparable,
    hashable,
    type_word,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CARRIED_ONES = (
    "true as boolean, 1Y as tinyint, 1S as smallint, 1 as int, 1L as bigint, 1F as float, 1D as double, "
    "1BD as decimal, 'a' as string, X'00' as binary, date'2020-01-01' as date, "
    "timestamp'2020-01-01' as timestamp, timestamp_ntz'2020-01-01' as timestamp_ntz, "
    "array(1) as array, map('a', array(1)) as map, "
    "named_struct('a', map(1, 2)) as struct"
)


def test_every_type_of_the_table_is_carried(spark: SparkSession) -> None:
    df = spark.sql(f"select {CARRIED_ONES}")
    assert chosen_columns(df, StreamSpec("timestamp")) == tuple(CARRIED)
    types = column_types(df, ["decimal", "array", "map", "struct"])
    assert list(types.values()) == [
        "decimal(1,0)",
        "array<int>",
        "map<string,array<int>>",
        "struct<a:map<int,int>>",
    ]


def test_every_column_that_cannot_be_carried_is_named(spark: SparkSession) -> None:
    df = spark.sql(
        "select 1 as at, null as a, interval 1 day as b, interval 1 month as c, array(make_interval(1)) as d"
    )
    with pytest.raises(JobError) as refused:
        chosen_columns(df, StreamSpec("at"))
    assert str(refused.value).startswith(
        "columns of types that cannot be carried: 'a' is void, 'b' is interval day, 'c' is interval month, "
        "'d' is array<interval>; cast them to one of boolean, "
    )
    assert str(refused.value).endswith(", or leave them out by columns=")
    assert chosen_columns(df, StreamSpec("at", columns=("at",))) == ("at",)


def test_user_defined_types_cannot(spark: SparkSession) -> None:
    from pyspark.sql.types import IntegerType, StructField, StructType, UserDefinedType

    class Own(UserDefinedType):  # type: ignore[type-arg]
        @classmethod
        def sqlType(cls) -> IntegerType:
            return IntegerType()

    schema = StructType([StructField("at", IntegerType()), StructField("own", Own())])
    assert type_word(schema["own"].dataType) == "udt"


@pytest.mark.parametrize("name", ["_time_us", "_Time_us", "_VIPER_HASH", "_viper_Nth"])
def test_names_that_are_needed_are_refused_however_they_are_spelled(spark: SparkSession, name: str) -> None:
    df = spark.sql(f"select 1 as at, 2 as {name}")
    message = f"a column is called '{name}', a name that is needed for the streams: rename that column"
    with pytest.raises(JobError, match=message):
        check_columns(df, StreamSpec("at"))


BY_VALUE = [
    "map(X'{n}', 1, X'FF', 2)",
    "map(array(X'{n}'), 1)",
    "map(named_struct('b', X'{n}', 'i', 1), 1)",
    "array(map(X'{n}', named_struct('m', map(X'{n}', 1))))",
    "named_struct('a', if(id > 0, map(X'{n}', null), null), 'b', named_struct('c', 1))",
]


@pytest.mark.parametrize("value", BY_VALUE)
def test_equal_maps_are_one_text(spark: SparkSession, value: str) -> None:
    """Whose keys Java would write by their address."""
    df = spark.sql(f"select {value.format(n='01')} as m from range(1, 4, 1, 1) where id % 2 = 1")
    other = spark.sql(f"select {value.format(n='02')} as m from range(1, 2)")
    made = df.select(comparable(df, ["m"])[0].alias("text"), hashable(df, ["m"])[0].alias("again"))
    texts = {text for row in made.collect() for text in row}
    assert len(texts) == 1
    assert "@" not in min(texts)
    assert texts.isdisjoint(row[0] for row in other.select(comparable(other, ["m"])[0]).collect())


def test_null_maps_and_null_structs_are_told_apart(spark: SparkSession) -> None:
    made = "named_struct('m', if(id = 1, null, map(X'01', 1)))"
    df = spark.sql(f"select if(id = 0, null, {made}) as s from range(3)")
    texts = [row[0] for row in df.select(comparable(df, ["s"])[0]).collect()]
    assert texts == ['{"s":null}', '{"s":{"m":null}}', '{"s":{"m":[{"key":"AQ==","value":1}]}}']


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_times_within_values_do_not_depend_on_the_session(spark: SparkSession, zone: str) -> None:
    """In Berlin these two are the same hour of the clock."""
    times = "array(timestamp_seconds(1382832000), timestamp_seconds(1382835600))"
    with set_for_now(spark, {"spark.sql.session.timeZone": zone}):
        df = spark.sql(f"select {times} as a")
        found = df.select(comparable(df, ["a"])[0]).collect()[0][0]
    assert found == '{"a":["2013-10-27T00:00:00.000000Z","2013-10-27T01:00:00.000000Z"]}'
