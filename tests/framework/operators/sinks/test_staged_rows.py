"""Rows that a run has staged and not applied: they reach their own target, or wait there and can be seen."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framework import Spout, TopologyBuilder
from framework.cli import main
from framework.cli.exit_codes import ExitCode
from framework.model.errors import ComponentError, SinkError
from framework.operators.sinks import (
    CsvSink,
    JsonLinesSink,
    ParquetSink,
    SqlAlchemySink,
    SqliteSink,
    TextSink,
    TransactionalSink,
)
from framework.operators.sinks.arrival import shown
from framework.operators.sinks.staged_rows import StagedRows
from framework.operators.sinks.staging import Stage
from framework.runtime import run
from tests.framework.operators.sinks.driven import SINKS, begun, held, rows_between, taken
from tests.framework.runtime.pieces import plan_of

Row = tuple[Any, ...]
FULL = "staged for table 'orders'"


class Given(Spout):
    config = {"viper.spout.bounded": True}

    def __init__(self, fields: Sequence[str], rows: Sequence[Row]) -> None:
        super().__init__()
        self._rows = rows

    def tuples(self) -> Iterator[Row]:
        yield from self._rows


def put(
    sink: TransactionalSink, rows: Sequence[Row], fields: Sequence[str] = ("name", "n"), name: str = "shop"
) -> None:
    """Run some rows into a sink, without checkpoints."""
    builder = TopologyBuilder()
    spout = type("Rows", (Given,), {"outputs": list(fields)})
    builder.set_spout("rows", spout(fields, rows))
    builder.set_bolt("table", sink).global_grouping("rows")
    plan, settings = plan_of(builder, viper__sink__retry__secs=0)
    run(replace(plan, topology=replace(plan.topology, name=name)), settings)


@pytest.fixture(params=["sqlite", "sqlalchemy"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., TransactionalSink]:
    """A sink into a table of a database in a folder; both are reached in two ways."""

    def made(name: str, database: str = "p.db", **options: Any) -> TransactionalSink:
        if request.param == "sqlite":
            return SqliteSink(str(tmp_path / database), name, **options)
        return SqlAlchemySink(
            f"sqlite:///{tmp_path / database}", name, staging=str(tmp_path / "staging"), **options
        )

    return made


def statements(path: Path, *texts: str) -> list[Any]:
    database = sqlite3.connect(path)
    with database:
        found = [database.execute(text).fetchall() for text in texts]
    database.close()
    return found[-1]


def staged_in(path: Path) -> list[tuple[str, list[Row]]]:
    """The targets of staged rows, and the rows."""
    folders = sorted(label.parent for label in path.rglob("label.json"))
    found = [(StagedRows(folder).target, list(StagedRows(folder).rows())) for folder in folders]
    return [(target, rows) for target, rows in found if rows]


class TestTargets:
    """Staged rows belong to one target, in the columns for which they were taken."""

    def test_rows_for_another_table_wait(
        self, table: Callable[..., TransactionalSink], tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "p.db"
        statements(path, "create table orders (name text, n integer not null)")
        statements(path, "create table people (name text, n integer)")
        with pytest.raises(ComponentError, match=r"orders.n.*the row is \('o2', None\), number 2 of those"):
            put(table("orders"), [("o1", 1), ("o2", None)])
        put(table("people"), [("Ann", 30)])
        assert statements(path, "select * from people") == [("Ann", 30)]
        assert FULL in caplog.text and "this one writes to table 'people'" in caplog.text
        ((target, rows),) = staged_in(tmp_path)
        assert target.startswith("table 'orders' of ") and rows == [("o1", 1), ("o2", None)]
        statements(path, "drop table orders", "create table orders (name text, n integer)")
        put(table("orders"), [("o3", 3)])
        assert statements(path, "select * from orders") == [("o1", 1), ("o2", None), ("o3", 3)]
        assert statements(path, "select * from people") == [("Ann", 30)] and staged_in(tmp_path) == []

    def test_rows_for_another_database_wait(
        self, table: Callable[..., TransactionalSink], tmp_path: Path
    ) -> None:
        for name in ("p.db", "q.db"):
            statements(tmp_path / name, "create table t (name text, n integer check (n < 5))")
        with pytest.raises(ComponentError, match="CHECK constraint failed"):
            put(table("t"), [("a", 9)])
        put(table("t", "q.db"), [("b", 1)])
        assert statements(tmp_path / "q.db", "select * from t") == [("b", 1)]
        assert [rows for _, rows in staged_in(tmp_path)] == [[("a", 9)]]

    @pytest.mark.parametrize("kind", ["database", "file that grows", "file"])
    def test_rows_for_another_file_beside_it_are_told(
        self, kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        def sink(name: str) -> TransactionalSink:
            if kind == "database":
                return SqliteSink(str(tmp_path / f"{name}.db"), "t")
            return CsvSink(str(tmp_path / f"{name}.csv"), grow=kind != "file")

        left = begun(sink("o"), eager=True)
        left.resume(None)
        left.consume(rows_between(0, 3))
        folder, target = left._open_stage.folder, left.target
        left._open_stage.close()  # as if it were killed
        for name, is_told in (("tested", True), ("another", False)):
            caplog.clear()
            builder = TopologyBuilder()
            spout = type("Rows", (Given,), {"outputs": ["word", "n"]})
            builder.set_spout("rows", spout(["word", "n"], [("a", 1)]))
            builder.set_bolt("sink", sink("p")).global_grouping("rows")
            plan, settings = plan_of(builder)
            run(replace(plan, topology=replace(plan.topology, name=name)), settings)
            found = [one.getMessage() for one in caplog.records if str(folder) in one.getMessage()]
            assert len(found) == is_told
            then = "begins the file again, without them" if kind == "file" else "applies them"
            for text in found:
                assert f"staged for {target}, and this one writes to {sink('p').target}: " in text
                assert f"that writes there {then}; viper staged show {folder}" in text
        assert [rows for _, rows in staged_in(tmp_path)] and len(list(StagedRows(folder).rows())) == 3

    @pytest.mark.parametrize("columns", [["n", "name"], ["name"]])
    def test_rows_go_to_the_columns_that_they_were_taken_for(
        self, table: Callable[..., TransactionalSink], columns: list[str], tmp_path: Path
    ) -> None:
        path = tmp_path / "p.db"
        statements(path, "create table t (name text, n text check (n <> 'bad'))")
        with pytest.raises(ComponentError, match="CHECK constraint failed"):
            put(table("t"), [("Ann", "1"), ("Bob", "bad")])
        statements(path, "drop table t", "create table t (name text, n text)")
        put(table("t", columns=columns), [("Cy", "7")])
        last = ("Cy", "7" if "n" in columns else None)
        assert statements(path, "select name, n from t") == [("Ann", "1"), ("Bob", "bad"), last]

    def test_rows_keep_the_key_by_which_they_were_taken(
        self, table: Callable[..., TransactionalSink], tmp_path: Path
    ) -> None:
        path = tmp_path / "p.db"
        statements(
            path,
            "create table t (name text unique, n integer check (n < 5))",
            "insert into t values ('a', 1)",
        )
        with pytest.raises(ComponentError, match="CHECK constraint failed"):
            put(table("t", key="name"), [("a", 9)])
        statements(path, "drop table t", "create table t (name text unique, n integer)")
        statements(path, "insert into t values ('a', 1)")
        put(table("t"), [("b", 2)])
        assert statements(path, "select * from t") == [("a", 9), ("b", 2)]

    def test_rows_of_a_topology_that_was_renamed_are_applied(
        self, table: Callable[..., TransactionalSink], tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "p.db"
        statements(path, "create table t (name text, n integer check (n < 5))")
        with pytest.raises(ComponentError, match="CHECK constraint failed"):
            put(table("t"), [("a", 9)])
        statements(path, "drop table t", "create table t (name text, n integer)")
        put(table("t"), [("b", 1)], name="store")
        assert statements(path, "select * from t") == [("a", 9), ("b", 1)] and staged_in(tmp_path) == []
        assert "t of shop/table/0: applying rows that an earlier run had taken" in caplog.text

    def test_what_a_run_without_checkpoints_left_is_applied_by_one_with_them(self, tmp_path: Path) -> None:
        left = begun(SINKS["sqlite"](tmp_path), eager=True)
        left.resume(None)
        left.consume(rows_between(0, 3))
        left._open_stage.close()  # as if it were killed
        sink = taken("sqlite", tmp_path, None)
        assert held(tmp_path, "sqlite") == rows_between(0, 3)
        sink.close()

    def test_a_folder_for_another_target_is_refused(self, tmp_path: Path) -> None:
        """Somebody has moved it."""
        left = begun(SqliteSink(str(tmp_path / "out.db"), "rows"), eager=True)
        left.resume(None)
        left.consume(rows_between(0, 3))
        left._open_stage.close()
        (folder,) = (tmp_path / ".out.db.staged").iterdir()
        other = SqliteSink(str(tmp_path / "out.db"), "last")
        other.topology_name, other.component_name = "tested", "sink"
        folder.rename(other._staging_folder(0))
        with pytest.raises(
            SinkError, match=r"staged for table 'rows' of out.db.*writes to table 'last' of out"
        ):
            begun(other, eager=True)

    def test_rows_of_an_earlier_version_are_refused(self, tmp_path: Path) -> None:
        """Nobody knows for which table they are."""
        folder = tmp_path / ".out.db.staged" / "tested-sink.0"
        folder.mkdir(parents=True)
        (folder / "open.eager").write_bytes(b"rows")
        with pytest.raises(
            SinkError, match=r"tested-sink.0 has rows that another version of ViperStorm has st"
        ):
            begun(SINKS["sqlite"](tmp_path), eager=True)

    @pytest.mark.parametrize("changed", ["columns", "delimiter"])
    def test_a_file_that_grows_keeps_its_columns(self, changed: str, tmp_path: Path) -> None:
        path = str(tmp_path / "out.csv")
        put(CsvSink(path, grow=True), [("a", 1)])
        other = (
            CsvSink(path, ["n", "name"], grow=True)
            if changed == "columns"
            else CsvSink(path, delimiter=";", grow=True)
        )
        with pytest.raises(
            ComponentError, match=r"begins with b'name,n\\n', expected b'n.*write the same col|=';'|;n"
        ):
            put(other, [("b", 2)])
        assert (tmp_path / "out.csv").read_text() == "name,n\na,1\n"

    @pytest.mark.parametrize("after", [CsvSink, JsonLinesSink, TextSink])
    @pytest.mark.parametrize("before", [CsvSink, JsonLinesSink, TextSink])
    def test_a_file_that_grows_keeps_its_format(self, before: Any, after: Any, tmp_path: Path) -> None:
        """Rows that one sink has staged are not written by another one into the same file."""
        left = begun(before(str(tmp_path / "out.x"), grow=True), eager=True)
        left.resume(None)
        left.consume([("a", 1)])
        left._open_stage.close()  # as if it were killed
        if before is after:
            put(after(str(tmp_path / "out.x"), grow=True), [("b", 2)], ["word", "n"], name="tested")
            assert len((tmp_path / "out.x").read_text().splitlines()) == (3 if after is CsvSink else 2)
            return
        with pytest.raises(ComponentError) as refused:
            put(after(str(tmp_path / "out.x"), grow=True), [("b", 2)], ["word", "n"], name="tested")
        assert before.__name__ in str(refused.value) and after.__name__ in str(refused.value)
        assert not (tmp_path / "out.x").exists() or (tmp_path / "out.x").read_bytes() == b""
        assert [len(rows) for _, rows in staged_in(tmp_path)] == [1]

    @pytest.mark.parametrize("before", [CsvSink, TextSink])
    def test_json_lines_are_not_added_to_other_lines(self, before: Any, tmp_path: Path) -> None:
        path = str(tmp_path / "out.x")
        put(before(path, grow=True), [("a", 1)])
        data = (tmp_path / "out.x").read_bytes()
        first = data.splitlines()[0]
        with pytest.raises(ComponentError) as refused:
            put(JsonLinesSink(path, grow=True), [("b", 2)])
        assert f"begins with {first!r}, expected b'{{...', as JsonLinesSink" in str(refused.value)
        assert (tmp_path / "out.x").read_bytes() == data

    def test_a_sink_of_a_users_own_is_known_by_its_arguments(self, tmp_path: Path) -> None:
        class Own(TransactionalSink):
            def __init__(self, name: str) -> None:
                super().__init__(str(tmp_path / "staging"))

            def applied(self, part: str) -> int | None:
                return None

            def apply(self, part: str, number: int, rows: Iterator[Row]) -> None:
                got.extend(rows)
                if fails:
                    raise ValueError("it cannot be written")

            def forget(self, part: str) -> None:
                pass

        got: list[Row] = []
        fails = [True]
        with pytest.raises(ComponentError, match="ValueError: it cannot be written; 1 rows stay staged in"):
            put(Own("one"), [("a", 1)])
        got.clear()
        fails.clear()
        put(Own("two"), [("b", 2)])
        assert got == [("b", 2)]
        put(Own("one"), [("c", 3)])
        assert got == [("b", 2), ("a", 1), ("c", 3)]


LONE = "\ud83d"
NEVER = [
    ("sqlite", LONE, "has a lone surrogate"),
    ("sqlite", 2**63, "more than 64 bits"),
    ("sqlite", -(2**63) - 1, "more than 64 bits"),
    ("sqlite", [1], "class list"),
    ("sqlite", float("nan"), "has NaN, in whose place SQLite would put NULL"),
    ("sqlalchemy", LONE, "has a lone surrogate"),
    ("sqlalchemy", 2**63, "more than 64 bits"),
    ("sqlalchemy", float("nan"), "has NaN, in whose place SQLite would put NULL"),
    ("sqlalchemy", [1], "class list, which pysqlite does not take"),
    ("sqlalchemy", lambda: 0, "class function"),
    ("csv", LONE, "has a lone surrogate"),
    ("csv", 10**5000, "Exceeds the limit"),
    ("text", LONE, "has a lone surrogate"),
    ("text", 10**5000, "Exceeds the limit"),
    ("json", LONE, "has a lone surrogate"),
    ("json", {1, 2}, "JSON cannot write a row: Object of type set"),
    ("json", float("nan"), "JSON cannot write a row"),
    ("parquet", LONE, "does not fit the schema"),
    ("own", lambda: 0, "a row cannot be staged"),
]


class TestArrival:
    """A row that a target can never take ends the run when it comes, and does not block the next one."""

    @pytest.mark.parametrize(("kind", "value", "told"), NEVER, ids=map(str, range(len(NEVER))))
    def test_it_is_refused_when_it_comes(self, kind: str, value: object, told: str, tmp_path: Path) -> None:
        sink = begun(SINKS[kind](tmp_path), eager=True)
        sink.resume(None)
        sink.consume([("before", 1)])
        with pytest.raises(SinkError, match=told) as refused:
            sink.consume([("good", 2), (value, 3)])
        assert f"the row is ({shown((value,))[1:-2]}, 3)" in str(refused.value) or kind == "own"
        assert sink.staged_rows == 1
        sink.close()
        put(SINKS[kind](tmp_path), [("fine", 4)], ["word", "n"], name="tested")

    @pytest.mark.parametrize(
        ("kind", "within"),
        [
            ("timestamp[s]", lambda value: value),
            ("timestamp[s, UTC] not null", lambda value: value),
            ("list<timestamp[s] not null>", lambda value: [value]),
            ("struct<at: timestamp[s]>", lambda value: {"at": value}),
            ("map<string, timestamp[s]>", lambda value: {"at": value}),
        ],
    )
    def test_seconds_that_parquet_does_not_hold(
        self, kind: str, within: Callable[[int], Any], tmp_path: Path
    ) -> None:
        sink = begun(ParquetSink(str(tmp_path / "out.parquet"), {"n": kind}), eager=True)
        sink.resume(None)
        with pytest.raises(
            SinkError,
            match=r"does not fit the schema: .*would result in out of bounds.*the row is \('b', .*4611686018",
        ):
            sink.consume([("a", within(1)), ("b", within(2**62))])
        sink.consume([("a", within(1))])
        sink.close()

    @pytest.mark.parametrize(
        ("declared", "refused"),
        [
            *((kind, True) for kind in ("REAL", "DOUBLE PRECISION", "float")),
            *((kind, False) for kind in ("INTEGER", "FLOATING POINT", "NUMERIC", "TEXT", "", "REALLY TEXT")),
        ],
    )
    def test_whole_numbers_that_a_column_of_floats_does_not_hold(
        self, declared: str, refused: bool, tmp_path: Path
    ) -> None:
        statements(tmp_path / "p.db", f"create table t (word, n {declared})")
        sink = begun(SqliteSink(str(tmp_path / "p.db"), "t"), eager=True)
        sink.resume(None)
        sink.consume([("a", 2**53)])
        if refused:
            with pytest.raises(SinkError, match="column 'n' has a whole number of more digits than the col"):
                sink.consume([("b", 2**53 + 1)])
        else:
            sink.consume([("b", 2**53 + 1)])
        sink.close()
        put(SqliteSink(str(tmp_path / "p.db"), "t"), [("c", 5)], ["word", "n"], name="tested")
        held = statements(tmp_path / "p.db", "select cast(n as text) from t where word = 'b'")
        assert held == ([] if refused else [(str(2**53 + 1),)])

    def test_a_row_that_is_too_long(self, tmp_path: Path) -> None:
        sink = begun(SINKS["sqlite"](tmp_path), eager=True)
        sink.resume(None)
        sink._longest = sink._opened_database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000) and 1000
        with pytest.raises(SinkError, match=r"it has 1,\d+ bytes, and SQLite takes 1,000: make it smaller"):
            sink.consume([("a", 1), ("x" * 1000, 2)])
        sink.close()

    def test_the_run_ends_then_and_the_next_one_works(self, tmp_path: Path) -> None:
        for sink in (SqliteSink(str(tmp_path / "p.db"), "t"), TextSink(str(tmp_path / "o.txt"))):
            with pytest.raises(ComponentError, match=r"in consume: SinkError: .*lone surrogate"):
                put(sink, [("ok", 1), (LONE, 2)])
        for count in (1, 2):
            put(SqliteSink(str(tmp_path / "p.db"), "t"), [("fine", count)])
        found = statements(tmp_path / "p.db", "select * from t")
        assert [row for row in found if row[0] == "fine"] == [("fine", 1), ("fine", 2)]

    def test_the_console(self, capsys: pytest.CaptureFixture[str]) -> None:
        from framework.operators.sinks import ConsoleSink

        for format in ("tsv", "json"):
            with pytest.raises(SinkError, match=r"lone surrogate.*the row is \('\\ud83d', 3\)"):
                ConsoleSink(format).consume([(LONE, 3)])


class TestDamage:
    """Bytes that have changed are told, and no row is lost without a word."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        stage = Stage(tmp_path / "s")
        for entry in (b"first", b"second", b"third"):
            stage.append(entry, 1)
        stage.close()
        return tmp_path / "s"

    def test_every_byte_counts(self, folder: Path) -> None:
        path = folder / "open.eager"
        data = path.read_bytes()
        for at in range(len(data)):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            with pytest.raises(SinkError, match=r"is damaged behind its first .* viper staged aside"):
                Stage(folder)
        path.write_bytes(data)
        Stage(folder).close()

    def test_a_cut_that_lacks_whole_entries(self, folder: Path) -> None:
        stage = Stage(folder)
        stage.cut(1)
        (cut,) = folder.glob("*.cut.eager")
        os.truncate(cut, 2 * (16 + len(b"second")) - 1)
        with pytest.raises(SinkError, match="is damaged behind its first 43 bytes"):
            list(stage.entries(1))
        stage.close()

    def test_zeros_at_the_end_are_what_a_power_cut_leaves(self, folder: Path) -> None:
        with (folder / "open.eager").open("ab") as file:
            file.write(bytes(5000))
        stage = Stage(folder)
        assert stage.rows == 3 and (folder / "open.eager").stat().st_size == stage.length
        stage.close()

    def test_a_label(self, tmp_path: Path) -> None:
        left = begun(SINKS["sqlite"](tmp_path), eager=True)
        left.resume(None)
        left.consume(rows_between(0, 3))
        left._open_stage.close()
        (path,) = tmp_path.glob(".out.db.staged/*/label.json")
        path.write_text(path.read_text().replace("rows", "last"))
        with pytest.raises(
            SinkError, match=r"label.json is damaged: its checksum does not fit: viper staged"
        ):
            begun(SINKS["sqlite"](tmp_path), eager=True)

    def test_rows_that_were_left_out(self, folder: Path) -> None:
        stage = Stage(folder)
        stage.note(7, 23)
        assert (stage.noted(7), stage.noted(8)) == (23, 0)
        (path,) = folder.glob("*.left-out")
        path.write_bytes(path.read_bytes().replace(b"23", b"22"))
        with pytest.raises(SinkError, match="left-out is damaged: its checksum does not fit"):
            stage.noted(7)
        stage.close()

    @pytest.mark.parametrize("grow", [False, True])
    def test_every_byte_of_a_journal_counts(self, grow: bool, tmp_path: Path) -> None:
        def sink() -> Any:
            return begun(JsonLinesSink(str(tmp_path / "out.jsonl"), grow=grow))

        first = sink()
        first.resume(None)
        for epoch in (1, 2):
            first.consume(rows_between(epoch * 10 - 10, epoch * 10))
            first.cut(epoch)
            first.complete(epoch)
        first.close()
        journal = tmp_path / ".out.jsonl.applied"
        data = journal.read_bytes()
        for at in range(len(data)):
            journal.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            again = JsonLinesSink(str(tmp_path / "out.jsonl"), grow=grow)
            with pytest.raises(
                SinkError, match=r"out.jsonl.applied (is|has).*to begin again, remove .*applied"
            ):
                begun(again)
            again._open_stage.close()
        journal.write_bytes(data)
        sink().close()

    def test_a_journal_of_an_earlier_version_is_taken(self, tmp_path: Path) -> None:
        first = taken("json", tmp_path, None, 1)
        first.close()
        journal = tmp_path / ".out.jsonl.applied"
        journal.write_bytes(journal.read_bytes().partition(b"\n")[2])
        again = taken("json", tmp_path, 1, 2)
        again.finish()
        again.close()
        assert len(held(tmp_path, "json").splitlines()) == 20
        assert journal.read_bytes().startswith(b"viperstorm-journal 1 ")


