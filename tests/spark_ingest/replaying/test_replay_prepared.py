"""Datasets that Spark has written, as a spout brings them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyarrow")

from spark_ingest import SparkSpout, prepare
from spark_ingest.datasets.formats import STORED_AS
from spark_ingest.preparing import writing
from tests.spark_ingest.stages import rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OF_EVERY_TYPE = """
SELECT * FROM VALUES
  (timestamp'1969-12-31 23:59:59.999999', true, 1Y, 2S, 3, 4L, 0.5F, 0.1D, 1.50BD, 'naïve', X'00ff',
   date'1969-12-31', timestamp_ntz'1969-12-31 23:59:59.5', array(1, null), map('a', array(1)),
   named_struct('city', 'Oslo', 'since', timestamp'1970-01-01 00:00:01')),
  (timestamp'2013-01-01 05:00:00', null, null, null, null, null, null, null, null, null, null,
   null, null, null, null, null)
AS t(at, bool, tiny, small, int, big, float, double, dec, text, bytes, day, ntz, list, pairs, record)
"""
FIRST = (True, 1, 2, 3, 4, 0.5, 0.1, Decimal("1.50"), "naïve", b"\0\xff", datetime.date(1969, 12, 31))


def replayed(path: Path, **options: Any) -> list[list[tuple[Any, ...]]]:
    spout = SparkSpout(str(path), **options)
    with spout.companion({}):
        return [rows_of(spout.blocks(number, None)) for number in range(spout.partitions)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("unit", "before", "half", "after", "new_year"),
    [
        ("us", -1, -500_000, 1_000_000, 1_357_016_400_000_000),
        ("s", -1, -1, 1, 1_357_016_400),
    ],
)
@pytest.mark.parametrize("stored_as", STORED_AS)
def test_values_of_every_type(
    spark: SparkSession,
    tmp_path: Path,
    stored_as: str,
    unit: str,
    before: int,
    half: int,
    after: int,
    new_year: int,
) -> None:
    made = tmp_path / "stage"
    prepare(spark.sql(OF_EVERY_TYPE), made, timestamp="at", streams=1, stored_as=stored_as, spark=spark)
    (rows,) = replayed(made, unit=unit)
    nested = ((1, None), (("a", (1,)),), ("Oslo", after))
    assert rows == [(-1, before, *FIRST, half, *nested), (1_357_016_400_000_000, new_year, *[None] * 15)]


@pytest.mark.parametrize("stored_as", STORED_AS)
def test_streams_have_the_rows_that_were_prepared(
    spark: SparkSession, tmp_path: Path, stored_as: str
) -> None:
    columns = "id AS n, id % 7 AS key, CAST(id % 3 AS string) AS few, timestamp_micros(id DIV 5) AS at"
    df = spark.sql(f"SELECT {columns} FROM range(1000)")
    how: Any = {"timestamp": "at", "key": ["key"], "streams": 3, "stored_as": stored_as}
    made = prepare(df, tmp_path / "stage", **how, spark=spark)
    streams = replayed(tmp_path / "stage", columns=["few", "n"])
    assert [len(rows) for rows in streams] == [stream.rows for stream in made.streams]
    assert all([time for time, *_ in rows] == sorted(time for time, *_ in rows) for rows in streams)
    found = sorted(row for rows in streams for row in rows)
    assert found == sorted((n // 5, str(n % 3), n) for n in range(1000))
    homes = [{n % 7 for _, _, n in rows} for rows in streams]
    assert sum(map(len, homes)) == 7
    part = replayed(tmp_path / "stage", start=50, until=60, columns=["n"])
    assert sorted(row for rows in part for row in rows) == [(n // 5, n) for n in range(250, 300)]


@pytest.mark.parametrize("stored_as", STORED_AS)
def test_a_long_stream_has_several_files(
    spark: SparkSession, tmp_path: Path, stored_as: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = spark.sql("SELECT id AS n, timestamp_micros(id) AS at FROM range(50)")
    prepare(df, tmp_path / "one", timestamp="at", streams=1, spark=spark)
    monkeypatch.setitem(writing._SETTINGS, "spark.sql.files.maxRecordsPerFile", "20")
    made = prepare(df, tmp_path / "some", timestamp="at", streams=1, stored_as=stored_as, spark=spark)
    names = [Path(name).name for name in made.streams[0].files]
    assert names == [f"stream-00000-00{number}.{stored_as}" for number in range(3)]
    assert replayed(tmp_path / "some") == replayed(tmp_path / "one")
    assert len(list((tmp_path / "some").iterdir())) == 3 + 1


def test_more_files_than_their_names_have_digits_for(tmp_path: Path) -> None:
    for number in (1000, 2, 999):
        (tmp_path / f"part-00001-a-b-c{number:03}.snappy.parquet").touch()
    (tmp_path / ".part-00001-a-b-c002.snappy.parquet.crc").touch()
    found = sorted(writing._parts(tmp_path))
    assert [(stream, number) for stream, number, _ in found] == [(1, 2), (1, 999), (1, 1000)]
    assert len(list(tmp_path.iterdir())) == 3
