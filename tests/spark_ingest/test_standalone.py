"""A standalone cluster of Spark's on this machine, a master and a worker: the rows are those without it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

import pyarrow.parquet as pq

from framework.frontends.loading import load
from framework.testing import run_topology
from spark_ingest import SparkSpout, prepare
from tests.spark_ingest.direct.jobs import COLUMNS, job, rows_of, write_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

LOOPBACK = "127.0.0.1"
COMES_WITHIN_S = 120.0
ENDS_WITHIN_S = 30.0
CONF = {
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.memory": "600m",
    "spark.executor.memory": "600m",
    "spark.sql.shuffle.partitions": "3",
    "spark.pyspark.python": sys.executable,
}
"""Executors have the Python of the tests, which users of a cluster have to say."""

PROJECT = """
from framework import Bolt


class Totals(Bolt):
    outputs = ["name", "rows", "total"]

    def initialize(self, storm_conf, context):
        self.totals = {}

    def process(self, tup):
        rows, total = self.totals.get(tup.values.name, (0, 0))
        self.totals[tup.values.name] = rows + 1, total + tup.values.n
        self.emit([tup.values.name, rows + 1, total + tup.values.n])
"""

TOPOLOGY = """
name: totals
spouts:
  - {{id: rows, className: spark_ingest.SparkSpout, constructorArgs: {{dataset: {dataset}}}}}
bolts:
  - {{id: totals, className: own_bolts.Totals, parallelism: 2}}
streams:
  - {{from: rows, to: totals, grouping: {{type: FIELDS, args: [name]}}}}
"""


@dataclass(frozen=True)
class Cluster:
    """The address of the cluster, and how a driver of it is started."""

    master: str

    def viper(self, folder: Path, *words: str) -> None:
        """A command that the cluster runs, with a folder as the current one."""
        conf = [word for key, value in CONF.items() for word in ("--spark-conf", f"{key}={value}")]
        command = [sys.executable, "-m", "framework.cli", *words, "--master", self.master, *conf]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with daemon(folder, "master.Master") as log:
        master = said(log, "Starting Spark master at ")
        room = ("-c", "4", "-m", "1g", "-d", str(folder / "work"))
        with daemon(folder, "worker.Worker", *room, master) as log:
            said(log, "Successfully registered with master ")
            yield Cluster(master)


@contextmanager
def daemon(folder: Path, name: str, *words: str) -> Iterator[Path]:
    """One of Spark's processes, which ends with the block, as do those that it has started; gives its log."""
    import pyspark

    (home,) = pyspark.__path__
    log = folder / f"{name}.log"
    command = [f"{home}/bin/spark-class", f"org.apache.spark.deploy.{name}"]
    where = ("--host", LOOPBACK, "--port", "0", "--webui-port", "0")
    settings = {
        "SPARK_HOME": home,
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_DIRS": str(folder),
    }
    with open(log, "wb") as written:
        started = subprocess.Popen(
            [*command, *where, *words],
            cwd=folder,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield log
    finally:
        end(started)


def end(started: subprocess.Popen[bytes]) -> None:
    """Have it end, and kill what is left of its group."""
    started.terminate()
    with suppress(subprocess.TimeoutExpired):
        started.wait(ENDS_WITHIN_S)
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def said(log: Path, begin: str) -> str:
    """The word that follows in a log, once it stands there."""
    deadline = time.monotonic() + COMES_WITHIN_S
    while time.monotonic() < deadline:
        _, found, rest = log.read_text(errors="replace").partition(begin)
        if found and "\n" in rest:
            return rest.split()[0]
        time.sleep(0.1)
    raise AssertionError(f"{log} does not say {begin!r}:\n{log.read_text(errors='replace')}")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("standalone") / "rows")


@pytest.fixture(scope="module")
def dataset(files: Path, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prepared without the cluster."""
    path = tmp_path_factory.mktemp("staged") / "dataset"
    prepare(str(files / "*.parquet"), path, timestamp="at", streams=2, columns=COLUMNS, spark=spark)
    return path


@pytest.fixture(scope="module")
def rows(dataset: Path) -> Sequence[Any]:
    found = rows_of(SparkSpout(str(dataset)))
    assert len(found) > 4000
    return found


def test_a_dataset_that_it_prepares(
    cluster: Cluster, files: Path, rows: Sequence[Any], tmp_path: Path
) -> None:
    asked = ("--timestamp", "at", "--streams", "2", "--columns", ",".join(COLUMNS))
    cluster.viper(tmp_path, "prepare", str(files / "*.parquet"), *asked, "-O", "dataset")
    assert rows_of(SparkSpout(str(tmp_path / "dataset")), 2) == rows
    assert [path.name for path in tmp_path.iterdir()] == ["dataset"]


def test_a_job_as_the_spout(cluster: Cluster, files: Path, rows: Sequence[Any]) -> None:
    assert rows_of(SparkSpout(**job(files, 2, master=cluster.master, conf=CONF)), 2) == rows


def test_a_backfill(cluster: Cluster, dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "own_bolts.py").write_text(PROJECT)
    target = tmp_path / "totals.yaml"
    target.write_text(TOPOLOGY.format(dataset=dataset))
    declared = "totals=name string, rows bigint, total bigint"
    words = ("--stream", "totals", "--schema", declared, "--shards", "3", "-O", "out")
    cluster.viper(tmp_path, "backfill", str(target), *words)
    made = pq.read_table(tmp_path / "out" / "totals").sort_by("_position").drop(["_time_us", "_position"])
    loaded = load(str(target))
    assert loaded.topology is not None, loaded.problems
    local = run_topology(loaded.topology, conf={"viper.order": "strict"}, timeout_s=120)
    expected = [tuple(row) for row in local.emitted("totals")]
    assert len(expected) > 4000 and [tuple(row.values()) for row in made.to_pylist()] == expected
