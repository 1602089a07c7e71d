"""Backfills in Spark, against runs on one machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

import pyarrow as pa

from framework import Bolt, TopologyBuilder
from spark_ingest import SparkSpout, prepare
from spark_ingest.backfill import BackfillError, backfill, backfill_to, understood
from spark_ingest.backfill.wire import positions_of
from spark_ingest.errors import DatasetError, JobError, SparkError
from spark_ingest.job.source import Source
from spark_ingest.job.stream_spec import StreamSpec
from spark_ingest.job.streams import as_streams
from tests.spark_ingest.backfill.components import Events, Large, PerItem, Sums
from tests.spark_ingest.backfill.recorded import Placed, difference, recorded
from tests.spark_ingest.backfill.topologies import SHOP, Shop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMAS = {
    "sums": "user string, sum bigint, last string",
    "sums/odd": "sum bigint, user string",
    "items": "item int, count int, before string",
    "meet": "key string, left string, right string",
}


def rows_of(frame: DataFrame) -> list[Placed]:
    rows = frame.collect()
    positions = positions_of(pa.array([bytes(row[1]) for row in rows], pa.binary()))
    found = [(position, tuple(row)[2:]) for position, row in zip(positions, rows, strict=True)]
    assert [row[0] for row in rows] == [position.ts for position, _ in found]
    return sorted(found, key=lambda placed: placed[0])


def differences(made: Mapping[str, DataFrame], local: Mapping[str, list[Placed]]) -> dict[str, str]:
    found = {name: difference(rows_of(frame), local[name]) for name, frame in made.items()}
    return {name: text for name, text in found.items() if text is not None}


def kept(spark: SparkSession) -> int:
    return spark.sparkContext._jsc.getPersistentRDDs().size()


def test_every_stream_equals_the_run_on_one_machine(spark: SparkSession, tmp_path: Path) -> None:
    local = recorded(Shop, tmp_path / "recording")
    before = kept(spark)
    with backfill(Shop, SHOP, spark=spark, shards=3, schemas=SCHEMAS) as made:
        assert list(made) == list(SHOP)
        assert differences(made, local) == {}
    assert kept(spark) == before


QUERY = (
    "SELECT id, id % 7 AS user, id % 5 AS item, cast(hash(id) % 90 AS int) AS amount, "
    "timestamp_micros(id DIV 3) AS at FROM range(700)"
)
COLUMNS = ["id", "user", "item", "amount"]


def over(**spout: Any) -> TopologyBuilder:
    """Bolts by two keys over a `SparkSpout`."""
    builder = TopologyBuilder()
    builder.set_spout("events", SparkSpout, 2, kwargs=spout)
    builder.set_bolt("sums", Sums, 2).fields_grouping("events", "user")
    builder.set_bolt("large", Large).shuffle_grouping("events")
    builder.set_bolt("items", PerItem, 3).fields_grouping("large", "item")
    return builder


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared") / "events"
    prepare(Source(query=QUERY), folder, timestamp="at", streams=3, spark=spark)
    return folder


@pytest.fixture(scope="module")
def local(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Placed]]:
    topology = over(dataset=str(folder), columns=COLUMNS)
    return recorded(topology, tmp_path_factory.mktemp("recorded") / "recording")


class TestOneSourceInManyWays:
    """A prepared dataset run on one machine is what all of them equal."""

    OUTPUTS = ("sums", "items")
    SCHEMAS = {"sums": "user string, sum bigint, last bigint", "items": SCHEMAS["items"]}

    def test_the_dataset(self, spark: SparkSession, folder: Path, local: Any) -> None:
        topology = over(dataset=str(folder), columns=COLUMNS)
        with backfill(topology, self.OUTPUTS, spark=spark, shards=2, schemas=self.SCHEMAS) as made:
            assert differences(made, local) == {}
            assert made["sums"].count() == 700

    def test_the_job(self, spark: SparkSession, local: Any) -> None:
        topology = over(query=QUERY, timestamp="at", streams=3, columns=COLUMNS)
        with backfill(topology, self.OUTPUTS, spark=spark, shards=2, schemas=self.SCHEMAS) as made:
            # The prepared dataset's streams are by its whole rows, the job's by the columns that it names.
            assert {name: frame.count() for name, frame in made.items()} == {
                name: len(local[name]) for name in self.OUTPUTS
            }

    def test_the_job_with_all_columns(self, spark: SparkSession, folder: Path, tmp_path: Path) -> None:
        columns = [*COLUMNS, "at"]
        local = recorded(over(dataset=str(folder), columns=columns), tmp_path / "recording")
        topology = over(query=QUERY, timestamp="at", streams=3, columns=columns)
        with backfill(topology, self.OUTPUTS, spark=spark, shards=2, schemas=self.SCHEMAS) as made:
            assert differences(made, local) == {}

    def test_rows_that_are_given(self, spark: SparkSession, local: Any, folder: Path) -> None:
        spec = StreamSpec("at", streams=3)
        rows = as_streams(spark.sql(QUERY), spec).select("_time_us", *COLUMNS)
        topology = over(dataset=str(folder), columns=COLUMNS)
        with backfill(
            topology, self.OUTPUTS, spark=spark, shards=2, schemas=self.SCHEMAS, rows={"events": rows}
        ) as made:
            assert differences(made, local) == {}

    def test_a_part_of_its_time(self, spark: SparkSession, folder: Path, tmp_path: Path) -> None:
        topology = over(dataset=str(folder), columns=COLUMNS, start=50, until=120)
        local = recorded(topology, tmp_path / "recording")
        assert len(local["sums"]) == 210
        with backfill(topology, ["sums"], spark=spark, schemas={"sums": self.SCHEMAS["sums"]}) as made:
            assert differences(made, local) == {}


def test_rows_with_other_columns(spark: SparkSession) -> None:
    rows = spark.sql("SELECT 1L AS _time_us, 'x' AS id")
    with pytest.raises(JobError, match="rows given for spout 'events' have columns '_time_us' or 'id'"):
        backfill(Shop, ["large"], spark=spark, rows={"events": rows})


@pytest.mark.parametrize("kind", ["int", "timestamp"])
def test_rows_with_another_time(spark: SparkSession, kind: str) -> None:
    time = "TIMESTAMP_SECONDS(1)" if kind == "timestamp" else "1"
    rows = spark.sql(f"SELECT {time} AS _time_us, 'x' AS id, 'ann' AS user, 1 AS item, 99 AS amount")
    with pytest.raises(JobError, match=f"for spout 'events' have '_time_us' as {kind}: expected bigint"):
        backfill(Shop, ["large"], spark=spark, rows={"events": rows})


def test_rows_whose_time_is_null(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT CAST(NULL AS bigint) AS _time_us, 'x' AS id, 'ann' AS user, 1 AS item, 9 AS amount"
    )
    schemas = {"large": "item bigint, id string, amount bigint"}
    with (
        backfill(Shop, ["large"], spark=spark, rows={"events": rows}, schemas=schemas) as made,
        pytest.raises(SparkError, match="the event time has 1 nulls"),
        understood("a test"),
    ):
        made["large"].collect()


def test_rows_whose_time_goes_back(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT 9 - id AS _time_us, 'x' AS id, 'ann' AS user, 1 AS item, 99 AS amount FROM range(0, 9, 1, 1)"
    )
    schemas = {"large": "item bigint, id string, amount bigint"}
    with (
        backfill(Shop, ["large"], spark=spark, rows={"events": rows}, schemas=schemas) as made,
        pytest.raises(BackfillError, match="time must not go back within a partition"),
        understood("a test"),
    ):
        made["large"].collect()


class Fails(Bolt):
    outputs = ["id"]

    def process(self, tup: Any) -> None:
        if tup.values.amount == 99:
            raise ValueError("too much")
        self.emit([tup.values.id])


def failing() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("events", Events, kwargs={"rows": 2000})
    builder.set_bolt("fails", Fails).fields_grouping("events", "user")
    builder.set_bolt("sums", Sums).fields_grouping("events", "user")
    return builder


class TestStoring:
    def test_whole(self, spark: SparkSession, tmp_path: Path) -> None:
        folder = tmp_path / "new" / "out"
        local = recorded(Shop, tmp_path / "recording")
        counts = backfill_to(
            Shop, folder, ["sums", "sums/odd"], spark=spark, schemas={"sums": SCHEMAS["sums"]}
        )
        assert counts == {name: len(local[name]) for name in ("sums", "sums/odd")}
        frames = {name: spark.read.parquet(f"{folder}/{name.replace('/', '.')}") for name in counts}
        assert differences(frames, local) == {}
        summary = json.loads((folder / "backfill.json").read_text())["outputs"]
        assert summary["sums/odd"]["folder"] == "sums.odd"
        assert summary["sums"]["rows"] == counts["sums"]
        assert "user:string,sum:bigint,last:string" in summary["sums"]["schema"]
        assert [path.name for path in folder.parent.iterdir()] == ["out"]

    def test_files_are_in_order(self, spark: SparkSession, tmp_path: Path) -> None:
        import pyarrow.parquet as pq

        schemas = {"items": SCHEMAS["items"]}
        backfill_to(Shop, tmp_path / "out", ["items"], spark=spark, shards=3, schemas=schemas)
        files = sorted((tmp_path / "out" / "items").glob("*.parquet"))
        columns = [pq.read_table(file)["_position"].to_pylist() for file in files]
        assert sum(map(len, columns)) > 1000
        assert all(column == sorted(column) for column in columns)

    def test_a_bolt_that_raises_leaves_nothing(self, spark: SparkSession, tmp_path: Path) -> None:
        schemas = {"fails": "id string", "sums": SCHEMAS["sums"]}
        with pytest.raises(BackfillError) as caught:
            backfill_to(failing(), tmp_path / "out", ["sums", "fails"], spark=spark, schemas=schemas)
        text = str(caught.value)
        assert text.startswith("output 'fails': in shard ")
        assert "component 'fails', task 2, in process: ValueError: too much" in text
        assert "amount=99" in text
        assert list(tmp_path.iterdir()) == []

    def test_a_value_that_does_not_fit_is_told_once(self, spark: SparkSession, tmp_path: Path) -> None:
        schemas = {"large": "item date, id string, amount int"}
        with pytest.raises(BackfillError, match=r"^output 'large', field 'item': .* is no date") as caught:
            backfill_to(Shop, tmp_path / "out", ["large"], spark=spark, schemas=schemas)
        assert str(caught.value).count("output 'large'") == 1

    def test_nothing_is_written_over(self, spark: SparkSession, tmp_path: Path) -> None:
        """And nothing runs before that shows, a sample for the types neither."""
        other = tmp_path / "other"
        other.mkdir()
        (other / "letter").write_text("mine")
        with pytest.raises(DatasetError, match="holds something else than a backfill"):
            backfill_to(failing(), other, ["fails"], spark=spark, force=True)
        assert [path.name for path in other.iterdir()] == ["letter"]

    def test_one_of_ours_is_replaced_if_that_is_meant(self, spark: SparkSession, tmp_path: Path) -> None:
        out = tmp_path / "out"
        schemas = {"large": "item bigint, id string, amount bigint"}
        backfill_to(Shop, out, ["large"], spark=spark, schemas=schemas)
        with pytest.raises(DatasetError, match="holds a backfill already"):
            backfill_to(Shop, out, ["large"], spark=spark, schemas=schemas)
        backfill_to(
            Shop, out, ["names"], spark=spark, schemas={"names": "name string, id string"}, force=True
        )
        assert sorted(path.name for path in out.iterdir() if not path.name.startswith(".")) == [
            "backfill.json",
            "names",
        ]


def test_ported_components_want_processes_of_their_own(spark: SparkSession) -> None:
    streamparse = pytest.importorskip("streamparse")

    class Ported(streamparse.Bolt):  # type: ignore[misc, name-defined]
        outputs = ["id"]

        def process(self, tup: Any) -> None:
            self.emit([tup.values[0]])

    builder = TopologyBuilder()
    builder.set_spout("events", Events)
    builder.set_bolt("bolt", Ported).fields_grouping("events", "user")
    with pytest.raises(JobError, match=r"spark\.python\.worker\.reuse true: set it to false"):
        backfill(builder, ["bolt"], spark=spark)


@pytest.mark.parametrize("shards", [0, -1, True, "2", 1.5])
def test_shards_are_a_number(spark: SparkSession, shards: Any) -> None:
    with pytest.raises(JobError, match="expected a whole number from 1 upwards"):
        backfill(Shop, ["sums"], spark=spark, shards=shards)


def test_schemas_are_checked_before_anything_runs(spark: SparkSession) -> None:
    with pytest.raises(JobError, match="unknown field 'usr'"):
        backfill(Shop, ["large", "sums"], spark=spark, schemas={"sums": "usr string, sum int, last string"})
