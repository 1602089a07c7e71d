"""Databases that are away for a moment: sinks try again, each row is applied once, and the bound is told."""

from __future__ import annotations

import datetime
import os
import pwd
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import psycopg2

from framework.model.errors import ComponentError, SinkError, TransientError
from framework.operators.sinks import SqlAlchemySink, SqliteSink, transactional
from framework.operators.sinks.databases import check_of, is_transient
from framework.operators.sinks.transactional import RETRY_SECS
from tests.framework.operators.sinks.driven import OwnSink, begun, held, make_table, rows_between
from tests.framework.operators.sinks.test_staged_rows import put


class Clock:
    """A clock that only pauses move on; a test may do something in each of them."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.pauses: list[float] = []
        self.during: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now_s += seconds
        self.during()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(transactional, "time", found)
    return found


class Away:
    """Something of a sink that fails so many times, before or after it has done its work."""

    def __init__(self, call: Callable[..., Any], times: int, *, after: bool) -> None:
        self._call = call
        self.left = times
        self._after = after

    def __call__(self, *args: Any) -> Any:
        done = self._call(*args) if self._after or not self.left else None
        if self.left:
            self.left -= 1
            raise lost()
        return done


class Lost(Exception):
    """As a driver raises it."""

    sqlstate = "57P01"


def lost() -> sa.exc.OperationalError:
    return sa.exc.OperationalError("INSERT", {}, Lost("terminating connection due to administrator command"))


def sink_of(folder: Path, retry_s: float = 60) -> Any:
    make_table(folder)
    sink = SqlAlchemySink(f"sqlite:///{folder / 'out.db'}", "rows", staging=str(folder / "staging"))
    begun(sink)
    sink._retry_secs = retry_s
    return sink


class TestRetries:
    @pytest.mark.parametrize("times", [1, 7])
    def test_an_apply_that_fails_is_tried_again(
        self, times: int, tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        sink = sink_of(tmp_path)
        sink.resume(None)
        sink.consume(rows_between(0, 10))
        sink.cut(1)
        sink._write = Away(sink._write, times, after=False)
        sink.complete(1)
        sink.close()
        assert held(tmp_path, "sqlalchemy") == rows_between(0, 10)
        assert clock.pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0][:times]
        assert caplog.text.count("is away: terminating connection") == 1  # and not for each pause
        assert "trying again for up to 60 s" in caplog.text

    def test_a_commit_whose_answer_is_lost_is_not_repeated(
        self, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sink = sink_of(tmp_path)
        sink.resume(None)
        sink.consume(rows_between(0, 10))
        sink.cut(1)
        apply = sink.apply

        def answered(*args: Any) -> None:
            apply(*args)
            raise TransientError("the answer is lost")

        monkeypatch.setattr(sink, "apply", answered)
        sink.complete(1)
        sink.close()
        assert held(tmp_path, "sqlalchemy") == rows_between(0, 10) and len(clock.pauses) == 1

    def test_the_number_is_asked_for_again_too(self, tmp_path: Path, clock: Clock) -> None:
        sink = sink_of(tmp_path)
        sink._connected.dispose()
        engine, connects = sink._connected, [0]

        @sa.event.listens_for(engine, "do_connect")
        def refuse(*_: Any) -> None:
            connects[0] += 1
            if connects[0] < 4:
                raise lost()

        sink.resume(None)
        sink.close()
        assert len(clock.pauses) == 3

    def test_after_its_time_the_run_ends_and_rows_wait(self, tmp_path: Path, clock: Clock) -> None:
        sink = sink_of(tmp_path, retry_s=12)
        sink.resume(None)
        sink.consume(rows_between(0, 10))
        sink.cut(1)
        write = sink._write
        sink._write = Away(write, 1000, after=False)
        with pytest.raises(
            SinkError,
            match=r"is away: terminating .*; it was tried again for 12 s \(viper.sink.retry.secs\): once it "
            r"answers, run again, or go on from the last checkpoint; 10 rows stay staged in .*staging",
        ):
            sink.complete(1)
        assert sum(clock.pauses) == pytest.approx(12) and max(clock.pauses) <= 5
        sink.close()
        again = sink_of(tmp_path)
        again.resume(1)
        again.close()
        assert held(tmp_path, "sqlalchemy") == rows_between(0, 10)

    def test_a_row_that_is_refused_is_not_tried_again(self, tmp_path: Path, clock: Clock) -> None:
        database = sqlite3.connect(tmp_path / "out.db")
        database.execute('CREATE TABLE "rows" (word TEXT, n INTEGER CHECK (n < 5))')
        database.close()
        sink = sink_of(tmp_path)
        sink.resume(None)
        sink.consume(rows_between(0, 10))
        sink.cut(1)
        with pytest.raises(SinkError, match=r"the row is \('w5', 5\), number 6 of those that are staged"):
            sink.complete(1)
        sink.close()
        assert clock.pauses == []

    def test_a_sink_of_a_users_own(self, tmp_path: Path, clock: Clock) -> None:
        sink = begun(OwnSink(str(tmp_path)))
        sink._retry_secs = 60
        sink.resume(None)
        sink.consume(rows_between(0, 10))
        sink.cut(1)
        apply, failures = sink.apply, [TransientError("a moment")] * 2

        def failing(*args: Any) -> None:
            if failures:
                raise failures.pop()
            apply(*args)

        sink.apply = failing
        sink.complete(1)
        sink.close()
        assert len(held(tmp_path, "own").splitlines()) == 10 and len(clock.pauses) == 2

    def test_a_run_hands_the_time_on(self, tmp_path: Path) -> None:
        sink = SqliteSink(str(tmp_path / "out.db"), "t")
        sink.topology_name, sink.component_name, sink.task_id = "tested", "sink", 5
        sink.initialize({RETRY_SECS: 7}, {"source->stream->fields": {"rows": {"default": ["a"]}}})
        assert sink._retry_secs == 7
        sink.close()


HOLDER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
database.execute("ROLLBACK")
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which holds a lock on the database until its stdin ends."""
    make_table(tmp_path)
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "out.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "locked\n"
        yield process
        process.communicate()


