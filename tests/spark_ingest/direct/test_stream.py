"""Structured Streaming as the source: micro-batches together are what a dataset of all of them would be."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

import pyarrow.parquet as pq  # noqa: E402

from framework.model.errors import ComponentError  # noqa: E402
from spark_ingest import JobError, SparkSpout, prepare  # noqa: E402
from tests.spark_ingest.direct.jobs import job, rows_of, run  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("java")

COLUMNS = ["at", "n", "name"]
SCHEMA = "at timestamp, n bigint, name string"
DISORDER_S = 20
SLACK_S = DISORDER_S + 1
ROWS = 403


def write_batches(folder: Path, late: int = 0) -> Path:
    """Four files, each a micro-batch; a row is up to `DISORDER_S` seconds earlier than the latest before.

    Args:
        folder: does not exist yet.
        late: so many rows of the last file are much earlier than that.
    """
    draw = random.Random(7)
    folder.mkdir()
    rows = [(max(0, second + draw.randrange(-DISORDER_S, 1)), second) for second in range(400)]
    for number in range(4):
        part = rows[100 * number : 100 * number + 100]
        draw.shuffle(part)
        part += [(100 * number - 1, 8000 + number)] * bool(number)
        part += [(1, 9000 + i) for i in range(late) if number == 3]
        table = {
            "at": pa.array([1_000_000 * at for at, _ in part], pa.timestamp("us", "UTC")),
            "n": [n for _, n in part],
            "name": [None if n % 5 == 0 else f"name {n % 3}" for _, n in part],
        }
        path = folder / f"{number}.parquet"
        pq.write_table(pa.table(table), path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))  # Spark takes the oldest first
    return folder


def streamed(files: Path, streams: int, /, **keywords: Any) -> dict[str, Any]:
    """Keywords of a spout that reads one file after the other."""
    described = {
        "files": str(files),
        "format": "parquet",
        "schema": SCHEMA,
        "options": {"maxFilesPerTrigger": 1},
        "columns": COLUMNS,
        "streaming": True,
        "once": True,
        "slack": SLACK_S,
    }
    return {**job(files, streams), **described, **keywords}


@pytest.fixture(scope="module")
def staged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, int], Any]:
    """Prepare a dataset of all files, and read its rows."""

    def rows(files: Path, streams: int) -> list[Any]:
        path = tmp_path_factory.mktemp("staged") / "dataset"
        found = str(files / "*.parquet")
        prepare(found, path, timestamp="at", streams=streams, columns=COLUMNS, spark=spark)
        return rows_of(SparkSpout(str(path)))

    return rows


class TestMicroBatches:
    def test_within_the_slack_are_as_a_dataset(
        self, tmp_path: Path, staged: Callable[[Path, int], list[Any]]
    ) -> None:
        files = write_batches(tmp_path / "in")
        assert rows_of(SparkSpout(**streamed(files, 2)), 2) == staged(files, 2)

    @pytest.mark.slow
    @pytest.mark.exhaustive
    @pytest.mark.parametrize("streams", [1, 3, 4])
    def test_of_any_number_of_streams(
        self, tmp_path: Path, streams: int, staged: Callable[[Path, int], list[Any]]
    ) -> None:
        files = write_batches(tmp_path / "in")
        assert rows_of(SparkSpout(**streamed(files, streams)), 2) == staged(files, streams)

    @pytest.mark.slow
    @pytest.mark.exhaustive
    def test_of_a_function(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STREAMED", str(write_batches(tmp_path / "in")))
        no_files = dict.fromkeys(["files", "format", "schema", "options"])
        function = "tests.spark_ingest.direct.test_stream:frame"
        assert len(rows_of(SparkSpout(**streamed(tmp_path, 1, **no_files, function=function)))) == ROWS

    @pytest.mark.slow
    def test_without_end(self, tmp_path: Path) -> None:
        """All but what the slack holds back arrives, and the run can be drained."""
        files = write_batches(tmp_path / "in")
        report = run(SparkSpout(**streamed(files, 2, once=False)), 2, limits={"max_tuples": 300})
        assert len(report.result("sink")) >= 300


class TestLate:
    @pytest.mark.slow
    def test_rows_are_dropped_and_counted(self, tmp_path: Path) -> None:
        files = write_batches(tmp_path / "in", late=7)
        report = run(SparkSpout(**streamed(files, 1, late="drop")))
        assert len(report.result("sink")) == ROWS
        assert report.components["rows"].metrics["late rows"] == 7

    @pytest.mark.slow
    @pytest.mark.exhaustive
    def test_rows_are_raised_and_counted(self, tmp_path: Path) -> None:
        files = write_batches(tmp_path / "in", late=7)
        report = run(SparkSpout(**streamed(files, 1, late="raise")))
        found = [values[1] for (values,) in report.result("sink")]
        assert len(found) == ROWS + 7
        # The sink has what had gone on before them in front of them.
        assert min(found.index(9000 + i) for i in range(7)) > 200
        assert report.components["rows"].metrics["late rows"] == 7

    @pytest.mark.slow
    @pytest.mark.exhaustive
    def test_rows_are_refused(self, tmp_path: Path) -> None:
        files = write_batches(tmp_path / "in", late=7)
        with pytest.raises(ComponentError, match="7 rows of the stream come too late"):
            run(SparkSpout(**streamed(files, 1)))


class TestRefused:
    @pytest.mark.parametrize(
        ("keywords", "message"),
        [
            ({"slack": -1}, "slack is -1: expected seconds"),
            ({"late": "keep"}, "late is 'keep': expected 'drop', 'raise' or 'refuse'"),
            ({"schema": None}, "format= and schema="),
            ({"duplicates": "drop"}, "expected 'keep'"),
            ({"streaming": False}, "say streaming: true"),
        ],
    )
    def test_before_anything_starts(self, tmp_path: Path, keywords: dict[str, Any], message: str) -> None:
        with pytest.raises(JobError, match=message):
            SparkSpout(**streamed(tmp_path, 1, **keywords))

    def test_a_query(self, tmp_path: Path) -> None:
        no_files = dict.fromkeys(["files", "format", "schema", "options"])
        with pytest.raises(JobError, match="found a query"):
            SparkSpout(**streamed(tmp_path, 1, **no_files, query="SELECT 1 AS at"))


def frame(spark: SparkSession) -> DataFrame:
    """The files that the environment names, as a stream."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.parquet(os.environ["STREAMED"])
