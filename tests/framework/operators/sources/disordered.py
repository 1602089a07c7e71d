"""Files whose rows are out of order, sources that read them, and in which order their rows must come.

The reference takes a definition in the place of a buffer: a row is late if it is earlier than the latest row
before it in its file by more than the slack; then it stands at that latest time less the slack. Rows are
sorted by where they stand, then by their file, then as they came.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource

SLACK, LATE = "viper.timestamp.slack", "viper.timestamp.late"
KINDS = ["csv", "jsonl", "parquet", "csv typed", "jsonl typed", "parquet typed"]
Row = tuple[int, str, int]
"""The time in milliseconds, the name of the file, and the number of the row there."""


class Expected(NamedTuple):
    """The rows that must come of files."""

    rows: list[Row]
    """The rows in time."""
    late: list[Row]
    all: list[Row]
    """Both, in one order."""


def drawn(seed: int, files: int = 3, count: int = 300, jitter: int = 60) -> list[list[Row]]:
    """The rows of some files: times rise on the whole, many are equal, some are far behind."""
    chance = random.Random(seed)

    def time(number: int) -> int:
        far = 3 * jitter if chance.random() < 0.05 else 0
        return number * 2 + chance.randrange(jitter) - far

    return [[(time(number), f"f{file}", number) for number in range(count)] for file in range(files)]


def expected(files: Sequence[Sequence[Row]], slack: int) -> Expected:
    """The rows that must come of files by a slack in milliseconds."""
    places = []
    for file, rows in enumerate(files):
        latest = rows[0][0]
        for number, row in enumerate(rows):
            is_late = row[0] < latest - slack
            places.append((latest - slack if is_late else row[0], file, number, is_late, row))
            latest = max(latest, row[0])
    places.sort(key=lambda one: one[:3])
    return Expected(
        [row for *_, is_late, row in places if not is_late],
        [row for *_, is_late, row in places if is_late],
        [row for *_, row in places],
    )


def write(kind: str, folder: Path, files: Sequence[Sequence[Row]]) -> str:
    """Write files of a kind; returns their folder."""
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(files):
        path = folder / f"{number}.data"
        if path.exists():  # a run that goes on knows files by their time of last change, too
            continue
        if kind.startswith("csv"):
            path.write_text("at,file,n\n" + "".join(f"{at},{file},{n}\n" for at, file, n in rows))
        elif kind.startswith("jsonl"):
            objects = [{"n": n, "file": file, "at": at} for at, file, n in rows]
            path.write_text("".join(json.dumps(found) + "\n" for found in objects))
        else:
            columns = {name: [row[index] for row in rows] for index, name in enumerate(("at", "file", "n"))}
            pq.write_table(pa.table(columns), path, row_group_size=50)
    return str(folder)


def source(kind: str, path: str, **options: Any) -> FileSource:
    """A source of files of a kind, with the fields of `Row`."""
    types = {"at": "int64", "file": "string", "n": "int64"}
    options = {"timestamp": "at", "unit": "ms", "typed": kind.endswith("typed"), **options}
    if kind.startswith("csv"):
        return CsvSource(path, types=types, **options)
    if kind.startswith("jsonl"):
        return JsonLinesSource(path, list(types), types=types, **options)
    return ParquetSource(path, **options)


def line_of(kind: str, path: str, file: int, number: int) -> str:
    """The place of a row, as a message says it."""
    if kind.startswith("parquet"):
        return f"{path}/{file}.data, row {number + 1}"
    return f"{path}/{file}.data:{number + 1 + kind.startswith('csv')}"


def topology(rows: Any, slack: float = 0, late: str = "error", par: int = 1) -> TopologyBuilder:
    """Rows, those that are late, and both, each in a sink."""
    builder = TopologyBuilder()
    builder.set_spout("source", rows, par, config={SLACK: slack, LATE: late})
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    both = builder.set_bolt("both", CollectingSink).global_grouping("source")
    if late not in ("error", "drop", "admit"):
        builder.set_bolt("late", CollectingSink).global_grouping("source", stream=late)
        both.global_grouping("source", stream=late)
    return builder
