"""Sinks that a run continues with write where those of the checkpoint did, and as they did."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.errors import CheckpointError, ComponentError, SinkError
from framework.operators.sinks import (
    CsvSink,
    JsonLinesSink,
    ParquetSink,
    SqlAlchemySink,
    SqliteSink,
    TextSink,
    TransactionalSink,
)
from framework.operators.sinks.transactional import FORMER, Former
from framework.runtime import run
from tests.framework.operators.sinks.driven import SINKS, begun, held, rows_between
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.partitioned import Partitions, expected_rows
from tests.framework.runtime.pieces import plan_of, run_built

COUNT = 100
FIELDS = ["partition", "number", "key"]


def topology(sink: TransactionalSink, spout: Partitions, tasks: int = 1) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("out", sink, tasks).fields_grouping("source", "key")
    return builder


def suspended(sink: TransactionalSink, folder: Path, tasks: int = 1) -> Path:
    checkpoints = folder / "checkpoints"
    run_suspended(topology(sink, Suspending(4, COUNT, 1, os.getpid(), 50), tasks), checkpoints)
    return checkpoints


def gone_on(sink: TransactionalSink, start: Path, tasks: int = 1, name: str = "tested") -> None:
    plan, settings = plan_of(topology(sink, Partitions(4, COUNT, 1), tasks))
    run(replace(plan, topology=replace(plan.topology, name=name)), settings, start=start)


def rows_of(path: Path, table: str) -> list[Any]:
    database = sqlite3.connect(path)
    found = database.execute(f"select * from {table} order by rowid").fetchall()
    database.close()
    return found


def tables(folder: Path) -> None:
    for name in ("a.db", "b.db"):
        database = sqlite3.connect(folder / name)
        for table in ("one", "two"):
            database.execute(f"create table {table} (partition, number, key, unique (partition, number))")
        database.close()


def written(folder: Path) -> dict[Path, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]
    return {path: path.read_bytes() for path in files}


Made = Callable[[Path], TransactionalSink]
CHANGES: dict[str, tuple[Made, Made, str]] = {
    "table": (
        lambda f: SqliteSink(str(f / "a.db"), "one"),
        lambda f: SqliteSink(str(f / "a.db"), "two"),
        "'out' wrote to table 'one' of a.db: found table 'two' of a.db",
    ),
    "database": (
        lambda f: SqliteSink(str(f / "a.db"), "one"),
        lambda f: SqliteSink(str(f / "b.db"), "one"),
        "'out' wrote to table 'one' of a.db: found table 'one' of b.db",
    ),
    "fewer columns": (
        lambda f: SqliteSink(str(f / "a.db"), "one"),
        lambda f: SqliteSink(str(f / "a.db"), "one", ["key", "number"]),
        r"'out' wrote to table 'one' of a.db with columns \['partition', 'number', 'key'\]",
    ),
    "key": (
        lambda f: SqliteSink(str(f / "a.db"), "one"),
        lambda f: SqliteSink(str(f / "a.db"), "one", key=["partition", "number"]),
        r"'out' wrote to table 'one' of a.db with key \[\]: found key \['partition', 'number'\]",
    ),
    "table through SQLAlchemy": (
        lambda f: SqlAlchemySink(f"sqlite:///{f}/a.db", "one", staging=str(f / "s")),
        lambda f: SqlAlchemySink(f"sqlite:///{f}/a.db", "two", staging=str(f / "s")),
        "'out' wrote to table 'one' of sqlite:.*/a.db: found table 'two' of sqlite:.*a.db",
    ),
    "other sink": (
        lambda f: SqliteSink(str(f / "a.db"), "one"),
        lambda f: JsonLinesSink(str(f / "a.jsonl")),
        "'out' wrote to table 'one' of a.db: found file a.jsonl",
    ),
    "file": (
        lambda f: JsonLinesSink(str(f / "a.jsonl")),
        lambda f: JsonLinesSink(str(f / "b.jsonl")),
        "'out' wrote to file a.jsonl: found file b.jsonl",
    ),
    "order of columns": (
        lambda f: CsvSink(str(f / "a.csv"), ["key", "number"]),
        lambda f: CsvSink(str(f / "a.csv"), ["number", "key"]),
        r"'out' wrote to file a.csv with columns \['key', 'number'\]: found columns \['number', 'key'\]",
    ),
    "delimiter": (
        lambda f: CsvSink(str(f / "a.csv")),
        lambda f: CsvSink(str(f / "a.csv"), delimiter=";"),
        "'out' wrote to file a.csv with delimiter ',': found delimiter ';'",
    ),
    "schema": (
        lambda f: ParquetSink(str(f / "a.parquet"), {"key": "int64"}),
        lambda f: ParquetSink(str(f / "a.parquet"), {"key": "int64 not null"}),
        r"'out' wrote to file a.parquet with types \['int64'\]: found types \['int64 not null'\]",
    ),
    "separator": (
        lambda f: TextSink(str(f / "a.txt")),
        lambda f: TextSink(str(f / "a.txt"), separator=" "),
        r"'out' wrote to file a.txt with separator '\\t': found separator ' '",
    ),
    "grow": (
        lambda f: TextSink(str(f / "a.txt")),
        lambda f: TextSink(str(f / "a.txt"), grow=True),
        "'out' wrote to file a.txt with grow False: found grow True",
    ),
    "format": (
        lambda f: TextSink(str(f / "a.txt")),
        lambda f: JsonLinesSink(str(f / "a.txt")),
        "'out' wrote to file a.txt with written 'TextSink'",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_refused_before_anything_starts(change: str, tmp_path: Path) -> None:
    before, after, told = CHANGES[change]
    tables(tmp_path)
    start = suspended(before(tmp_path), tmp_path)
    files = written(tmp_path)
    with pytest.raises(CheckpointError, match=f"cannot go on from .*sink {told}.*let it write"):
        gone_on(after(tmp_path), start)
    assert written(tmp_path) == files
    gone_on(before(tmp_path), start)


def test_the_order_of_columns_of_a_table_does_not_matter(tmp_path: Path) -> None:
    tables(tmp_path)
    database = sqlite3.connect(tmp_path / "a.db")
    database.execute("create table plain (partition, number, key)")
    database.close()
    start = suspended(SqliteSink(str(tmp_path / "a.db"), "plain"), tmp_path)
    gone_on(SqliteSink(str(tmp_path / "a.db"), "plain", ["key", "partition", "number"]), start)
    assert rows_of(tmp_path / "a.db", "plain") == expected_rows(4, COUNT, 1)


def test_files_want_as_many_tasks(tmp_path: Path) -> None:
    start = suspended(TextSink(str(tmp_path / "a.txt")), tmp_path, 2)
    with pytest.raises(
        CheckpointError, match="sink 'out' has a target of its own: found 3 tasks, expected 2"
    ):
        gone_on(TextSink(str(tmp_path / "a.txt")), start, 3)


@pytest.mark.parametrize("tasks", [1, 3])
@pytest.mark.parametrize("kind", ["table", "file"])
def test_a_renamed_topology_goes_on(kind: str, tasks: int, tmp_path: Path) -> None:
    """The target tells what a sink has applied, whatever the topology's file is called."""

    def sink() -> TransactionalSink:
        return (
            SqliteSink(str(tmp_path / "a.db"), "t") if kind == "table" else TextSink(str(tmp_path / "a.txt"))
        )

    start = suspended(sink(), tmp_path, tasks)
    gone_on(sink(), start, tasks, name="renamed")
    if kind == "table":
        found = rows_of(tmp_path / "a.db", "t")
    else:
        lines = [line for path in tmp_path.glob("a*.txt") for line in path.read_text().splitlines()]
        found = [(p, int(number), int(key)) for p, number, key in (line.split("\t") for line in lines)]
    expected = expected_rows(4, COUNT, 1)
    assert sorted(found) == sorted(expected) and (tasks > 1 or found == expected)


