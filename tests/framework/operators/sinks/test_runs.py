"""Runs into transactional sinks, on every kind of worker and at every parallelism."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.api import run
from framework.model.errors import ComponentError, SinkError
from framework.operators.sinks import JsonLinesSink, SqliteSink, TextSink, TransactionalSink
from framework.operators.sources import CsvSource
from framework.runtime import RunReport
from framework.testing import run_bolt
from tests.framework.operators.sinks.driven import SINKS, begun, held, rows_between
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers, every_kind
from tests.portions import at_every_change

COUNT = 1000


class Rows(Spout):
    outputs = ["word", "n"]
    config = {"viper.spout.bounded": True}

    def tuples(self) -> Any:
        yield from rows_between(0, COUNT)


def into(sink: TransactionalSink, tasks: int = 1) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("rows", Rows)
    builder.set_bolt("sink", sink, tasks).fields_grouping("rows", "word")
    return builder


WORKERS = [INLINE, PROCESSES, THREADS]
CASES = [(kind, INLINE) for kind in SINKS] + [
    ("json", PROCESSES),
    ("sqlite", THREADS),
    ("sqlalchemy", PROCESSES),
]
CASES += [(kind, workers) for kind in SINKS for workers in WORKERS if (kind, workers) not in CASES]


@pytest.mark.few(12)
@pytest.mark.parametrize(("kind", "workers"), at_every_change(CASES, len(SINKS) + 3), ids=str)
def test_every_row_is_there_once(kind: str, workers: Workers, tmp_path: Path) -> None:
    (tmp_path / "expected").mkdir()
    expected = SINKS[kind](tmp_path / "expected")
    begun(expected, eager=True).resume(None)
    expected.consume(rows_between(0, COUNT))
    expected.apply_and_finish()
    expected.close()
    report = workers.run(into(SINKS[kind](tmp_path)), viper__sink__apply__rows=300, viper__slice__tuples=64)
    assert report.drained and not report.lost
    if kind == "own":  # whose files are as many as there were transactions
        whole = "".join(path.read_text() for path in sorted((tmp_path / "own").iterdir()))
        assert whole == "".join(f"{word} {n}\n" for word, n in rows_between(0, COUNT))
    else:
        assert held(tmp_path, kind) == held(tmp_path / "expected", kind)


TABLES = [("sqlite", INLINE), ("sqlite by key", PROCESSES), ("sqlalchemy by key", INLINE)]
TABLES += [("sqlite", PROCESSES), ("sqlalchemy by key", PROCESSES), ("sqlite by key", INLINE)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "workers"), at_every_change(TABLES, 3), ids=str)
def test_rows_of_a_table_do_not_depend_on_the_parallelism(
    kind: str, workers: Workers, tmp_path: Path
) -> None:
    found = []
    for tasks in (1, 2, 5):
        folder = tmp_path / str(tasks)
        folder.mkdir()
        workers.run(into(SINKS[kind](folder), tasks), viper__sink__apply__rows=100)
        found.append(sorted(held(folder, kind)))
    assert found[0] == found[1] == found[2] and len(found[0]) == (7 if "key" in kind else COUNT)


def test_files_of_several_tasks(tmp_path: Path) -> None:
    run_built(into(JsonLinesSink(str(tmp_path / "out.jsonl")), 3))
    assert sorted(os.listdir(tmp_path)) == [f"out-000{index}.jsonl" for index in range(3)]
    lines = [line for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert len(lines) == COUNT


class Endless(Spout):
    """Brings a few rows, then nothing, until its rows are in the table."""

    outputs = ["word", "n"]

    def __init__(self, database: str) -> None:
        super().__init__()
        self._database = database
        self._left = rows_between(0, 10)

    def next_tuple(self) -> None:
        if self._left:
            self.emit(self._left.pop())
            return
        database = sqlite3.connect(self._database)
        (count,) = database.execute("SELECT count(*) FROM rows").fetchone()
        database.close()
        if count == 10:
            raise StopIteration


def test_rows_do_not_wait_for_others_to_come(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("rows", Endless(str(tmp_path / "out.db")))
    builder.set_bolt("sink", SqliteSink(str(tmp_path / "out.db"), "rows")).shuffle_grouping("rows")
    report = run_built(builder, {"duration_s": 60}, viper__sink__apply__secs=0.05)
    assert report.reason == "exhausted"


class Fails(Bolt):
    outputs = ["word", "n"]

    def process(self, tup: Any) -> None:
        if tup.values.n == 500:
            raise ValueError("a row that nobody can read")
        self.emit(tup.values)


def failing(sink: TransactionalSink) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("rows", Rows)
    builder.set_bolt("fails", Fails).shuffle_grouping("rows")
    builder.set_bolt("sink", sink).shuffle_grouping("fails")
    return builder


@every_kind
def test_a_run_that_fails(workers: Workers, tmp_path: Path) -> None:
    """A table has whole rows that were taken; a file is not there."""
    (tmp_path / "out.jsonl").write_text("old\n")
    options = {"viper__slice__tuples": 32, "viper__jumbo__size": 16, "viper__sink__apply__rows": 100}
    for sink in (SqliteSink(str(tmp_path / "out.db"), "rows"), JsonLinesSink(str(tmp_path / "out.jsonl"))):
        with pytest.raises(ComponentError, match="a row that nobody can read"):
            workers.run(failing(sink), **options)
    found = held(tmp_path, "sqlite")
    assert found == rows_between(0, len(found))
    assert (tmp_path / "out.jsonl").read_text() == "old\n"
    assert sorted(os.listdir(tmp_path)) == ["out.db", "out.jsonl"]


class Stumbles(SqliteSink):
    """Raises once, at a row, before it is staged."""

    def consume(self, rows: Sequence[Any]) -> None:
        marker = self._path.with_name("stumbled")
        if any(n == 500 for _, n in rows) and not marker.exists():
            marker.touch()
            self.stumble()
        super().consume(rows)

    def stumble(self) -> None:
        raise ValueError("stumbled")


class Dies(Stumbles):
    """Its process is killed instead."""

    def stumble(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("made", [Stumbles, Dies])
def test_what_a_task_has_staged_survives_it(made: type[Stumbles], tmp_path: Path) -> None:
    """The component is made again, or its process: rows that it has lost are counted, and no other."""
    workers = PROCESSES if made is Dies else INLINE
    builder = into(made(str(tmp_path / "out.db"), "rows"))
    options = {"viper__on__error": "restart", "viper__restart__tries": 5, "viper__slice__tuples": 32}
    report = workers.run(builder, **options, viper__sink__apply__rows=150, viper__jumbo__size=16)
    found = held(tmp_path, "sqlite")
    assert len(set(found)) == len(found) and set(found) <= set(rows_between(0, COUNT))
    missing = COUNT - len(found)
    assert 0 < missing <= _lost(report) and report.drained


def _lost(report: RunReport) -> int:
    return sum(component.lost for component in report.components.values()) + (report.lost or 0)


def test_what_a_killed_run_had_taken_is_applied_by_the_next_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for index in range(3):  # the next one has one task only
        sink = begun(SqliteSink(str(tmp_path / "out.db"), "rows"), index=index, tasks=3, eager=True)
        sink.resume(None)
        sink.consume([(f"left {index}", index)])
        if index == 1:
            sink.cut(1)
        sink._open_stage.close()  # as if it were killed
    builder = TopologyBuilder()
    builder.set_spout("rows", Rows)
    builder.set_bolt("sink", SqliteSink(str(tmp_path / "out.db"), "rows")).shuffle_grouping("rows")
    settings = {"topology__name": "tested"}
    assert run_built(builder, **settings).drained
    found = held(tmp_path, "sqlite")
    assert sorted(found[:3]) == [(f"left {index}", index) for index in range(3)]
    assert found[3:] == rows_between(0, COUNT)
    assert "applying rows that an earlier run had taken when it was killed" in caplog.text
    assert os.listdir(tmp_path) == ["out.db"]


@pytest.mark.parametrize("kind", ["sqlite", "json", "json that grows"])
def test_a_run_that_does_not_begin_leaves_what_another_has_staged(kind: str, tmp_path: Path) -> None:
    killed = begun(SINKS[kind](tmp_path), eager=True)
    killed.resume(None)
    killed.consume(rows_between(0, 2))
    killed._open_stage.close()
    before = {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    begun(SINKS[kind](tmp_path), eager=True).close()
    assert {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_stop_applies_everything(tmp_path: Path) -> None:
    report = run_built(into(TextSink(str(tmp_path / "out.txt"))), {"max_tuples": 100})
    assert report.reason == "max-tuples"
    assert len((tmp_path / "out.txt").read_text().splitlines()) == report.emitted


def test_errors_of_a_target_come_before_any_row(tmp_path: Path) -> None:
    (tmp_path / "out.db").write_text("nothing but text " * 100)
    with pytest.raises(ComponentError, match=r"'sink'.*in initialize: .*expected an SQLite database"):
        run_built(into(SqliteSink(str(tmp_path / "out.db"), "rows")))
    with pytest.raises(SinkError, match=r"there is no folder .*no: make it first"):
        into(TextSink(str(tmp_path / "no" / "out.txt")))


def test_a_target_that_fails_ends_the_run(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "out.db")
    database.execute("CREATE TABLE rows (word TEXT, n INTEGER CHECK (n < 900))")
    database.close()
    with pytest.raises(ComponentError, match=r"'sink'.*in apply: SinkError: .*CHECK constraint failed"):
        run_built(into(SqliteSink(str(tmp_path / "out.db"), "rows")), viper__on__error="skip")
    assert held(tmp_path, "sqlite") == []


def test_a_unit_test_may_call_one(tmp_path: Path) -> None:
    sink = TextSink(str(tmp_path / "out.txt"))
    run_bolt(sink, [["a", 1], ["b", 2]])


YAML = """
name: counting
spouts:
  - id: sales
    className: viperstorm.sources.CsvSource
    constructorArgs:
      path: {folder}/sales.csv
      types: {{n: int64}}
