from __future__ import annotations

import datetime
import pickle
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from framework import Bolt, Grouping, Topology, TopologyBuilder  # noqa: E402
from framework.model.errors import ViperError  # noqa: E402
from framework.operators.components.partitioned import Pace  # noqa: E402
from framework.operators.sinks import CollectingSink  # noqa: E402
from framework.testing import run_topology  # noqa: E402
from spark_ingest import DatasetError, JobError, SparkSpout  # noqa: E402
from spark_ingest.datasets.dataset import Dataset  # noqa: E402
from spark_ingest.datasets.formats import STORED_AS  # noqa: E402
from tests.spark_ingest.stages import rows_of, table, write_stage  # noqa: E402

STREAMS = 4
CARRIERS = ["AA", "UA", "B6"]


@pytest.fixture(scope="module", params=STORED_AS.values(), ids=STORED_AS)
def stage(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Dataset:
    """400 rows of times 0, 0, 0, 1, 1, 1, ..., of which every fourth is in the same stream."""
    streams = []
    for stream in range(STREAMS):
        numbers = range(stream, 400, STREAMS)
        rows = table([n // 3 for n in numbers], n=list(numbers), carrier=[CARRIERS[n % 3] for n in numbers])
        streams.append([rows])
    return write_stage(tmp_path_factory.mktemp("spout") / "stage", streams, stored_as=request.param)


class Running(Bolt):
    """Counts the rows of each carrier."""

    outputs = ["carrier", "count", "n"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.counts = dict.fromkeys(CARRIERS, 0)

    def process(self, tup: Any) -> None:
        n, carrier = tup.values
        self.counts[carrier] += 1
        self.emit([carrier, self.counts[carrier], n])


def topology(path: Path, par: int, **options: Any) -> Any:
    builder = TopologyBuilder()
    builder.set_spout("rows", SparkSpout(str(path), **options), par)
    builder.set_bolt("count", Running, par).fields_grouping("rows", "carrier")
    builder.set_bolt("sink", CollectingSink).global_grouping("count")
    return builder.build("counting")


def run(made: Any, **options: Any) -> Any:
    from framework.model.config import resolve
    from framework.planning import make_plan
    from framework.runtime import run as run_plan

    settings, problems = resolve(made, options=options)
    assert not problems
    return run_plan(make_plan(made, settings), settings)


def expected(first: int = 0, last: int = 400) -> list[tuple[str, int, int]]:
    """By time, and within a time by stream."""
    numbers = sorted(range(first, last), key=lambda n: (n // 3, n % STREAMS))
    counts = dict.fromkeys(CARRIERS, 0)
    rows = []
    for n in numbers:
        counts[CARRIERS[n % 3]] += 1
        rows.append((CARRIERS[n % 3], counts[CARRIERS[n % 3]], n))
    return rows


class TestReplay:
    @pytest.mark.few(9)
    @pytest.mark.parametrize("par", [1, 2, 3, 4, 5])
    def test_the_same_rows_for_every_parallelism(self, stage: Dataset, par: int) -> None:
        report = run(topology(stage.path, par, columns=["n", "carrier"]), **{"viper.worker": "inline"})
        assert report.result("sink") == expected()

    @pytest.mark.few(1)
    def test_on_two_processes(self, stage: Dataset) -> None:
        options = {"viper.worker": "process", "topology.workers": 2}
        part = {"start": datetime.datetime(1970, 1, 1, microsecond=10), "until": datetime.date(2000, 1, 1)}
        assert run(topology(stage.path, 2, **part), **options).result("sink") == expected(30)

    def test_a_part_of_the_time(self, stage: Dataset) -> None:
        report = run(topology(stage.path, 2, start=10, until=20))
        assert report.result("sink") == expected(30, 60)

    def test_paced(self, stage: Dataset) -> None:
        report = run(topology(stage.path, 2, pace=0.005))  # 134 us of event time
        assert report.result("sink") == expected()
        assert report.elapsed_s >= 132e-6 / 0.005

    def test_the_report_has_the_rows_of_each_stream(self, stage: Dataset) -> None:
        counters = run(topology(stage.path, 3)).components["rows"]
        assert counters.emitted == 400
        assert counters.metrics == {f"rows read of stream {n}": 100 for n in range(STREAMS)}

    @pytest.mark.few(8)
    @pytest.mark.parametrize("par", [1, 3, 4])
    @pytest.mark.parametrize("typed", [True, {"n": "int64", "carrier": "string"}])
    def test_columns_bring_the_same_rows(self, stage: Dataset, par: int, typed: Any) -> None:
        assert run(topology(stage.path, par, typed=typed)).result("sink") == expected()

    @pytest.mark.few(1)
    @pytest.mark.parametrize("rows", [1, 7, 1 << 20])
    def test_columns_on_two_processes(self, stage: Dataset, rows: int) -> None:
        conf = {"viper.worker": "process", "topology.workers": 2, "viper.columns.rows": rows}
        assert run(topology(stage.path, 2, typed=True), **conf).result("sink") == expected()

    @pytest.mark.parametrize(
        ("typed", "message"),
        [
            ({"n": "int64", "carrier": "int8"}, "column 'carrier' is string: expected int8"),
            ({"n": "int64"}, "names no type for field 'carrier'"),
            ({"n": "int64", "carrier": "strig"}, "field 'carrier': 'strig' is no type"),
            ("n", "typed is 'n': expected true, or a type for each column"),
        ],
    )
    def test_a_schema_that_does_not_fit(self, stage: Dataset, typed: Any, message: str) -> None:
        with pytest.raises(JobError, match=message):
            SparkSpout(str(stage.path), typed=typed)

    def test_in_a_topology_class(self, stage: Dataset) -> None:
        class Counting(Topology):
            rows = SparkSpout(str(stage.path), columns=["n", "carrier"]).spec(par=2)
            count = Running.spec(inputs={rows: Grouping.fields("carrier")})
            sink = CollectingSink.spec(inputs={count: Grouping.GLOBAL})

        assert run_topology(Counting).report.result("sink") == expected()


class TestYaml:
    TEXT = """
name: counting
config: {viper.worker: inline}
spouts:
  - id: rows
    className: spark_ingest.SparkSpout
    constructorArgs:
      {dataset: STAGE, columns: COLUMNS, start: 1970-01-01, until: 1970-01-01T00:00:00.000005Z}
    parallelism: 2
bolts:
  - id: sink
    className: framework.operators.sinks.CollectingSink
streams:
  - {from: rows, to: sink, grouping: {type: GLOBAL}}
"""

    def write(self, folder: Path, stage: str, columns: str = "[carrier]") -> Path:
        path = folder / "counting.yaml"
        path.write_text(self.TEXT.replace("STAGE", stage).replace("COLUMNS", columns))
        return path

    def test_runs(self, stage: Dataset, tmp_path: Path) -> None:
        ran = run_topology(str(self.write(tmp_path, str(stage.path))))
        assert ran.report.result("sink") == [(carrier,) for carrier, _, _ in expected(0, 15)]

    def test_a_mistake_is_told_with_its_place(self, stage: Dataset, tmp_path: Path) -> None:
        with pytest.raises(
            ViperError, match=r"counting\.yaml.*unknown column 'carier'.*did you mean 'carrier'"
        ):
            run_topology(str(self.write(tmp_path, str(stage.path), "[carier]")))


class TestDamage:
    def test_a_damaged_dataset_refuses_the_run(self, stage: Dataset, tmp_path: Path) -> None:
        import shutil

        path = tmp_path / "copy"
        shutil.copytree(stage.path, path)
        made = topology(path, 2)
        file = next(path.glob("stream-*"))
        file.write_bytes(file.read_bytes()[:-20])
        with pytest.raises(ViperError, match=rf"{file.name}"):
            run(made)

    def test_a_stage_out_of_order_stops_the_run(self, tmp_path: Path) -> None:
        rows = table([0, 2, 1, 3], n=[0, 1, 2, 3], carrier=["AA"] * 4)
        stage = write_stage(tmp_path / "stage", [[rows]])
        with pytest.raises(
            ViperError, match=r"row 2 is of .*000001.*, after one of .*000002.*prepare the dataset again"
        ):
            run(topology(stage.path, 1))


class TestArguments:
    @pytest.mark.parametrize("pace", [0, -1, float("inf"), float("nan"), True, "fast"])
    def test_no_pace(self, stage: Dataset, pace: Any) -> None:
        with pytest.raises(JobError, match=r"pace is .*: expected a number above 0"):
            SparkSpout(str(stage.path), pace=pace)

    def test_the_pace_begins_with_the_first_row(self, stage: Dataset) -> None:
        assert SparkSpout(str(stage.path), pace=2).pace() == Pace(0, 2)
        assert SparkSpout(str(stage.path), pace=2, start=7).pace() == Pace(7, 2)
        assert SparkSpout(str(stage.path)).pace() is None

    def test_a_dataset_and_a_job(self, stage: Dataset) -> None:
        with pytest.raises(JobError, match=r"query, timestamp describe a job, and .* is a prepared dataset"):
            SparkSpout(str(stage.path), query="SELECT 1", timestamp="at")

    def test_neither(self) -> None:
        with pytest.raises(
            JobError, match="nothing to replay: give the folder of a prepared dataset, or a job"
        ):
            SparkSpout()

    def test_the_rows_of_a_job_have_to_be_named(self) -> None:
        with pytest.raises(JobError, match="columns is missing: the rows of a job have to be named"):
            SparkSpout(query="SELECT 1", timestamp="at")

    def test_a_jobs_keywords(self) -> None:
        spout = SparkSpout(query="SELECT 1", timestamp="at", streams=2, columns=["n"], master="local[2]")
        assert spout.outputs == ["n"] and spout.partitions == 2
        with pytest.raises(JobError, match=r"unknown keyword of a job 'quary'.*; did you mean 'query'"):
            SparkSpout(quary="SELECT 1", timestamp="at", columns=["n"])
        with pytest.raises(JobError, match="timestamp is missing: name the column with the event time"):
            SparkSpout(query="SELECT 1", columns=["n"])

    def test_a_dataset_that_is_not_there(self) -> None:
        with pytest.raises(DatasetError, match="there is no"):
            SparkSpout("nowhere")

    def test_unit_tests_can_ask_for_rows(self, stage: Dataset) -> None:
        spout = SparkSpout(str(stage.path), columns=["carrier"], until=1)
        spout.initialize({}, {})
        assert spout.outputs == ["carrier"] and spout.partitions == STREAMS
        assert [rows_of(spout.blocks(n, None)) for n in range(3)] == [[(0, c)] for c in CARRIERS]  # type: ignore[arg-type]

    def test_its_errors_cross_processes(self) -> None:
        error = pickle.loads(pickle.dumps(DatasetError("broken")))
        assert isinstance(error, DatasetError) and str(error) == "broken"