@pytest.mark.parametrize("kind", ["table", "file"])
@pytest.mark.parametrize("between", ["suspended", "ended", "without checkpoints"])
def test_a_run_that_began_anew_in_between_is_told(between: str, kind: str, tmp_path: Path) -> None:
    """It has come to a checkpoint of the same number perhaps, so that the number alone tells nothing."""

    def sink() -> TransactionalSink:
        return (
            SqliteSink(str(tmp_path / "a.db"), "t") if kind == "table" else TextSink(str(tmp_path / "a.txt"))
        )

    start = suspended(sink(), tmp_path)
    other = topology(sink(), Partitions(4, COUNT, 1))
    if between == "suspended":
        (tmp_path / "other").mkdir()
        suspended(sink(), tmp_path / "other")
    elif between == "ended":
        run_built(other, {"checkpoints": tmp_path / "others"})
    else:
        run_built(other)
    files = written(tmp_path)
    which = "another run" if between != "without checkpoints" else "a run without checkpoints"
    told = f"{which} has written to .* since checkpoint 1, .* begin again, or restore a copy"
    if (between, kind) == ("without checkpoints", "file"):  # whose journal went with the end of that run
        told = "but nothing is applied there"
    with pytest.raises(ComponentError, match=told):
        gone_on(sink(), start)
    changed = [path for path, data in written(tmp_path).items() if files.get(path) != data]
    assert [path for path in changed if path.suffix in (".db", ".txt")] == []