def viper(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["staged", *map(str, arguments)], prog_name="viper")


@pytest.fixture
def poisoned(table: Callable[..., TransactionalSink], tmp_path: Path) -> Path:
    """A folder with rows of which the table refuses one."""
    statements(tmp_path / "p.db", "create table orders (name text, n integer not null)")
    with pytest.raises(ComponentError, match=r"viper staged aside .*orders|viper staged aside"):
        put(table("orders"), [("o1", 1), ("o2", None), ("o3", 3)])
    (label,) = tmp_path.rglob("label.json")
    return label.parent


class TestWayOut:
    """``viper staged`` shows rows that cannot be applied, and sets them aside."""

    def test_one_row(self, poisoned: Path, table: Callable[..., TransactionalSink], tmp_path: Path) -> None:
        (listed,) = json.loads(viper("ls", tmp_path, "--json").stdout)
        assert listed["folder"] == str(poisoned) and listed["rows"] == 3 and "'orders'" in listed["target"]
        shown = viper("show", poisoned).stdout.splitlines()
        assert [line.split() for line in shown] == [
            ["row", "name", "n"],
            ["1", '"o1"', "1"],
            ["2", '"o2"', "null"],
            ["3", '"o3"', "3"],
        ]
        aside = tmp_path / "aside.jsonl"
        done = viper("aside", poisoned, "-O", aside, "--row", 2)
        assert (
            done.exit_code == ExitCode.OK
            and f"1 rows of {listed['target']} are in {aside} now" in done.stderr
        )
        assert aside.read_text() == '{"name": "o2", "n": null}\n'
        put(table("orders"), [("o4", 4)])
        assert statements(tmp_path / "p.db", "select * from orders") == [("o1", 1), ("o3", 3), ("o4", 4)]

    def test_all_rows(self, poisoned: Path, table: Callable[..., TransactionalSink], tmp_path: Path) -> None:
        aside = tmp_path / "aside.jsonl"
        assert viper("aside", poisoned, "-O", aside).exit_code == ExitCode.OK
        assert len(aside.read_text().splitlines()) == 3
        assert "no rows are staged in" in viper("ls", tmp_path).stderr
        put(table("orders"), [("o4", 4)])
        assert statements(tmp_path / "p.db", "select * from orders") == [("o4", 4)]

    def test_nothing_is_overwritten_and_no_other_row_taken(self, poisoned: Path, tmp_path: Path) -> None:
        (tmp_path / "aside").write_text("mine")
        again = viper("aside", poisoned, "-O", tmp_path / "aside")
        assert again.exit_code == ExitCode.USAGE and "is there already" in again.stderr
        assert (tmp_path / "aside").read_text() == "mine"
        none = viper("aside", poisoned, "-O", tmp_path / "other", "--row", 4)
        assert none.exit_code != ExitCode.OK and not (tmp_path / "other").exists()
        assert "has 3 rows: there is no row 4" in str(none.exception) + none.stderr
        assert len(viper("show", poisoned, "--json").stdout.splitlines()) == 3

    def test_of_a_checkpoint_the_other_rows_are_applied(self, tmp_path: Path) -> None:
        """The cut stays, so that the run that continues finds what belongs to its checkpoint."""
        statements(tmp_path / "out.db", "create table rows (word text, n integer check (n <> 15))")
        sink = taken("sqlite", tmp_path, None, 1)
        sink.consume(rows_between(10, 20))
        sink.cut(2)
        with pytest.raises(
            SinkError, match=r"the row is \('w1', 15\), number 6 of those that are staged; 10 rows"
        ):
            sink.complete(2)
        folder = sink._open_stage.folder
        sink.close()
        assert viper("aside", folder, "-O", tmp_path / "aside", "--row", 6).exit_code == ExitCode.OK
        sink = taken("sqlite", tmp_path, 2, 3)
        sink.close()
        expected = [row for row in rows_between(0, 30) if row[1] != 15]
        assert held(tmp_path, "sqlite") == expected
        assert json.loads((tmp_path / "aside").read_text()) == {"word": "w1", "n": 15}

    def test_whoever_is_killed_while_rows_are_set_aside_loses_none(
        self, poisoned: Path, table: Callable[..., TransactionalSink], tmp_path: Path
    ) -> None:
        (path,) = poisoned.glob("*.cut*")
        data = path.read_bytes()
        assert viper("aside", poisoned, "-O", tmp_path / "aside", "--row", 2).exit_code == ExitCode.OK
        path.write_bytes(data)  # it was killed before the old file was removed
        put(table("orders"), [("o4", 4)])
        assert statements(tmp_path / "p.db", "select * from orders") == [("o1", 1), ("o3", 3), ("o4", 4)]

    def test_rows_of_a_run_that_lives_are_left_to_it(self, tmp_path: Path) -> None:
        """Another topology writes into the same table: nothing is taken from it, and nobody is alarmed."""
        script = (
            "import sys\nfrom tests.framework.operators.sinks.driven import SINKS, begun, rows_between\n"
            "from pathlib import Path\n"
            "sink = begun(SINKS['sqlite'](Path(sys.argv[1])), eager=True)\nsink.resume(None)\n"
            "sink.consume(rows_between(0, 3))\nprint('staged', flush=True)\nsys.stdin.read()\n"
            "sink.apply_and_finish()\nsink.close()\n"
        )
        command = [sys.executable, "-c", script, str(tmp_path)]
        pipe = subprocess.PIPE
        repository = Path(__file__).parents[4]
        with subprocess.Popen(command, cwd=repository, text=True, stdin=pipe, stdout=pipe) as other:
            assert other.stdout is not None and other.stdout.readline() == "staged\n"
            put(SINKS["sqlite"](tmp_path), [("mine", 9)], ["word", "n"])
            assert held(tmp_path, "sqlite") == [("mine", 9)]
            other.communicate()
        assert held(tmp_path, "sqlite") == [("mine", 9), *rows_between(0, 3)]

    def test_damaged_files_are_kept_whole(self, poisoned: Path, tmp_path: Path) -> None:
        (path,) = poisoned.glob("*.cut*")
        data = path.read_bytes()
        path.write_bytes(data[:-1])
        found = viper("aside", poisoned, "-O", tmp_path / "aside")
        assert found.exit_code == ExitCode.OK and "was damaged" in found.stderr
        assert (tmp_path / f"aside.{path.name}").read_bytes() == data[:-1]
        assert "no rows are staged in" in viper("ls", tmp_path).stderr

    def test_a_folder_in_use_is_left_alone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import errno
        import fcntl

        sink = begun(SINKS["sqlite"](tmp_path), eager=True)
        sink.resume(None)
        sink.consume(rows_between(0, 3))
        folder = sink._open_stage.folder

        def held_by_another(*_: object) -> None:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

        with monkeypatch.context() as patched:
            patched.setattr(fcntl, "lockf", held_by_another)
            found = viper("aside", folder, "-O", tmp_path / "aside")
        assert "is in use: another run writes by the same sink" in str(found.exception) + found.stderr
        sink.apply_and_finish()
        sink.close()
        assert held(tmp_path, "sqlite") == rows_between(0, 3)

    @pytest.mark.parametrize("kind", ["json", "csv", "text", "parquet"])
    def test_rows_of_files(self, kind: str, tmp_path: Path) -> None:
        left = begun(SINKS[kind](tmp_path), eager=True)
        left.resume(None)
        left.consume([("tea", 1), ("cake", 2)])
        left._open_stage.close()
        (folder,) = (path.parent for path in tmp_path.rglob("label.json"))
        found = [json.loads(line) for line in viper("show", folder, "--json").stdout.splitlines()]
        expected = {
            "json": [{"line": '{"word": "tea", "n": 1}'}, {"line": '{"word": "cake", "n": 2}'}],
            "csv": [{"line": "tea,1"}, {"line": "cake,2"}],
            "text": [{"line": "tea\t1"}, {"line": "cake\t2"}],
            "parquet": [{"word": "tea", "n": 1}, {"word": "cake", "n": 2}],
        }
        assert found == expected[kind]
        refused = viper("aside", folder, "-O", tmp_path / "aside", "--row", 1)
        assert "are staged many at once: leave out --row" in str(refused.exception) + refused.stderr
        assert viper("aside", folder, "-O", tmp_path / "aside").exit_code == ExitCode.OK
        assert [json.loads(line) for line in (tmp_path / "aside").read_text().splitlines()] == expected[kind]

    @pytest.mark.parametrize("how", ["a byte", "emptied", "newer"])
    @pytest.mark.parametrize("kind", ["sqlite", "sqlalchemy", "own", "json", "csv", "text", "parquet"])
    def test_a_damaged_label_hides_no_rows(self, kind: str, how: str, tmp_path: Path) -> None:
        rows = [("[ea", -1), ("cake", 2)]
        left = begun(SINKS[kind](tmp_path), eager=True)
        left.resume(None)
        left.consume(rows[:1])
        left.consume(rows[1:])
        left._open_stage.close()
        (label,) = tmp_path.rglob("label.json")
        data = label.read_bytes()
        head = data.partition(b"\n")
        damaged = {"a byte": data[:-3] + b"?" + data[-2:], "emptied": b""}
        label.write_bytes(damaged.get(how, head[0].replace(b" 1 ", b" 2 ") + head[1] + head[2]))
        (listed,) = json.loads(viper("ls", tmp_path, "--json").stdout)
        folder = label.parent
        assert listed["folder"] == str(folder) and listed["rows"] == 2 and listed["target"] is None
        assert f"viper staged aside {folder} -O FILE" in listed["damage"]
        assert str(folder) in viper("ls", tmp_path).stdout
        with pytest.raises(SinkError) as refused:
            begun(SINKS[kind](tmp_path), eager=True)
        assert f"viper staged show {folder}" in str(refused.value)
        expected: list[Any] = {
            "json": [{"line": '{"word": "[ea", "n": -1}'}, {"line": '{"word": "cake", "n": 2}'}],
            "csv": [{"line": "[ea,-1"}, {"line": "cake,2"}],
            "text": [{"line": "[ea\t-1"}, {"line": "cake\t2"}],
        }.get(kind, [list(row) for row in rows])
        shown_rows = viper("show", folder, "--json")
        assert shown_rows.exit_code == ExitCode.OK and "label.json" in shown_rows.stderr
        assert [json.loads(line) for line in shown_rows.stdout.splitlines()] == expected
        assert viper("show", folder).exit_code == ExitCode.OK
        aside = viper("aside", folder, "-O", tmp_path / "aside")
        assert aside.exit_code == ExitCode.OK and "2 rows of an unknown target are in" in aside.stderr
        assert [json.loads(line) for line in (tmp_path / "aside").read_text().splitlines()] == expected
        assert "no rows are staged in" in viper("ls", tmp_path).stderr
        put(SINKS[kind](tmp_path), [("fine", 4)], ["word", "n"], name="tested")

    def test_a_damaged_label_without_rows(self, tmp_path: Path) -> None:
        left = begun(SINKS["sqlite"](tmp_path), eager=True)
        left._open_stage.close()
        (label,) = tmp_path.rglob("label.json")
        label.write_bytes(label.read_bytes()[:-3])
        told = f"no rows are staged there, so remove {label.parent}"
        (listed,) = json.loads(viper("ls", tmp_path, "--json").stdout)
        assert listed["rows"] == 0 and told in listed["damage"]
        with pytest.raises(SinkError, match="no rows are staged there, so remove") as refused:
            begun(SINKS["sqlite"](tmp_path), eager=True)
        assert told in str(refused.value)
        shutil.rmtree(label.parent)
        put(SINKS["sqlite"](tmp_path), [("fine", 4)], ["word", "n"], name="tested")

    def test_a_label_of_something_else_is_not_listed(self, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "label.json").write_text("{}")
        assert "no rows are staged in" in viper("ls", tmp_path).stderr

    def test_rows_before_damage_are_shown(self, tmp_path: Path) -> None:
        left = begun(SINKS["sqlite"](tmp_path), eager=True)
        left.resume(None)
        for row in rows_between(0, 3):
            left.consume([row])
        left._open_stage.close()
        (path,) = tmp_path.rglob("open.eager")
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        found = viper("show", path.parent, "--json")
        expected = [{"word": word, "n": n} for word, n in rows_between(0, 2)]
        assert [json.loads(line) for line in found.stdout.splitlines()] == expected
        assert found.exit_code != ExitCode.OK
        assert "is damaged behind its first" in str(found.exception) + found.stderr

    def test_values_that_json_does_not_know(self, tmp_path: Path) -> None:
        import base64
        import datetime
        import pickle

        day = datetime.date(2024, 5, 31)
        left = begun(SINKS["own"](tmp_path), eager=True)
        left.resume(None)
        left.consume([(day, b"\xff")])
        left._open_stage.close()
        (folder,) = (tmp_path / "staging").iterdir()
        (found,) = map(json.loads, viper("show", folder, "--json").stdout.splitlines())
        assert pickle.loads(base64.b64decode(found[0]["pickle"])) == day
        assert base64.b64decode(found[1]["base64"]) == b"\xff"


def test_what_is_left_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A sink whose rows were all applied leaves nothing to tell of."""
    caplog.set_level(logging.WARNING)
    put(SqliteSink(str(tmp_path / "p.db"), "one"), [("a", 1)])
    put(SqliteSink(str(tmp_path / "p.db"), "two"), [("a", 1)])
    assert "staged" not in caplog.text and os.listdir(tmp_path) == ["p.db"]


@pytest.mark.parametrize("kind", ["csv", "json", "text", "parquet"])
def test_a_successor_leaves_a_file_as_a_process_has_closed_it(kind: str, tmp_path: Path) -> None:
    """A process may be killed after the end of its tasks, when its journal is gone already."""
    first = begun(SINKS[kind](tmp_path), eager=True)
    first.resume(None)
    first.consume(rows_between(0, 3))
    first.apply_and_finish()
    first.close()
    closed = held(tmp_path, kind)
    second = begun(SINKS[kind](tmp_path), eager=True)
    second.recover()
    second.apply_and_finish()
    second.close()
    assert held(tmp_path, kind) == closed and len(closed) >= 3
