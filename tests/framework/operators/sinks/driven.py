"""Sinks that tests call in the place of the runtime, and what their targets hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from framework.model.errors import SinkError
from framework.operators.sinks import (
    CsvSink,
    JsonLinesSink,
    ParquetSink,
    SqlAlchemySink,
    SqliteSink,
    TextSink,
    TransactionalSink,
)

Row = tuple[Any, ...]
FIELDS = ["word", "n"]


def rows_between(first: int, last: int) -> list[Row]:
    return [(f"w{n % 7}", n) for n in range(first, last)]


def begun(sink: TransactionalSink, *, index: int = 0, tasks: int = 1, eager: bool = False) -> Any:
    """The sink, initialized as one of so many tasks."""
    sink.eager = eager
    sink.topology_name, sink.component_name, sink.task_id = "tested", "sink", index + 5
    context = {
        "task->component": {str(number + 5): "sink" for number in range(tasks)},
        "source->stream->fields": {"rows": {"default": FIELDS}},
    }
    sink.initialize({}, context)
    return sink


def taken(kind: str, folder: Path, last: int | None, *epochs: int) -> Any:
    """A sink that resumes from a checkpoint through others, ten rows each."""
    sink = begun(SINKS[kind](folder))
    try:
        sink.resume(last)
        for epoch in epochs:
            sink.consume(rows_between(epoch * 10 - 10, epoch * 10))
            sink.cut(epoch)
            sink.complete(epoch)
    except SinkError:  # as a run closes it; from Python 3.13 on a database that nobody closes is warned of
        sink.close()
        raise
    return sink


def make_table(folder: Path) -> None:
    with sqlite3.connect(folder / "out.db") as database:
        database.execute('CREATE TABLE IF NOT EXISTS "rows" (word TEXT, n INTEGER)')
        database.execute('CREATE TABLE IF NOT EXISTS "last" (word TEXT PRIMARY KEY, n INTEGER)')
    database.close()


def _sqlalchemy(folder: Path, table: str, key: str | None) -> SqlAlchemySink:
    make_table(folder)
    url, staging = f"sqlite:///{folder / 'out.db'}", str(folder / "staging")
    return SqlAlchemySink(url, table, key=key, staging=staging)


class OwnSink(TransactionalSink):
    """A user's own: a folder with a file for each transaction, whose name has its number."""

    def __init__(self, folder: str) -> None:
        super().__init__(f"{folder}/staging")
        self._folder = Path(folder, "own")

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self._folder.mkdir(exist_ok=True)

    def applied(self, part: str) -> int | None:
        return max((int(path.name) for path in self._folder.glob("[0-9]*[0-9]")), default=None)

    def apply(self, part: str, number: int, rows: Iterator[Row]) -> None:
        aside = self._folder / f"{number:09}.aside"
        aside.write_text("".join(f"{word} {n}\n" for word, n in rows))
        aside.rename(self._folder / f"{number:09}")

    def forget(self, part: str) -> None:
        for path in self._folder.iterdir():
            path.unlink()


SINKS: dict[str, Callable[[Path], TransactionalSink]] = {
    "json": lambda folder: JsonLinesSink(str(folder / "out.jsonl")),
    "json that grows": lambda folder: JsonLinesSink(str(folder / "out.jsonl"), grow=True),
    "csv": lambda folder: CsvSink(str(folder / "out.csv")),
    "text": lambda folder: TextSink(str(folder / "out.txt")),
    "parquet": lambda folder: ParquetSink(str(folder / "out.parquet"), {"word": "string", "n": "int64"}),
    "sqlite": lambda folder: SqliteSink(str(folder / "out.db"), "rows"),
    "sqlite by key": lambda folder: SqliteSink(str(folder / "out.db"), "last", key="word"),
    "sqlalchemy": lambda folder: _sqlalchemy(folder, "rows", None),
    "sqlalchemy by key": lambda folder: _sqlalchemy(folder, "last", "word"),
    "own": lambda folder: OwnSink(str(folder)),
}


def held(folder: Path, kind: str) -> Any:
    """Read the target of a sink, to be compared."""
    if kind.startswith("sql"):
        with sqlite3.connect(folder / "out.db") as database:
            table = "last" if "key" in kind else "rows"
            found = database.execute(f'SELECT word, n FROM "{table}" ORDER BY rowid').fetchall()
        database.close()
        return found
    if kind == "own":
        return "".join(path.read_text() for path in sorted((folder / "own").iterdir()))
    (path,) = (path for path in folder.glob("out.*") if path.suffix != ".part")
    return path.read_bytes()