def test_a_database_that_another_process_has_locked(
    tmp_path: Path, clock: Clock, holder: subprocess.Popen[str]
) -> None:
    def release() -> None:
        if len(clock.pauses) == 2:
            holder.communicate()

    clock.during = release
    url = f"sqlite:///{tmp_path / 'out.db'}?timeout=0"
    sink = SqlAlchemySink(url, "rows", staging=str(tmp_path / "staging"))
    sink._retry_secs = 60
    sink.topology_name, sink.component_name, sink.task_id = "tested", "sink", 5
    context = {"source->stream->fields": {"rows": {"default": ["word", "n"]}}}
    sink.initialize({RETRY_SECS: 60}, context)
    sink.resume(None)
    sink.consume(rows_between(0, 10))
    sink.apply_and_finish()
    sink.close()
    assert held(tmp_path, "sqlalchemy") == rows_between(0, 10) and len(clock.pauses) == 2


def error_of(kind: type[sa.exc.DBAPIError], **cause: Any) -> sa.exc.DBAPIError:
    args = cause.pop("args", ())
    return kind("INSERT", {}, type("Cause", (Exception,), cause)(*args))


PASSING = [
    error_of(sa.exc.OperationalError, sqlstate="57P01"),
    error_of(sa.exc.OperationalError, sqlstate="57P03"),
    error_of(sa.exc.OperationalError, sqlstate="08006"),
    error_of(sa.exc.OperationalError, sqlstate="40P01"),
    error_of(sa.exc.DBAPIError, sqlstate="40001"),
    error_of(sa.exc.OperationalError, pgcode="53300"),
    error_of(sa.exc.OperationalError, args=(2006, "MySQL server has gone away")),
    error_of(sa.exc.OperationalError, args=(1213, "Deadlock found")),
    error_of(sa.exc.OperationalError, args=("connection failed: Connection refused",)),
    error_of(sa.exc.OperationalError, args=("FATAL: the database system is starting up",)),
    error_of(sa.exc.OperationalError, args=("database is locked",)),
    sa.exc.DBAPIError("INSERT", {}, Exception("gone"), connection_invalidated=True),
]
LASTING = [
    error_of(sa.exc.IntegrityError, sqlstate="23505"),
    error_of(sa.exc.ProgrammingError, sqlstate="42P01"),
    error_of(sa.exc.DataError, sqlstate="22003"),
    error_of(sa.exc.OperationalError, sqlstate="53100"),
    error_of(sa.exc.OperationalError, sqlstate="28P01"),
    error_of(sa.exc.IntegrityError, args=("timed out is what the text says",)),
    error_of(sa.exc.OperationalError, args=("no such table: t",)),
    error_of(sa.exc.OperationalError, args=('FATAL: database "none" does not exist',)),
    error_of(sa.exc.IntegrityError, args=(1062, "Duplicate entry")),
    sa.exc.NoSuchTableError("t"),
]