ADDED: dict[str, Made] = {
    "table": lambda f: SqliteSink(str(f / "new.db"), "t"),
    "table through SQLAlchemy": lambda f: SqlAlchemySink(
        f"sqlite:///{f}/a.db", "two", staging=str(f / "staging")
    ),
    "file": lambda f: TextSink(str(f / "new.txt")),
    "file that grows": lambda f: TextSink(str(f / "new.txt"), grow=True),
}


class TestAddedSinks:
    """A sink that the checkpoint does not have begins there, as in a new run with checkpoints."""

    def with_added(self, folder: Path, added: TransactionalSink, spout: Partitions) -> TopologyBuilder:
        builder = topology(TextSink(str(folder / "a.txt")), spout)
        builder.set_bolt("added", added).global_grouping("source")
        return builder

    def gone_on(self, folder: Path, added: TransactionalSink, start: Path) -> None:
        plan, settings = plan_of(self.with_added(folder, added, Partitions(4, COUNT, 1)))
        run(plan, settings, start=start)

    def added_rows(self, folder: Path, kind: str) -> list[Any]:
        if kind.startswith("table"):
            name, table = ("new.db", "t") if kind == "table" else ("a.db", "two")
            return rows_of(folder / name, table)
        lines = (folder / "new.txt").read_text().splitlines()
        parts = [line.split("\t") for line in lines]
        return [(part[0], *map(int, part[1:])) if len(part) > 1 else part[0] for part in parts]

    @pytest.mark.parametrize("kind", ADDED)
    def test_it_gets_what_comes_behind_the_checkpoint(self, kind: str, tmp_path: Path) -> None:
        tables(tmp_path)
        (tmp_path / "new.txt").write_text("before\n")
        start = suspended(TextSink(str(tmp_path / "a.txt")), tmp_path)
        # Rows that the first sink had by then: those of the next run are behind them.
        before = len((tmp_path / "a.txt.part").read_text().splitlines())
        self.gone_on(tmp_path, ADDED[kind](tmp_path), start)
        expected = expected_rows(4, COUNT, 1)
        assert 0 < before < len(expected)
        kept = ["before"] if kind == "file that grows" else []
        assert self.added_rows(tmp_path, kind) == [*kept, *expected[before:]]
        assert len((tmp_path / "a.txt").read_text().splitlines()) == len(expected)

    @pytest.mark.parametrize("kind", ADDED)
    def test_an_earlier_run_of_its_name_does_not_count(self, kind: str, tmp_path: Path) -> None:
        """It has written to the same target, and knew nothing of the checkpoint."""
        tables(tmp_path)
        run_built(
            self.with_added(tmp_path, ADDED[kind](tmp_path), Partitions(4, COUNT, 1)),
            {"checkpoints": tmp_path / "others"},
        )
        earlier = self.added_rows(tmp_path, kind)
        database = tmp_path / "a.db"
        if kind == "table through SQLAlchemy":  # which has a unique index
            connection = sqlite3.connect(database)
            with connection:
                connection.execute("delete from two")
            connection.close()
            earlier = []
        start = suspended(TextSink(str(tmp_path / "a.txt")), tmp_path)
        before = len((tmp_path / "a.txt.part").read_text().splitlines())
        self.gone_on(tmp_path, ADDED[kind](tmp_path), start)
        kept = [] if kind == "file" else earlier
        assert self.added_rows(tmp_path, kind) == [*kept, *expected_rows(4, COUNT, 1)[before:]]

    def test_rows_are_not_applied_twice(self, tmp_path: Path) -> None:
        """A second run from the same checkpoint finds what the first one has written."""
        start = suspended(TextSink(str(tmp_path / "a.txt"), grow=True), tmp_path)
        for _ in range(2):
            builder = topology(TextSink(str(tmp_path / "a.txt"), grow=True), Partitions(4, COUNT, 1))
            builder.set_bolt("added", ADDED["table"](tmp_path)).global_grouping("source")
            plan, settings = plan_of(builder)
            run(plan, settings, start=start, checkpoints=tmp_path / "more")
            found = self.added_rows(tmp_path, "table")
            assert len(found) == len(set(found)) > 0


