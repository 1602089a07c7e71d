"""What transactional sinks promise at checkpoints, and what they refuse."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.errors import InternalError, SinkError
from framework.sinks import CsvSink, JsonLinesSink, ParquetSink, SqlAlchemySink, SqliteSink, TextSink
from framework.sinks.staging import Stage
from tests.framework.sinks.driven import SINKS, begun, held, make_table, rows_between

every_sink = pytest.mark.parametrize("kind", SINKS)
WITHOUT_WAY_BACK = ["sqlite", "sqlite by key", "sqlalchemy", "sqlalchemy by key", "own"]


def taken(kind: str, folder: Path, last: int | None, *epochs: int) -> Any:
    """A sink that goes on from a checkpoint through others, ten rows each."""
    sink = begun(SINKS[kind](folder))
    sink.resume(last)
    for epoch in epochs:
        sink.consume(rows_between(epoch * 10 - 10, epoch * 10))
        sink.cut(epoch)
        sink.complete(epoch)
    return sink


def whole(kind: str, folder: Path) -> Any:
    """What a target holds that took two epochs in one run."""
    folder.mkdir()
    sink = taken(kind, folder, None, 1, 2)
    sink.finish()
    sink.close()
    return held(folder, kind)


@every_sink
def test_a_second_complete_changes_nothing(kind: str, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None, 1)
    sink.complete(1)
    sink.consume(rows_between(10, 20))
    sink.complete(1)
    sink.cut(2)
    sink.cut(2)
    sink.complete(1)
    sink.complete(2)
    sink.complete(2)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@every_sink
def test_cuts_of_a_checkpoint_that_was_given_up_belong_to_the_next(kind: str, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None)
    for epoch, first in enumerate((0, 4, 10), 1):
        sink.consume(rows_between(first, (4, 10, 20)[epoch - 1]))
        sink.cut(epoch)
    sink.complete(3)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@every_sink
def test_rows_behind_the_checkpoint_come_again(kind: str, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None, 1)
    sink.consume(rows_between(10, 17))
    sink.cut(2)  # whose manifest was not written
    sink.consume(rows_between(17, 20))
    sink.close()
    sink = taken(kind, tmp_path, 1, 2)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@every_sink
def test_what_was_cut_is_applied_when_the_run_goes_on(kind: str, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None, 1)
    sink.consume(rows_between(10, 20))
    sink.cut(2)
    sink.close()
    sink = taken(kind, tmp_path, 2)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@pytest.mark.parametrize("kind", WITHOUT_WAY_BACK)
def test_an_older_checkpoint_is_refused(kind: str, tmp_path: Path) -> None:
    taken(kind, tmp_path, None, 1, 2).close()
    before = held(tmp_path, kind)
    with pytest.raises(
        SinkError, match=r"checkpoint 2 have been applied.*from checkpoint 1.*applied twice: go on"
    ):
        taken(kind, tmp_path, 1)
    assert held(tmp_path, kind) == before


@pytest.mark.parametrize("kind", sorted(SINKS.keys() - set(WITHOUT_WAY_BACK)))
@pytest.mark.parametrize("finished", [False, True])
def test_files_go_back_to_an_older_checkpoint(kind: str, finished: bool, tmp_path: Path) -> None:
    expected = whole(kind, tmp_path / "expected")
    sink = taken(kind, tmp_path, None, 1, 2, 3, 4)
    if finished:
        sink.finish()
    sink.close()
    sink = taken(kind, tmp_path, 1, 2)
    sink.finish()
    sink.close()
    assert held(tmp_path, kind) == expected


@every_sink
def test_another_target_is_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(
        SinkError, match=r"tested/sink/0: the run goes on from checkpoint 3, but nothing is applied"
    ):
        taken(kind, tmp_path, 3)
    (tmp_path / "other").mkdir()
    sink = taken(kind, tmp_path / "other", None, 1)
    sink.close()
    with pytest.raises(
        SinkError, match=r"but only rows up to checkpoint 1 is applied|checkpoint 1 .*not staged in"
    ):
        taken(kind, tmp_path / "other", 3)


def test_complete_without_a_cut_is_a_mistake_of_ours(tmp_path: Path) -> None:
    sink = taken("sqlite", tmp_path, None)
    with pytest.raises(InternalError, match="checkpoint 1 is complete, and was never cut"):
        sink.complete(1)
    sink.cut(1)
    sink.consume(rows_between(0, 1))
    with pytest.raises(InternalError, match="is there already, and 1 rows have come since"):
        sink.cut(1)


@pytest.mark.parametrize("kind", ["sqlite", "sqlalchemy"])
@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 3), (3, 2), (2, 5)])
def test_tables_do_not_care_how_many_tasks_write(kind: str, before: int, after: int, tmp_path: Path) -> None:
    def tasks(number: int, last: int | None) -> list[Any]:
        sinks = [begun(SINKS[kind](tmp_path), index=index, tasks=number) for index in range(number)]
        for sink in sinks:
            sink.resume(last)
        return sinks

    first = tasks(before, None)
    for n, row in enumerate(rows_between(0, 20)):
        first[n % before].consume([row])
    for sink in first:
        sink.cut(1)
    first[0].complete(1)  # the others are killed before
    for sink in first:
        sink.close()
    for last, rows in ((1, rows_between(20, 40)), (2, rows_between(40, 60))):
        sinks = tasks(after, last)
        for n, row in enumerate(rows):
            sinks[n % after].consume([row])
        for sink in sinks:
            sink.cut(last + 1)
            sink.complete(last + 1)
        for sink in sinks:
            sink.close()
    assert sorted(held(tmp_path, kind)) == sorted(rows_between(0, 60))


def test_files_want_the_same_number_of_tasks(tmp_path: Path) -> None:
    taken("json", tmp_path, None, 1).close()
    sink = begun(SINKS["json"](tmp_path), index=1, tasks=2)
    with pytest.raises(SinkError, match="nothing is applied there"):
        sink.resume(1)


def test_each_task_has_a_file(tmp_path: Path) -> None:
    for index in range(2):
        sink = begun(JsonLinesSink(str(tmp_path / "out.jsonl")), index=index, tasks=2, eager=True)
        sink.resume(None)
        sink.consume(rows_between(index, index + 1))
        sink.apply_and_finish()
        sink.close()
    assert sorted(os.listdir(tmp_path)) == ["out-0000.jsonl", "out-0001.jsonl"]
    assert (tmp_path / "out-0001.jsonl").read_text() == '{"word": "w1", "n": 1}\n'


class TestFiles:
    def eager(self, sink: Any) -> Any:
        begun(sink, eager=True).resume(None)
        return sink

    def test_a_file_appears_whole_and_replaces_the_old_one(self, tmp_path: Path) -> None:
        path = tmp_path / "out.txt"
        path.write_text("old\n")
        sink = self.eager(TextSink(str(path), " "))
        sink.consume(rows_between(0, 2))
        sink.apply_staged()
        assert path.read_text() == "old\n"
        sink.apply_and_finish()
        sink.close()
        assert path.read_text() == "w0 0\nw1 1\n" and os.listdir(tmp_path) == ["out.txt"]

    def test_a_failed_run_leaves_the_old_one(self, tmp_path: Path) -> None:
        path = tmp_path / "out.txt"
        path.write_text("old\n")
        sink = self.eager(TextSink(str(path)))
        sink.consume(rows_between(0, 2))
        sink.apply_staged()
        sink.consume(rows_between(2, 4))
        sink.close()
        assert path.read_text() == "old\n" and os.listdir(tmp_path) == ["out.txt"]

    def test_one_that_grows_keeps_what_is_in_it(self, tmp_path: Path) -> None:
        path = tmp_path / "out.csv"
        for first in (0, 1):
            sink = self.eager(CsvSink(str(path), grow=True))
            sink.consume(rows_between(first, first + 1))
            sink.apply_staged()
            assert path.read_text().endswith(f"w{first},{first}\n")
            sink.apply_and_finish()
            sink.close()
        assert path.read_text() == "word,n\nw0,0\nw1,1\n" and os.listdir(tmp_path) == ["out.csv"]

    def test_without_rows_there_is_an_empty_one(self, tmp_path: Path) -> None:
        for sink in (
            CsvSink(str(tmp_path / "a.csv")),
            TextSink(str(tmp_path / "a.txt")),
            ParquetSink(str(tmp_path / "a.parquet"), {"n": "int64"}),
        ):
            self.eager(sink).apply_and_finish()
            sink.close()
        assert (tmp_path / "a.csv").read_text() == "word,n\n" and (tmp_path / "a.txt").read_text() == ""
        import pyarrow.parquet as pq

        assert pq.read_table(tmp_path / "a.parquet").num_rows == 0

    def test_what_the_formats_write(self, tmp_path: Path) -> None:
        rows = [('a "b"\nc', None), ("ä, ö", 1.5)]
        for sink in (
            JsonLinesSink(str(tmp_path / "a.jsonl"), ["n", "word"]),
            CsvSink(str(tmp_path / "a.csv"), delimiter=";", header=False),
        ):
            self.eager(sink).consume(rows)
            sink.apply_and_finish()
            sink.close()
        lines = (tmp_path / "a.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in lines] == [
            {"n": None, "word": 'a "b"\nc'},
            {"n": 1.5, "word": "ä, ö"},
        ]
        assert (tmp_path / "a.csv").read_text() == '"a ""b""\nc";\nä, ö;1.5\n'

    def test_the_bytes_of_parquet_do_not_depend_on_when_rows_were_applied(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import pyarrow.parquet as pq

        monkeypatch.setattr("framework.sinks.parquet_sink.GROUP_ROWS", 7)
        found = []
        for size in (1, 5, 7, 50):
            path = tmp_path / f"{size}.parquet"
            sink = self.eager(ParquetSink(str(path), {"n": "int64 not null", "word": "string"}))
            for first in range(0, 50, size):
                sink.consume(rows_between(first, min(first + size, 50)))
                sink.apply_staged()
            sink.apply_and_finish()
            sink.close()
            found.append(path.read_bytes())
        assert len(set(found)) == 1 and pq.ParquetFile(path).num_row_groups == 8
        assert pq.read_table(path).to_pylist()[49] == {"n": 49, "word": "w0"}

    @pytest.mark.parametrize(
        ("make", "row", "told"),
        [
            (lambda path: JsonLinesSink(path), ("a", {1}), "JSON cannot write a row: Object of type set"),
            (lambda path: JsonLinesSink(path), ("a", float("nan")), "JSON cannot write a row"),
            (lambda path: JsonLinesSink(path), ("a",), "a row has 1 values, expected 2"),
            (lambda path: ParquetSink(path, {"n": "int8"}), ("a", 300), "a row does not fit the schema"),
            (
                lambda path: ParquetSink(path, {"n": "int8 not null"}),
                ("a", None),
                "a row does not fit the schema",
            ),
            (
                lambda path: SqliteSink(path, "t"),
                ("a", [1]),
                "column 'n' has a value of class list, which SQLite",
            ),
            (
                lambda path: SqliteSink(path, "t"),
                ("a", 2**63),
                "column 'n' has a whole number of more than 64 bits",
            ),
        ],
    )
    def test_rows_that_cannot_be_written_are_refused_when_they_come(
        self, tmp_path: Path, make: Callable[[str], Any], row: Any, told: str
    ) -> None:
        sink = self.eager(make(str(tmp_path / "out")))
        sink.consume(rows_between(0, 1))
        with pytest.raises(SinkError, match=told):
            sink.consume([row])
        assert sink.staged_rows == 1

    def test_one_that_somebody_has_cut_off_is_not_gone_on_with(self, tmp_path: Path) -> None:
        taken("json that grows", tmp_path, None, 1).close()
        os.truncate(tmp_path / "out.jsonl", 5)
        with pytest.raises(
            SinkError, match=r"out.jsonl has 5 bytes, and 230 were written: somebody has cut it off"
        ):
            taken("json that grows", tmp_path, 1)


class TestRefusals:
    """Errors before anything starts, that say what to do."""

    @pytest.mark.parametrize(
        ("make", "told"),
        [
            (lambda f: JsonLinesSink(str(f / "no" / "a.jsonl")), r"there is no folder .*no: make it first"),
            (lambda f: TextSink(str(f)), r"is a folder: expected the name of a file"),
            (lambda f: CsvSink(str(f / "a"), delimiter=";;"), r"delimiter ';;'"),
            (lambda f: ParquetSink(str(f / "a"), {"n": "integer"}), r"schema: .*'integer' is no type"),
            (lambda f: SqliteSink(str(f / "no" / "a.db"), "t"), r"there is no folder .*no: make it first"),
            (lambda f: SqliteSink(str(f / "a.db"), "t", ["a"], key="b"), r"key: unknown column 'b'"),
            (lambda f: SqlAlchemySink("none", "t"), r"expected e.g. postgresql"),
        ],
    )
    def test_of_arguments(self, tmp_path: Path, make: Callable[[Path], Any], told: str) -> None:
        with pytest.raises(SinkError, match=told):
            make(tmp_path)

    @pytest.mark.parametrize(
        ("make", "told"),
        [
            (lambda f: CsvSink(str(f / "a"), ["m"]), r"columns: unknown field 'm'"),
            (lambda f: SqliteSink(str(f / "a.db"), "t", key="m"), r"key: unknown column 'm'"),
            (
                lambda f: SqliteSink(str(f / "out.db"), "rows", key="n"),
                r"no primary key or unique index on \(n\)",
            ),
            (lambda f: SqliteSink(str(f / "out.db"), "other"), r"table 'other': unknown column 'n'"),
            (
                lambda f: SqliteSink(str(f / "text.db"), "t"),
                r"file is not a database: expected an SQLite database",
            ),
            (
                lambda f: SqlAlchemySink(f"sqlite:///{f}/out.db", "none", staging=str(f / "s")),
                r"no table 'none'",
            ),
            (
                lambda f: SqlAlchemySink(f"sqlite:///{f}/out.db", "other", staging=str(f / "s")),
                r"unknown column 'n'",
            ),
            (
                lambda f: SqlAlchemySink(f"sqlite:///{f}/no/x.db", "t", staging=str(f / "s")),
                r"unable to open",
            ),
        ],
    )
    def test_of_targets(self, tmp_path: Path, make: Callable[[Path], Any], told: str) -> None:
        make_table(tmp_path)
        database = sqlite3.connect(tmp_path / "out.db")
        database.execute("CREATE TABLE other (word)")
        database.close()
        (tmp_path / "text.db").write_text("nothing but text " * 100)
        with pytest.raises(SinkError, match=told):
            begun(make(tmp_path))

    def test_fields_that_nobody_knows_or_that_differ(self, tmp_path: Path) -> None:
        sink = JsonLinesSink(str(tmp_path / "a"))
        with pytest.raises(SinkError, match=r"nobody knows the fields .* name them"):
            sink.initialize({}, {})
        two = {"a": {"default": ["x"]}, "b": {"default": ["y"]}}
        with pytest.raises(
            SinkError, match=r"a sink writes rows of one kind, and receives \[\['x'\], \['y'\]\]"
        ):
            sink.initialize({}, {"source->stream->fields": two})

    def test_a_folder_that_cannot_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: Any, **__: Any) -> int:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(os, "open", refused)
        with pytest.raises(
            SinkError, match=r"Permission denied: whoever runs the topology must be allowed to write"
        ):
            begun(JsonLinesSink(str(tmp_path / "a.jsonl")))

    def test_two_runs_do_not_write_at_once(self, tmp_path: Path) -> None:
        script = (
            "import sys\nfrom tests.framework.sinks.driven import SINKS, begun\nfrom pathlib import Path\n"
            "try:\n    begun(SINKS['json'](Path(sys.argv[1])))\n"
            "except Exception as error:\n    print(error)\n"
        )
        repository = Path(__file__).parents[3]

        def other() -> str:
            command = [sys.executable, "-c", script, str(tmp_path)]
            return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout

        sink = begun(SINKS["json"](tmp_path))
        assert "is in use: another run writes by the same sink" in other()
        sink.close()
        assert other() == ""


class TestTrouble:
    """What goes wrong later leaves the target as it was, and the rows staged."""

    def test_a_disk_that_is_full_when_rows_come(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sink = taken("json", tmp_path, None)
        sink.consume(rows_between(0, 3))
        write = os.write

        def full(file: int, data: Any) -> int:
            write(file, bytes(data)[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            with pytest.raises(
                SinkError, match=r"No space left on device: make room, and run again; nothing has"
            ):
                sink.consume(rows_between(3, 6))
        sink.consume(rows_between(3, 6))
        sink.cut(1)
        sink.complete(1)
        sink.finish()
        assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 6

    @pytest.mark.parametrize("kind", ["json", "json that grows"])
    def test_a_disk_that_is_full_when_they_are_applied(
        self, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sink = taken(kind, tmp_path, None, 1)
        sink.consume(rows_between(10, 20))
        sink.cut(2)
        target = next(path for path in tmp_path.glob("out.jsonl*"))
        before = target.read_bytes()

        def full(file: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            with pytest.raises(SinkError, match=r"out.jsonl.*: No space left on device: make room"):
                sink.complete(2)
        assert target.read_bytes() == before
        sink.complete(2)
        assert target.read_bytes().startswith(before) and len(target.read_text().splitlines()) == 20

    def test_a_database_that_is_full(self, tmp_path: Path) -> None:
        sink = taken("sqlite", tmp_path, None, 1)
        (pages,) = sink._database.execute("PRAGMA page_count").fetchone()
        sink._database.execute(f"PRAGMA max_page_count = {pages}")
        sink.consume([("x" * 10_000, n) for n in range(10)])
        sink.cut(2)
        with pytest.raises(
            SinkError, match=r"database or disk is full: make room, and run again; nothing has been"
        ):
            sink.complete(2)
        assert held(tmp_path, "sqlite") == rows_between(0, 10)
        sink._database.execute("PRAGMA max_page_count = 100000")
        sink.complete(2)
        assert len(held(tmp_path, "sqlite")) == 20

    def test_a_database_that_is_locked(self, tmp_path: Path) -> None:
        sink = begun(SqliteSink(str(tmp_path / "out.db"), "rows", busy_secs=0.05))
        sink.resume(None)
        other = sqlite3.connect(tmp_path / "out.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        sink.consume(rows_between(0, 10))
        sink.cut(1)
        with pytest.raises(
            SinkError, match=r"another program has locked it for more than 0.05 s: close that, or"
        ):
            sink.complete(1)
        with pytest.raises(SinkError, match=r"another program has locked it"):
            begun(SqliteSink(str(tmp_path / "out.db"), "rows", busy_secs=0.05), index=1)
        other.execute("ROLLBACK")
        other.close()
        sink.complete(1)
        assert held(tmp_path, "sqlite") == rows_between(0, 10)

    @pytest.mark.parametrize("kind", ["sqlite", "sqlalchemy"])
    def test_a_row_that_the_table_refuses(self, kind: str, tmp_path: Path) -> None:
        database = sqlite3.connect(tmp_path / "out.db")
        database.execute("CREATE TABLE rows (word TEXT, n INTEGER CHECK (n < 15))")
        database.close()
        sink = taken(kind, tmp_path, None, 1)
        sink.consume(rows_between(10, 20))
        sink.cut(2)
        with pytest.raises(
            SinkError, match=r"CHECK constraint failed.*nothing of (its|the) transaction was applied"
        ):
            sink.complete(2)
        assert held(tmp_path, kind) == rows_between(0, 10)

    def test_a_staged_file_that_is_damaged(self, tmp_path: Path) -> None:
        sink = taken("json", tmp_path, None)
        for first in (0, 10):
            sink.consume(rows_between(first, first + 10))
        sink.cut(1)
        (cut,) = tmp_path.glob(".out.jsonl.staged/*/*.cut")
        os.truncate(cut, cut.stat().st_size - 3)
        with pytest.raises(
            SinkError, match=r"is damaged behind its first \d+ bytes: what was staged there is lost"
        ):
            sink.complete(1)
        assert not (tmp_path / "out.jsonl.part").exists() or not (tmp_path / "out.jsonl.part").read_bytes()


class TestStage:
    def test_a_torn_entry_is_left_out_wherever_it_is_torn(self, tmp_path: Path) -> None:
        stage = Stage(tmp_path / "s")
        stage.append(b"first", 1)
        length = stage.length
        stage.append(b"second", 2)
        whole = stage.length
        stage.close()
        path = tmp_path / "s" / "open.eager"
        data = path.read_bytes()
        for size in range(length, whole):
            path.write_bytes(data[:size])
            again = Stage(tmp_path / "s")
            assert (again.rows, again.length) == (1, length)
            again.append(b"third", 5)
            again.cut(1)
            assert list(again.entries(1)) == [b"first", b"third"]
            again.remove(1)
            again.close()

    def test_what_runs_of_the_other_kind_left_is_told_apart(self, tmp_path: Path) -> None:
        eager = Stage(tmp_path, eager=True)
        eager.append(b"a", 1)
        eager.cut(1)
        eager.append(b"b", 1)
        eager.close()
        other = Stage(tmp_path, eager=False)
        assert other.rows == 0 and other.cuts == [1]
        other.discard_others()
        assert other.cuts == []
        other.close()