@pytest.mark.parametrize("error", PASSING, ids=map(str, range(len(PASSING))))
def test_errors_that_pass(error: sa.exc.SQLAlchemyError) -> None:
    assert is_transient(error)


@pytest.mark.parametrize("error", LASTING, ids=map(str, range(len(LASTING))))
def test_errors_that_last(error: sa.exc.SQLAlchemyError) -> None:
    assert not is_transient(error)


def checked(column: Any, value: object, dialect: sa.Dialect) -> str:
    return check_of(column, dialect)((value,))


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        (sa.Integer(), 2**31, "not between -2147483648 and 2147483647"),
        (sa.SmallInteger(), -40000, "not between -32768 and 32767"),
        (sa.BigInteger(), 2**63, "not between"),
        (sa.Text(), "a\0b", "the character NUL"),
        (sa.Text(), "\ud83d", "a lone surrogate"),
        (postgresql.JSONB(), {"a": "\ud83d"}, "surrogates not allowed"),
        (postgresql.JSONB(), {"a": "\0"}, "the character NUL"),
        (postgresql.JSONB(), [float("nan")], "Out of range float values"),
        (postgresql.JSONB(), {1, 2}, "Object of type set is not JSON serializable"),
        (sa.Float(), 10**400, "int too large to convert to float"),
        (sa.Boolean(), 2, "not None, True, or False"),
        (sa.Integer(), 1.5, "has 1.5, and the column holds whole numbers: round it"),
        (sa.Integer(), Decimal("0.5"), "the column holds whole numbers"),
        (sa.BigInteger(), float("nan"), "the column holds whole numbers"),
        (sa.Integer(), float("inf"), "the column holds whole numbers"),
        (sa.Numeric(10, 2), Decimal("1.005"), "the column holds numbers of 10 digits, 2 behind the point"),
        (sa.Numeric(10, 2), 1.005, "the column holds numbers of 10 digits"),
        (sa.Numeric(10, 2), 10**8, "the column holds numbers of 10 digits"),
        (sa.Numeric(10, 2), Decimal("Infinity"), "the column holds numbers of 10 digits"),
        (sa.Double(), 2**53 + 1, "has a whole number of more digits than the column's floats"),
        (sa.Time(), datetime.datetime(2024, 5, 31, 17), "has a date, which a column of times drops"),
        (sa.Time(), datetime.time(17, tzinfo=datetime.UTC), "has a time zone, which the column drops"),
        (sa.DateTime(), datetime.datetime(2024, 5, 31, tzinfo=datetime.UTC), "has a time zone, which"),
        (sa.Date(), datetime.datetime(2024, 5, 31, 17), "has a time of day, which a column of dates drops"),
    ],
)
def test_values_that_postgresql_never_takes(column: Any, value: object, told: str) -> None:
    assert told in checked(column, value, psycopg2.dialect())


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (sa.Integer(), 2**31 - 1),
        (sa.Integer(), None),
        (sa.BigInteger(), -(2**63)),
        (sa.Numeric(), 2**70),
        (sa.Text(), "\U0001f600"),
        (postgresql.JSONB(), {"a": ["\\u0000", None, 1.5]}),
        (sa.Float(), float("nan")),
        (sa.Boolean(), True),
        (sa.Integer(), 2.0),
        (sa.Integer(), Decimal("2.00")),
        (sa.Numeric(10, 2), Decimal("99999999.99")),
        (sa.Numeric(10, 2), Decimal("1.500")),
        (sa.Numeric(10, 2), Decimal("0.0000")),
        (sa.Numeric(10, 2), Decimal("NaN")),
        (sa.Numeric(10, 2), 1.1),
        (sa.Numeric(10, 2), None),
        (sa.Numeric(3, -2), 12300),
        (sa.Numeric(), Decimal("1.005")),
        (sa.Float(), 1.5),
        (sa.Float(), 2**53),
        (sa.Time(), datetime.time(17)),
        (sa.Time(timezone=True), datetime.time(17, tzinfo=datetime.UTC)),
        (sa.Date(), datetime.date(2024, 5, 31)),
        (sa.DateTime(), datetime.datetime(2024, 5, 31, 17)),
        (sa.DateTime(timezone=True), datetime.datetime(2024, 5, 31, tzinfo=datetime.UTC)),
    ],
)
def test_values_that_it_takes(column: Any, value: object) -> None:
    assert checked(column, value, psycopg2.dialect()) == ""


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        (sa.Numeric(30, 2), Decimal("12345678901234567890.12"), "more digits than SQLite's floats"),
        (sa.Numeric(30, 2), Decimal("0.10"), ""),
        (sa.Integer(), 1.5, ""),  # which SQLite holds in any column
        (sa.Date(), datetime.datetime(2024, 5, 31, 17), "has a time of day"),
        (sa.DateTime(), datetime.datetime(2024, 5, 31, tzinfo=datetime.UTC), "has a time zone, which"),
        (sa.DateTime(), datetime.datetime(2024, 5, 31, 17), ""),
    ],
)
def test_what_sqlite_would_keep_a_part_of(column: Any, value: object, told: str, tmp_path: Path) -> None:
    """An accepted value is read back; a refused one would not be, which is why."""
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    table = sa.Table("t", sa.MetaData(), sa.Column("v", column))
    table.create(engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.exc.SAWarning)  # about decimals
        assert (checked(column, value, engine.dialect) == "") == (told == "")
        with engine.begin() as connection:
            connection.execute(sa.insert(table), [{"v": value}])
            assert (connection.execute(sa.select(table.c.v)).scalar() == value) == (told == "")
    assert told in checked(column, value, engine.dialect)
    engine.dispose()


