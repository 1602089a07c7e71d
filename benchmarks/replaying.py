"""Datasets of rows of five columns, and topologies that replay them; importable by worker processes."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from framework import BatchBolt, Bolt, Rows, TopologyBuilder
from framework.model.topology import Topology
from framework.operators.sinks import Sink
from spark_ingest import SparkSpout
from spark_ingest.datasets.arrow_files import write_arrow
from spark_ingest.datasets.dataset import Dataset
from spark_ingest.datasets.formats import ARROW, PARQUET, Format
from spark_ingest.datasets.sealing import seal
from spark_ingest.job.stream_spec import TIME
from spark_ingest.preparing.writing import FILE_ROWS, GROUP_ROWS

CARRIERS = pa.array(
    ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
)
TYPES = {"at": "timestamp", "number": "bigint", "share": "double", "carrier": "string", "id": "string"}
ENCODINGS = {
    **dict.fromkeys((TIME, "at", "number"), "DELTA_BINARY_PACKED"),
    "share": "PLAIN",
    "id": "DELTA_BYTE_ARRAY",
}
"""The encodings that Spark chooses in pages of the second version."""
FIRST_US = 1_356_998_400_000_000
ACTIVATED = "activated_ns"


def write_stage(
    folder: Path, rows: int, streams: int, period_us: int = 1000, stored_as: Format = PARQUET
) -> Dataset:
    """A dataset with an event every so many microseconds; those of several streams come in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    write = _write_arrow if stored_as is ARROW else _write_parquet
    files = [
        [
            write(folder / f"from-{part.start}{stored_as.suffix}", part, period_us)
            for part in _parts(range(stream, rows, streams), FILE_ROWS)
        ]
        for stream in range(streams)
    ]
    return seal(folder, files, timestamp="at", types=TYPES)


def _write_parquet(path: Path, numbers: range, period_us: int) -> str:
    """A file as Spark writes it for `prepare`."""
    options = {
        "data_page_version": "2.0",
        "compression": "lz4",
        "write_page_checksum": True,
        "use_dictionary": ["carrier"],
        "column_encoding": ENCODINGS,
    }
    with pq.ParquetWriter(path, _batch(range(0)).schema, **options) as file:
        for part in _parts(numbers, GROUP_ROWS):
            file.write_batch(_batch(part, period_us), row_group_size=GROUP_ROWS)
    return path.name


def _write_arrow(path: Path, numbers: range, period_us: int) -> str:
    batches = (_batch(part, period_us) for part in _parts(numbers, GROUP_ROWS))
    write_arrow(path, _batch(range(0)).schema, batches)
    return path.name


def _parts(numbers: range, size: int) -> Iterator[range]:
    return (numbers[first : first + size] for first in range(0, len(numbers), size))


def _batch(numbers: range, period_us: int = 1000) -> pa.RecordBatch:
    count = pa.array(numbers, pa.int64())
    times = pc.add(pc.multiply(count, period_us), FIRST_US)
    spread = pc.bit_wise_and(pc.multiply(count, 2_654_435_761), 0xFFFFFF)
    columns = {
        TIME: times,
        "at": times.cast(pa.timestamp("us", "UTC")),
        "number": spread,
        "share": pc.divide(spread.cast(pa.float64()), 3.0),
        "carrier": CARRIERS.take(pc.bit_wise_and(spread, 15)),
        "id": pc.binary_join_element_wise("event", count.cast(pa.string()), "-"),
    }
    return pa.record_batch(columns)


class Count(Bolt):
    """Counts tuples, one by one."""

    outputs: list[str] = []

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing has been seen."""
        self.count = 0

    def process(self, tup: Any) -> None:
        """Count one."""
        self.count += 1

    def close(self) -> None:
        """Report them."""
        self.report_metric("tuples", self.count)


class CountColumns(BatchBolt):
    """Counts the tuples of record batches."""

    outputs: list[str] = []

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing has been seen."""
        self.count = 0

    def process_rows(self, rows: Rows) -> None:
        """Count those of a batch."""
        self.count += rows.batch().num_rows

    def close(self) -> None:
        """Report them."""
        self.report_metric("tuples", self.count)


def counting(path: str, *, typed: bool = False) -> Topology:
    """``rows -> count``, each one task; of a typed stream, columns are counted."""
    builder = TopologyBuilder()
    builder.set_spout("rows", SparkSpout(path, typed=typed or None))
    builder.set_bolt("count", CountColumns if typed else Count).global_grouping("rows")
    return builder.build("counting")


class TimedSpout(SparkSpout):
    """Reports when it was activated, i.e. when the first row is due."""

    def activate(self) -> None:
        """The clock starts."""
        self.report_metric(ACTIVATED, time.monotonic_ns())


class ArrivalSink(Sink):
    """Its result: when rows arrived, and their event times, as pairs (monotonic ns, us)."""

    def __init__(self) -> None:
        super().__init__()
        self._arrived_ns = array("q")
        self._times_us = array("q")

    def consume(self, rows: Any) -> None:
        """Note when they came."""
        now = time.monotonic_ns()
        self._arrived_ns.extend([now] * len(rows))
        self._times_us.extend([row[0] for row in rows])

    def result(self) -> list[tuple[int, int]]:
        """In the order in which they came."""
        return list(zip(self._arrived_ns, self._times_us, strict=True))


def paced(path: str) -> Topology:
    """``rows -> sink`` at the recorded pace."""
    builder = TopologyBuilder()
    builder.set_spout("rows", TimedSpout(path, pace=1.0))
    builder.set_bolt("sink", ArrivalSink).global_grouping("rows")
    return builder.build("paced")


def blocks(path: str, *, typed: bool = False) -> Iterator[int]:
    """The rows of each block of the first stream: reading alone, and conversion, but for record batches."""
    read = SparkSpout(path, typed=typed or None).blocks(0, None)
    return (len(block.rows) for block in read if block is not None)
