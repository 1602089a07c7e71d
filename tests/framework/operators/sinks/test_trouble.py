"""Targets that cannot be used, or fail later: errors say what to do, and nothing is applied in part."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.model.errors import SinkError
from framework.operators.sinks import (
    CsvSink,
    JsonLinesSink,
    ParquetSink,
    SqlAlchemySink,
    SqliteSink,
    TextSink,
)
from framework.operators.sinks.staging import Stage
from tests.framework.operators.sinks.driven import SINKS, begun, held, make_table, rows_between, taken


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
            (lambda f: SqliteSink(str(f / "out.db"), "other"), r"'other' has no column 'n', only 'word'"),
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
                r"table 'other' has no column 'n', only 'word'",
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
            "import sys\nfrom pathlib import Path\n"
            "from tests.framework.operators.sinks.driven import SINKS, begun\n"
            "try:\n    begun(SINKS['json'](Path(sys.argv[1])))\n"
            "except Exception as error:\n    print(error)\n"
        )
        repository = Path(__file__).parents[4]

        def other() -> str:
            command = [sys.executable, "-c", script, str(tmp_path)]
            return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout

        sink = begun(SINKS["json"](tmp_path))
        assert "is in use: another run writes by the same sink" in other()
        sink.close()
        assert other() == ""


class TestTrouble:
    """A failure later on leaves the target as it was, and the rows staged."""

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