# -- a server of PostgreSQL, where there is one


def missing() -> str:
    """The reason why no server can be started; empty if one can."""
    if shutil.which("pg_ctl") is None or shutil.which("initdb") is None:
        return "pg_ctl and initdb are not there"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "root cannot start PostgreSQL without setpriv"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    return ""


class Server:
    """A server of PostgreSQL that listens on a socket in its folder only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._as: list[str] = []
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self._as = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        self._call("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "viper", "--no-sync")
        self.url = f"postgresql+psycopg://viper@/postgres?host={folder}"

    def start(self) -> None:
        self._control("start", "-o", f"-h '' -k {self._folder} -c fsync=off")

    def stop(self, mode: str) -> None:
        self._control("stop", "-m", mode)

    def _control(self, *args: str) -> None:
        self._call("pg_ctl", "-w", "-D", f"{self._folder}/data", "-l", f"{self._folder}/log", *args)

    def _call(self, *command: str) -> None:
        subprocess.run([*self._as, *command], cwd=self._folder, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="viper-pg-", dir="/tmp") as folder:
        found = Server(Path(folder))
        found.start()
        try:
            yield found
        finally:
            found.stop("immediate")


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_that_restarts_among_the_rows(
    mode: str, server: Server, tmp_path: Path, clock: Clock
) -> None:
    engine = sa.create_engine(server.url)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE rows (word text, n integer)"))
    engine.dispose()
    sink = begun(SqlAlchemySink(server.url, "rows", staging=str(tmp_path)))
    sink._retry_secs = 60
    sink.resume(None)
    sink.consume(rows_between(0, 10))
    sink.cut(1)
    write, written = sink._write, []

    def restarted(*args: Any) -> None:
        write(*args)
        if not written:
            server.stop(mode)
        written.append(args)

    sink._write = restarted
    clock.during = lambda: server.start() if len(clock.pauses) == 3 else None
    sink.complete(1)
    sink.close()
    with engine.begin() as connection:
        found = [tuple(row) for row in connection.execute(sa.text("SELECT word, n FROM rows"))]
    engine.dispose()
    assert sorted(found) == sorted(rows_between(0, 10)) and len(clock.pauses) == 3


def test_a_run_with_a_database_that_is_away_says_what_to_do(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'out.db'}"
    sink = SqlAlchemySink(url, "rows", staging=str(tmp_path / "staging"))
    make_table(tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SqlAlchemySink, "_write", Away(lambda *_: None, 1000, after=False))
        told = r"in apply: SinkError: sqlite.*is away: .*once it answers, run again.*; 2 rows stay staged in"
        with pytest.raises(ComponentError, match=told):
            put(sink, [("a", 1), ("b", 2)], ["word", "n"])
    put(sink, [("c", 3)], ["word", "n"])
    assert held(tmp_path, "sqlalchemy") == [("a", 1), ("b", 2), ("c", 3)]
