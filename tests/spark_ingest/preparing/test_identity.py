"""The changes that make a job another one than before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_ingest.datasets.formats import PARQUET
from spark_ingest.engine.session import set_for_now, sql_settings
from spark_ingest.job.source import Source
from spark_ingest.job.spec import JobSpec
from spark_ingest.job.stream_spec import StreamSpec
from spark_ingest.preparing.identity import identity_of_files, identity_of_plan
from spark_ingest.preparing.prepare import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = ["now()", "current_timestamp", "localtimestamp()", "cast('now' as timestamp)", "(select now())"]
TIME_ZONE = "spark.sql.session.timeZone"


def identity(folder: Path, conf: dict[str, str] | None = None) -> str | None:
    source = Source(files=str(folder), format="csv", schema="at int")
    return identity_of_files(JobSpec(source, StreamSpec("at"), conf=conf or {}), PARQUET)


def identity_of(spark: SparkSession, query: str) -> str | None:
    source = Source(query=query)
    return identity_of_plan(JobSpec(source, StreamSpec("at")), PARQUET, source.read(spark))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("1\n")
    return folder


class TestFiles:
    """As many as Spark reads, and no others."""

    @pytest.mark.parametrize("name", ["k=3", "_k=3", "_metadata", "plain"])
    def test_in_folders_that_are_read(self, files: Path, name: str) -> None:
        before = identity(files)
        (files / name).mkdir()
        (files / name / "b.csv").write_text("2\n")
        assert identity(files) != before

    @pytest.mark.parametrize("name", ["_k", ".k=3", "b.csv._COPYING_"])
    def test_in_folders_that_are_not(self, files: Path, name: str) -> None:
        before = identity(files)
        (files / name).mkdir()
        (files / name / "b.csv").write_text("2\n")
        assert identity(files) == before

    @pytest.mark.parametrize("name", ["k=3", "_k=3"])
    def test_behind_links(self, spark: SparkSession, files: Path, tmp_path: Path, name: str) -> None:
        other = tmp_path / "other"
        other.mkdir()
        (other / "b.csv").write_text("2\n")
        (files / name).symlink_to(other)
        (files / "a.csv").rename(other / "a.csv")
        read = spark.read.schema("at int").csv(str(files))
        before = identity(files)
        (other / "c.csv").write_text("3\n")
        assert sorted(row["at"] for row in read.collect()) == [1, 2], "Spark does not read there"
        assert identity(files) != before

    def test_a_link_to_the_folder_that_it_is_in(self, files: Path) -> None:
        before = identity(files)
        (files / "again").symlink_to(files)
        (files / "gone").symlink_to(files / "nothing")
        assert identity(files) == before


class TestTheCurrentTime:
    @pytest.mark.parametrize("now", NOW)
    def test_is_never_the_same(self, spark: SparkSession, tmp_path: Path, now: str) -> None:
        source = Source(query=f"select 1 as at, {now} as made")
        for _ in range(2):
            made = prepare(source, tmp_path / "made", timestamp="at", streams=1, spark=spark)
            assert not made.reused

    def test_a_date_is_one_of_the_day(self, spark: SparkSession) -> None:
        """A query with the date of the day is prepared again on another, but not on the same."""
        today, again = (identity_of(spark, "select 1 as at, current_date() as made") for _ in range(2))
        assert today is not None
        if today != again:  # It was midnight.
            again, today = again, identity_of(spark, "select 1 as at, current_date() as made")
        assert today == again


class TestSettings:
    def test_of_sql_count(self, files: Path) -> None:
        assert identity(files, {TIME_ZONE: "UTC"}) != identity(files, {TIME_ZONE: "Asia/Tokyo"})
        assert identity(files, {"spark.driver.memory": "1g"}) == identity(files)

    def test_of_the_session_that_is_handed_over(
        self, spark: SparkSession, files: Path, tmp_path: Path
    ) -> None:
        source = Source(files=str(files), format="csv", schema="at timestamp")
        (files / "a.csv").write_text("2020-01-01 00:00:00\n")
        arrived = []
        for zone in ("UTC", "Asia/Tokyo", "Asia/Tokyo"):
            with set_for_now(spark, {TIME_ZONE: zone}):
                made = prepare(source, tmp_path / "made", timestamp="at", streams=1, spark=spark)
            arrived.append((made.reused, made.min_us))
        first, tokyo = 1_577_836_800_000_000, 1_577_836_800_000_000 - 9 * 3_600_000_000
        assert arrived == [(False, first), (False, tokyo), (True, tokyo)]

    def test_are_those_that_a_session_would_have(
        self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert sql_settings(None, spark)[TIME_ZONE] == "UTC"
        assert not any("warehouse" in key for key in sql_settings(None, spark))
        monkeypatch.setattr("spark_ingest.engine.session._active", lambda: None)
        asked = {TIME_ZONE: "Asia/Tokyo", "spark.sql.ansi.enabled": True, "spark.cores.max": 2}
        expected = {"spark.sql.ansi.enabled": "true", TIME_ZONE: "Asia/Tokyo"}
        assert expected.items() <= sql_settings(asked).items()
        assert "spark.cores.max" not in sql_settings(asked)
