"""Preparing: what is written, when it is used again, and what is left when it fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_ingest import prepare as exported
from spark_ingest.datasets.dataset import Dataset
from spark_ingest.engine.progress import Progress
from spark_ingest.engine.session import set_for_now
from spark_ingest.errors import DatasetError, JobError, RowsRefused, SparkError
from spark_ingest.job.source import Source
from spark_ingest.job.stream_spec import TIME, StreamSpec
from spark_ingest.job.streams import as_streams
from spark_ingest.preparing.prepare import prepare
from spark_ingest.preparing.writing import GROUP_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = "select id as n, timestamp_seconds(id div 3) as at, concat('k', id % 7) as k from range(0, 100, 1, 5)"


def content(made: Dataset) -> list[list[tuple[Any, ...]]]:
    """The rows of each stream, as pyarrow reads them."""
    import pyarrow.parquet as pq

    return [
        [tuple(row.values()) for file in stream.files for row in pq.read_table(file).to_pylist()]
        for stream in made.streams
    ]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "made"


def test_the_streams_arrive_row_for_row(spark: SparkSession, target: Path) -> None:
    made = prepare(Source(query=ROWS), target, timestamp="at", streams=3, key=["k"], spark=spark)
    parts = as_streams(spark.sql(ROWS), StreamSpec("at", streams=3, key=("k",))).rdd.glom().collect()
    expected = [[(row[TIME], row.n, row.k) for row in part] for part in parts]
    assert [[(row[0], row[1], row[3]) for row in stream] for stream in content(made)] == expected
    assert made == Dataset.open(target)
    assert (made.fields, made.types) == (("n", "at", "k"), {"n": "bigint", "at": "timestamp", "k": "string"})
    assert (made.rows, made.min_us, made.max_us) == (100, 0, 33_000_000)
    assert made.counts["duplicates"] == {"found": 0, "kept": 0, "dropped": 0}
    assert made.source == {"query": ROWS}
    assert made.spark_version == spark.version
    files = [f"stream-0000{number}-000.parquet" for number in range(3)]
    assert sorted(os.listdir(target)) == ["_manifest.json", *files]
    assert exported is prepare


def test_streams_without_rows(spark: SparkSession, target: Path) -> None:
    made = prepare(Source(query="select 1 as at, 2 as n"), target, timestamp="at", streams=3, spark=spark)
    assert sorted(stream.rows for stream in made.streams) == [0, 0, 1]
    assert Dataset.open(target).streams == made.streams
    none = prepare(Source(query="select 1 as at where false"), target, timestamp="at", streams=2, spark=spark)
    assert (none.rows, none.min_us, len(none.streams)) == (0, None, 2)
    assert none.fields == ("at",)


def test_row_groups_are_small_and_can_be_sought_in(spark: SparkSession, target: Path) -> None:
    import pyarrow.parquet as pq

    if spark.version.startswith("4.0."):
        pytest.skip("Spark 4.0 bounds row groups by their size alone")
    query = f"select id as at, cast(id % 3 as string) as k from range({2 * GROUP_ROWS + 10})"
    conf = {"spark.sql.files.maxRecordsPerFile": "1000", "spark.sql.parquet.outputTimestampType": "INT96"}
    with set_for_now(spark, conf):
        made = prepare(Source(query=query), target, timestamp="at", streams=1, spark=spark)
        assert spark.conf.get("spark.sql.files.maxRecordsPerFile") == "1000"
    found = pq.read_metadata(made.streams[0].files[0])
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    assert [group.num_rows for group in groups] == [GROUP_ROWS, GROUP_ROWS, 10]
    assert [group.column(0).statistics.min for group in groups] == [0, GROUP_ROWS, 2 * GROUP_ROWS]


def test_nested_values_and_maps(spark: SparkSession, target: Path) -> None:
    query = (
        "select 1 as at, map('a', array(1)) as m, named_struct('x', 1.5BD, 'y', timestamp'2020-01-01') as s"
    )
    made = prepare(Source(query=query), target, timestamp="at", columns=["m", "s"], streams=1, spark=spark)
    assert made.types == {"m": "map<string,array<int>>", "s": "struct<x:decimal(2,1),y:timestamp>"}
    assert content(made)[0][0][1] == [("a", [1])]


class TestUsedAgain:
    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        folder = tmp_path / "in"
        folder.mkdir()
        (folder / "a.csv").write_text("1,x\n2,y\n")
        return folder

    def make(self, spark: SparkSession, source: Source, target: Path, **how: Any) -> Dataset:
        return prepare(source, target, timestamp="at", unit="s", streams=2, spark=spark, **how)

    def test_files_that_have_not_changed(
        self, spark: SparkSession, files: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = Source(files=str(files), format="csv", schema="at int, k string")
        first = self.make(spark, source, target)
        assert not first.reused
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules[prepare.__module__], "make_session", None)
            again = self.make(spark, source, target)
        assert again.reused
        assert again == first
        assert not self.make(spark, source, target, force=True).reused

    @pytest.mark.parametrize(
        "change",
        [
            lambda folder: (folder / "a.csv").write_text("1,x\n2,yy\n"),
            lambda folder: (folder / "b.csv").write_text("3,z\n"),
            lambda folder: os.utime(folder / "a.csv", (1, 1)),
        ],
        ids=["other content", "another file", "another time"],
    )
    def test_files_that_have(
        self, spark: SparkSession, files: Path, target: Path, change: Callable[[Path], object]
    ) -> None:
        source = Source(files=str(files), format="csv", schema="at int, k string")
        self.make(spark, source, target)
        change(files)
        assert not self.make(spark, source, target).reused

    def test_what_spark_does_not_read_does_not_count(
        self, spark: SparkSession, files: Path, target: Path
    ) -> None:
        source = Source(files=str(files), format="csv", schema="at int, k string")
        self.make(spark, source, target)
        (files / "_SUCCESS").touch()
        assert self.make(spark, source, target).reused

    def test_another_question(self, spark: SparkSession, files: Path, target: Path) -> None:
        source = Source(files=str(files), format="csv", schema="at int, k string")
        self.make(spark, source, target)
        assert not self.make(spark, source, target, key=["k"]).reused
        assert not self.make(spark, source, target, key=["k"], nulls="drop").reused

    def test_another_format(self, spark: SparkSession, files: Path, target: Path) -> None:
        source = Source(files=str(files), format="csv", schema="at int, k string")
        parquet = self.make(spark, source, target)
        arrow = self.make(spark, source, target, stored_as="arrow")
        assert not arrow.reused
        assert {path.suffix for path in target.iterdir()} == {".json", ".arrow"}
        assert (arrow.rows, arrow.types, arrow.min_us) == (parquet.rows, parquet.types, parquet.min_us)
        assert self.make(spark, source, target, stored_as="arrow").reused

    def test_a_damaged_one_is_made_anew(self, spark: SparkSession, files: Path, target: Path) -> None:
        source = Source(files=str(files), format="csv", schema="at int, k string")
        made = self.make(spark, source, target)
        stream = next(stream for stream in made.streams if stream.files)
        Path(stream.files[0]).unlink()
        assert not self.make(spark, source, target).reused
        assert Dataset.open(target).rows == 2

    def test_a_query_s_files_and_text(self, spark: SparkSession, files: Path, target: Path) -> None:
        def source(text: str) -> Source:
            views = {"given": str(files)}
            return Source(query=text, views=views, format="csv", schema="at int, k string")

        text = "select * from given where at < (select max(at) from given)"
        assert not self.make(spark, source(text), target).reused
        assert self.make(spark, source(text), target).reused
        assert not self.make(spark, source(text + " - 1"), target).reused
        (files / "b.csv").write_text("3,z\n")
        assert not self.make(spark, source(text), target).reused

    def test_a_function_s_code(
        self, spark: SparkSession, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = tmp_path / "given_rows.py"
        module.write_text("def rows(spark):\n    return spark.range(3).withColumnRenamed('id', 'at')\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        source = Source(function="given_rows:rows")
        assert not self.make(spark, source, target).reused
        assert self.make(spark, source, target).reused
        module.write_text(module.read_text() + "# another\n")
        assert not self.make(spark, source, target).reused

    def test_what_has_no_identity(self, spark: SparkSession, target: Path) -> None:
        df = spark.createDataFrame([(1,)], "at int")
        for source in (Source.of(df), Source(query="select cast(rand() as int) as at")):
            assert not self.make(spark, source, target).reused
            assert not self.make(spark, source, target).reused
            assert Dataset.open(target).manifest.request is None


class TestRefused:
    @pytest.mark.parametrize(
        ("query", "error", "message"),
        [
            ("select null as other", JobError, "unknown column in timestamp 'at': expected 'other'"),
            ("select 1 as at, null as n", JobError, "'n' is void; cast them to"),
            ("select cast(null as int) as at", RowsRefused, "'at' is null in 1 of 1 rows"),
            ("select 1 as at, if(id = 0, raise_error('lost'), 1) as n from range(2)", SparkError, "lost"),
            ("selec", SparkError, "PARSE_SYNTAX_ERROR"),
        ],
    )
    def test_nothing_is_left_and_nothing_lost(
        self, spark: SparkSession, target: Path, query: str, error: type[Exception], message: str
    ) -> None:
        first = prepare(Source(query="select 1 as at"), target, timestamp="at", streams=1, spark=spark)
        with pytest.raises(error, match=message):
            prepare(Source(query=query), target, timestamp="at", streams=1, spark=spark)
        assert Dataset.open(target) == first
        assert os.listdir(target.parent) == ["made"]

    def test_a_format_that_there_is_not(self, target: Path) -> None:
        message = "stored_as is 'arow': expected 'parquet' or 'arrow'; did you mean 'arrow'"
        with pytest.raises(JobError, match=message):
            prepare(Source(query="select 1 as at"), target, timestamp="at", stored_as="arow")
        assert not target.exists()

    def test_a_folder_that_is_none_of_ours(self, spark: SparkSession, target: Path) -> None:
        target.mkdir()
        (target / "letter").touch()
        with pytest.raises(DatasetError, match="made holds something else than a dataset"):
            prepare(Source(query="select 1 as at"), target, timestamp="at", spark=spark)
        assert os.listdir(target) == ["letter"]

    def test_a_source_that_is_never_the_same(self, spark: SparkSession, target: Path, tmp_path: Path) -> None:
        """Its file is another when it is read again."""
        path, later = tmp_path / "in.csv", tmp_path / "later"
        path.write_text("1\n2\n")
        later.write_text("1\n2\n3\n")

        def grow(progress: Progress) -> None:
            """Spark may be reading already, and must find either file whole."""
            if progress.stage == "writing" and later.exists():
                later.rename(path)

        source = Source(files=str(path), schema="at int")
        with pytest.raises(
            JobError, match="2 rows were counted, and 3 arrived: the source does not give the same"
        ):
            prepare(source, target, timestamp="at", streams=1, spark=spark, on_progress=grow)
        assert os.listdir(tmp_path) == ["in.csv"]


def test_progress_is_told(spark: SparkSession, target: Path) -> None:
    told: list[Progress] = []
    prepare(Source(query=ROWS), target, timestamp="at", spark=spark, on_progress=told.append)
    stages = [progress.stage for progress in told]
    assert list(dict.fromkeys(stages)) == ["starting", "counting", "writing"]
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None


def test_frames_and_paths_are_sources_too(spark: SparkSession, target: Path, tmp_path: Path) -> None:
    made = prepare(spark.range(3), target, timestamp="id", spark=spark)
    assert (made.rows, made.source) == (3, {"frame": "a DataFrame made in Python"})
    (tmp_path / "in.json").write_text('{"id": 5}\n')
    assert prepare(str(tmp_path / "in.json"), target, timestamp="id", spark=spark).min_us == 5


def test_the_same_rows_have_the_same_fingerprint(spark: SparkSession, tmp_path: Path) -> None:
    one = prepare(Source(query=ROWS), tmp_path / "one", timestamp="at", spark=spark)
    rows = spark.sql(ROWS).repartition(7, "k")
    two = prepare(rows, tmp_path / "two", timestamp="at", spark=spark)
    assert one.fingerprint == two.fingerprint
    other = prepare(rows.where("n > 0"), tmp_path / "two", timestamp="at", spark=spark)
    assert other.fingerprint != one.fingerprint
