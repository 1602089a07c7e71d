"""Jobs that feed a spout, and runs of them, for the tests beside this file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from framework import Bolt, TopologyBuilder
from framework.model.config import resolve
from framework.operators.sinks import CollectingSink
from framework.planning import make_plan
from framework.runtime import RunReport
from framework.runtime import run as run_plan
from spark_ingest import SparkSpout

COLUMNS = ["at", "n", "name", "value"]
SMALL = {"spark.driver.memory": "600m", "spark.sql.shuffle.partitions": "2"}
"""Spark's configuration in tests."""
TWO_PROCESSES = {"viper.worker": "process", "topology.workers": 2}


def write_rows(path: Path, count: int = 5000, files: int = 3, seed: int = 5, wide: int = 0) -> Path:
    """A folder of Parquet files with rows in no order, several of each time, some twice, some with nulls.

    Args:
        path: of the folder, which does not exist yet.
        count: how many rows about.
        files: how many there are.
        seed: of what is random.
        wide: so many characters more in each text.
    """
    draw = random.Random(seed)
    path.mkdir(parents=True)
    for number in range(files):
        ids = [draw.randrange(count // 2) for _ in range(count // files)]
        columns = {
            "at": pa.array([1_000_000 * (i // 3) for i in ids], pa.timestamp("us", "UTC")),
            "n": pa.array(ids),
            "name": pa.array([f"name {i % 17}" + "." * wide if i % 11 else None for i in ids]),
            "value": pa.array([i / 7 for i in ids]),
        }
        pq.write_table(pa.table(columns), path / f"part-{number}.parquet")
    return path


def job(files: Path, streams: int = 4, /, **keywords: Any) -> dict[str, Any]:
    """Keywords of a job over `write_rows`, for a `SparkSpout`."""
    described = {
        "files": str(files / "*.parquet"),
        "timestamp": "at",
        "streams": streams,
        "columns": COLUMNS,
        "conf": SMALL,
    }
    return {**described, "master": f"local[{streams}]", **keywords}


class Pass(Bolt):
    """Hands on what it gets."""

    outputs = ["values"]

    def process(self, tup: Any) -> None:
        self.emit([tuple(tup.values)])


def run(
    spout: SparkSpout,
    par: int = 1,
    bolt: type[Bolt] = Pass,
    limits: dict[str, Any] | None = None,
    **options: Any,
) -> RunReport:
    """Run a spout, a bolt and a sink to the end."""
    builder = TopologyBuilder()
    builder.set_spout("rows", spout, par)
    builder.set_bolt("pass", bolt, 2).fields_grouping("rows", "n")
    builder.set_bolt("sink", CollectingSink).global_grouping("pass")
    topology = builder.build("direct")
    settings, problems = resolve(topology, options={"viper.worker": "inline", **options})
    assert not problems, problems
    return run_plan(make_plan(topology, settings), settings, **(limits or {}))


def rows_of(spout: SparkSpout, par: int = 1, **options: Any) -> list[Any]:
    """Run such a spout, and list the rows of the sink, in order."""
    report = run(spout, par, **options)
    return [values for (values,) in report.result("sink")]
