"""Tasks of a job's spout that are restarted, and workers that die: every row arrives once, in order."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from framework import TopologyBuilder
from framework.model.config import resolve
from framework.operators.components import Block, Watermark
from framework.operators.sinks import CollectingSink
from framework.planning import make_plan
from framework.runtime import RunReport
from framework.runtime import run as run_plan
from spark_ingest import SparkSpout, prepare
from tests.spark_ingest.direct.jobs import COLUMNS, SMALL, Pass, job, rows_of, write_rows

FEW = {"conf": {**SMALL, "spark.sql.execution.arrow.maxRecordsPerBatch": "500"}}
"""So that much is still in Spark when something happens."""
AFTER = 3000
"""Rows of a stream after which it does."""

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]


class Interrupted(SparkSpout):
    """Something happens in the middle of each stream that is read from its beginning."""

    happens: Callable[[Any, int], None]

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        rows = 0
        with closing(super().blocks(partition, start_us)) as blocks:  # type: ignore[type-var]
            for block in blocks:
                yield block
                before, rows = rows, rows + (len(block.rows) if isinstance(block, Block) else 0)
                if start_us is None and before <= AFTER < rows:
                    self.happens(partition)


class Raising(Interrupted):
    def happens(self, partition: int) -> None:
        raise RuntimeError("it is gone for a while")


class Broken(Interrupted):
    """Its connection breaks; Spark repeats the stage."""

    def happens(self, partition: int) -> None:
        self._feed._receiver._inboxes[partition].discard()  # type: ignore[attr-defined]


class Killed(Interrupted):
    def happens(self, partition: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More rows than all buffers on the way hold."""
    return write_rows(tmp_path_factory.mktemp("many") / "rows", count=40_000, wide=1000)


@pytest.fixture(scope="module")
def expected(spark: Any, files: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("staged") / "two"
    prepare(str(files / "*.parquet"), folder, timestamp="at", streams=2, columns=COLUMNS, spark=spark)
    return rows_of(SparkSpout(str(folder)))


def run(spout: SparkSpout, par: int, **options: Any) -> RunReport:
    """The spout's tasks in processes of their own, where there are processes."""
    builder = TopologyBuilder()
    builder.set_spout("rows", spout, par, config={"viper.isolated": True})
    builder.set_bolt("pass", Pass, 2).fields_grouping("rows", "n")
    builder.set_bolt("sink", CollectingSink).global_grouping("pass")
    topology = builder.build("restarted")
    settings, problems = resolve(topology, options=options)
    assert not problems, problems
    return run_plan(make_plan(topology, settings), settings)


def received(report: RunReport) -> list[Any]:
    return [values for (values,) in report.result("sink")]


@pytest.mark.parametrize("par", [1, 2])
def test_a_task_that_raises_is_restarted(files: Path, expected: list[Any], par: int) -> None:
    options = {"viper.worker": "inline", "viper.on.error": "restart", "viper.restart.tries": 5}
    report = run(Raising(**job(files, 2, **FEW)), par, **options)
    assert received(report) == expected
    assert report.components["rows"].restarts >= par


def test_a_connection_that_breaks_is_made_anew(files: Path, expected: list[Any]) -> None:
    report = run(Broken(**job(files, 2, **FEW)), 2, **{"viper.worker": "inline"})
    assert received(report) == expected
    assert report.components["rows"].restarts == 0


@pytest.mark.parametrize("par", [1, 2])
def test_a_worker_that_is_killed_is_replaced(files: Path, expected: list[Any], par: int) -> None:
    report = run(Killed(**job(files, 2, **FEW)), par, **{"viper.worker": "process"})
    assert received(report) == expected
    assert len(report.incidents) >= par
