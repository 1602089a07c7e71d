"""Sources that know about how many rows they will bring, so that a run can tell how much of it is over."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource, ParquetSource, TextSource
from framework.runtime import Progress
from framework.runtime.run import Run
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.running import Workers, every_kind

LINES = "".join(f"{number:05}\n" for number in range(1_000))


def test_of_text_by_the_length_of_its_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LINES)
    (tmp_path / "b.txt").write_text(LINES[:600])
    assert TextSource(str(tmp_path / "*.txt")).rows_total == 1_100


def test_a_long_file_is_not_read_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n" + LINES * 100)
    found = CsvSource(str(tmp_path / "a.csv")).rows_total
    assert found is not None and abs(found - 100_000) < 100


def test_of_parquet_exactly(tmp_path: Path) -> None:
    for name, rows in (("a", 10), ("b", 25)):
        pq.write_table(pa.table({"n": list(range(rows))}), tmp_path / f"{name}.parquet")
    assert ParquetSource(str(tmp_path / "*.parquet")).rows_total == 35


def test_nobody_knows_it_of_compressed_text_and_of_what_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(LINES.encode()))
    (tmp_path / "empty.txt").write_text("")
    assert TextSource(str(tmp_path / "a.txt.gz")).rows_total is None
    assert TextSource(str(tmp_path / "empty.txt")).rows_total is None


@every_kind
def test_a_run_knows_it(tmp_path: Path, workers: Workers) -> None:
    pq.write_table(pa.table({"n": list(range(500))}), tmp_path / "a.parquet")
    builder = TopologyBuilder()
    builder.set_spout("rows", ParquetSource(str(tmp_path / "a.parquet")), 2)
    builder.set_bolt("sink", CollectingSink()).global_grouping("rows")
    assert workers.run(builder).components["rows"].expected == 500


def test_its_progress_is_a_share_of_that(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": list(range(500))}), tmp_path / "a.parquet")
    builder = TopologyBuilder()
    builder.set_spout("rows", ParquetSource(str(tmp_path / "a.parquet")))
    builder.set_bolt("sink", CollectingSink()).global_grouping("rows")
    plan, settings = plan_of(builder)
    told: list[Progress] = []
    Run(plan, settings, on_progress=told.append).execute()
    assert told[-1].share == 0.99  # as nobody promises that it is exact
