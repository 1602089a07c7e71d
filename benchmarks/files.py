"""File sources and sinks against the loops that one would write by hand, over the same rows.

A row has a time, a text, a whole number and a float. Each way reads or writes all of them, several times in
turn with the others. The program prints the least CPU time of a row, as other programs disturb it least, and
for a whole run the rate. Writing waits for the disk on top of that.

    python benchmarks/files.py [--rows N] [--rounds N]
"""

from __future__ import annotations

import argparse
import csv
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from running import run_with

from framework import TopologyBuilder
from framework.operators.components import Block
from framework.operators.sinks import (
    CountingSink,
    CsvSink,
    JsonLinesSink,
    ParquetSink,
    SqliteSink,
    TransactionalSink,
)
from framework.operators.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource, TextSource

FIELDS = ["at", "name", "number", "share"]
TYPES = {"at": "int64", "number": "int64", "share": "float64"}
TIME: dict[str, Any] = {"timestamp": "at", "unit": "ms"}
SLICE = 1024
Way = Callable[[Path], object]


def rows_of(count: int) -> list[tuple[int, str, int, float]]:
    """The rows."""
    return [(n, f"user{n * 7919 % 1000}", n * 104_729 % 1_000_000, n % 10_000 / 10_000) for n in range(count)]


def write_files(folder: Path, rows: Sequence[Any]) -> None:
    """The rows in each format."""
    with open(folder / "in.csv", "w", newline="") as file:
        csv.writer(file).writerows([FIELDS, *rows])
    with open(folder / "in.jsonl", "w") as file:
        file.writelines(json.dumps(dict(zip(FIELDS, row, strict=True))) + "\n" for row in rows)
    columns = dict(zip(FIELDS, map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), folder / "in.parquet")


# -- reading


def csv_by_hand(folder: Path) -> None:
    """The loop over `csv.reader`."""
    with open(folder / "in.csv", newline="") as file:
        records = csv.reader(file)
        next(records)
        for at, name, number, share in records:
            (int(at), name, int(number), float(share))


def json_by_hand(folder: Path) -> None:
    """The loop over `json.loads`."""
    with open(folder / "in.jsonl") as file:
        for line in file:
            found = json.loads(line)
            (found["at"], found["name"], found["number"], found["share"])


def text_by_hand(folder: Path) -> None:
    """The loop over lines."""
    with open(folder / "in.csv") as file:
        for line in file:
            (line.rstrip("\n"),)


def blocks_of(make: Callable[[str], FileSource], name: str) -> Way:
    """All blocks of a source."""

    def read(folder: Path) -> int:
        found = make(str(folder / name)).blocks(0, None)
        return sum(len(block.rows) for block in found if isinstance(block, Block))

    return read


READING: dict[str, Way] = {
    "CSV by hand, with types": csv_by_hand,
    "CsvSource, with types": blocks_of(lambda path: CsvSource(path, types=TYPES), "in.csv"),
    "CsvSource, with types and times": blocks_of(lambda path: CsvSource(path, types=TYPES, **TIME), "in.csv"),
    "CsvSource, texts": blocks_of(CsvSource, "in.csv"),
    "JSON lines by hand": json_by_hand,
    "JsonLinesSource": blocks_of(lambda path: JsonLinesSource(path, FIELDS), "in.jsonl"),
    "JsonLinesSource, with types and times": blocks_of(
        lambda path: JsonLinesSource(path, FIELDS, types=TYPES, **TIME), "in.jsonl"
    ),
    "lines by hand": text_by_hand,
    "TextSource": blocks_of(TextSource, "in.csv"),
    "ParquetSource": blocks_of(lambda path: ParquetSource(path, **TIME), "in.parquet"),
    "ParquetSource, as columns": blocks_of(
        lambda path: ParquetSource(path, typed=True, **TIME), "in.parquet"
    ),
}

# -- writing


def into(make: Callable[[str], TransactionalSink], rows: Sequence[Any]) -> Way:
    """All rows into a sink, slice by slice, applied as a run does by default."""

    def write(folder: Path) -> None:
        sink = make(str(folder / "out"))
        sink.initialize({}, {"source->stream->fields": {"rows": {"default": FIELDS}}})
        sink.resume(None)
        for start in range(0, len(rows), SLICE):
            sink.consume(rows[start : start + SLICE])
            if sink.staged_rows >= 100_000:
                sink.apply_staged()
        sink.apply_and_finish()
        sink.close()

    return write


def writing(rows: Sequence[Any]) -> dict[str, Way]:
    """The ways to write rows."""

    def csv_by_hand(folder: Path) -> None:
        with open(folder / "out", "w", newline="") as file:
            csv.writer(file).writerows([FIELDS, *rows])

    def json_by_hand(folder: Path) -> None:
        with open(folder / "out", "w") as file:
            for row in rows:
                file.write(json.dumps(dict(zip(FIELDS, row, strict=True))) + "\n")

    def sqlite_by_hand(folder: Path) -> None:
        database = sqlite3.connect(folder / "out")
        database.execute("CREATE TABLE rows (at, name, number, share)")
        for start in range(0, len(rows), 100_000):
            database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows[start : start + 100_000])
            database.commit()
        database.close()

    schema = {**TYPES, "name": "string"}
    return {
        "CSV by hand": csv_by_hand,
        "CsvSink": into(CsvSink, rows),
        "JSON lines by hand": json_by_hand,
        "JsonLinesSink": into(JsonLinesSink, rows),
        "ParquetSink": into(lambda path: ParquetSink(path, {name: schema[name] for name in FIELDS}), rows),
        "SQLite by hand": sqlite_by_hand,
        "SqliteSink": into(lambda path: SqliteSink(path, "rows"), rows),
        "SqliteSink, by key": into(lambda path: SqliteSink(path, "rows", key="name"), rows),
    }


# -- measuring


def least(ways: dict[str, Way], inputs: Path, rounds: int, count: int) -> dict[str, float]:
    """The least CPU time of a row of each way, in nanoseconds."""
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                began = time.process_time()
                way(inputs if ways is READING else Path(folder))
                found[name] = min(found[name], (time.process_time() - began) / count * 1e9)
    return found


def whole_run(folder: Path) -> float:
    """Rows per second from a CSV file through a run into a JSON lines file."""
    builder = TopologyBuilder()
    builder.set_spout("rows", CsvSource(str(folder / "in.csv"), types=TYPES, **TIME))
    builder.set_bolt("count", CountingSink).global_grouping("rows")
    builder.set_bolt("file", JsonLinesSink(str(folder / "run.jsonl"))).global_grouping("rows")
    report = run_with(builder.build("files"), {"viper.worker": "inline"})
    return float(report.result("count")) / report.elapsed_s


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print nanoseconds of CPU time per row."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    rows = rows_of(chosen.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, rows)
        for title, ways in (("reading", READING), ("writing", writing(rows))):
            print(f"{title}, ns of CPU time a row")
            for way, ns in least(ways, folder, chosen.rounds, chosen.rows).items():
                print(f"  {way:40} {ns:7,.0f}")
        rates = [whole_run(folder) for _ in range(chosen.rounds)]
    print(f"CSV file to JSON lines file, a run in one inline worker: {max(rates):,.0f} rows/s")


if __name__ == "__main__":
    main()