bolts:
  - id: table
    className: viperstorm.sinks.SqliteSink
    parallelism: 2
    constructorArgs:
      path: {folder}/out.db
      table: last
      key: word
  - id: file
    className: viperstorm.sinks.CsvSink
    constructorArgs: {{path: "{folder}/out.csv", columns: [n]}}
streams:
  - {{from: sales, to: table, grouping: {{type: FIELDS, args: [word]}}}}
  - {{from: sales, to: file, grouping: {{type: GLOBAL}}}}
"""


def test_from_a_file_to_a_table_in_yaml(tmp_path: Path) -> None:
    lines = "".join(f"{word},{n}\n" for word, n in rows_between(0, 50))
    (tmp_path / "sales.csv").write_text("word,n\n" + lines)
    (tmp_path / "counting.yaml").write_text(YAML.format(folder=tmp_path))
    run(str(tmp_path / "counting.yaml"))
    assert sorted(held(tmp_path, "sqlite by key")) == sorted(rows_between(43, 50))
    assert (tmp_path / "out.csv").read_text() == "n\n" + "".join(f"{n}\n" for n in range(50))


def test_a_source_that_goes_on_adds_to_a_file_that_grows(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(
        "word,n\n" + "".join(f"{word},{n}\n" for word, n in rows_between(0, 100))
    )
    from tests.framework.runtime.test_partitioned import written

    start: dict[str, Any] = {}
    for most in (30, 50, None):
        builder = TopologyBuilder()
        builder.set_spout("rows", CsvSource(str(tmp_path / "in.csv")))
        builder.set_bolt("sink", TextSink(str(tmp_path / "out.txt"), grow=True)).global_grouping("rows")
        report = run_built(builder, {**start, **({"max_tuples": most} if most else {})})
        start = {"start": written(report, tmp_path)}
    assert (tmp_path / "out.txt").read_text() == "".join(f"{w}\t{n}\n" for w, n in rows_between(0, 100))