class TestFormerTasks:
    """Tasks that have applied everything, and others that have not, as the database was away."""

    def half_ended(self, folder: Path) -> None:
        """Checkpoint 1 exists; one task has applied it, and the rest; the other has applied nothing."""
        sinks = [begun(SINKS["sqlite"](folder), index=index, tasks=2) for index in range(2)]
        for index, sink in enumerate(sinks):
            sink.resume(None)
            sink.consume(rows_between(index * 10, index * 10 + 10))
            sink.cut(1)
        sinks[0].complete(1)
        sinks[0].consume(rows_between(20, 25))
        sinks[0].apply_and_finish()
        for sink in sinks:
            sink.close()

    def again(self, folder: Path, tasks: int) -> list[Any]:
        found = []
        for index in range(tasks):
            sink = SINKS["sqlite"](folder)
            sink.eager = False
            sink.topology_name, sink.component_name, sink.task_id = "tested", "sink", index + 5
            context = {
                "task->component": {str(number + 5): "sink" for number in range(tasks)},
                "source->stream->fields": {"rows": {"default": ["word", "n"]}},
            }
            sink.initialize({FORMER: [*Former("tested", "sink", 2)]}, context)
            found.append(sink)
        return found

    def test_as_many_tasks_go_on(self, tmp_path: Path) -> None:
        self.half_ended(tmp_path)
        sinks = self.again(tmp_path, 2)
        for index, sink in enumerate(sinks):
            sink.resume(1)
            sink.consume(rows_between(20, 25) if index == 0 else rows_between(25, 30))
        for sink in sinks:
            sink.apply_and_finish()
            sink.close()
        assert sorted(held(tmp_path, "sqlite")) == sorted(rows_between(0, 30))

    @pytest.mark.parametrize("tasks", [1, 3])
    def test_others_are_told_what_is_so(self, tasks: int, tmp_path: Path) -> None:
        self.half_ended(tmp_path)
        before = held(tmp_path, "sqlite")
        sinks = self.again(tmp_path, tasks)
        told = f"applied all rows up to the end .* go on with 2 tasks, as before, and not with {tasks}"
        with pytest.raises(SinkError, match=told):
            sinks[0].resume(1)
        for sink in sinks:
            sink.close()
        assert held(tmp_path, "sqlite") == before


def test_an_unknown_column_is_told_by_the_run(tmp_path: Path) -> None:
    start = suspended(SqliteSink(str(tmp_path / "a.db"), "t"), tmp_path)
    with pytest.raises(ComponentError, match="columns: unknown field 'none'"):
        gone_on(SqliteSink(str(tmp_path / "a.db"), "t", ["none"]), start)
