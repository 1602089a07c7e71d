"""Rows in a table of an SQLite database."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import length_hint
from pathlib import Path
from typing import TYPE_CHECKING

from framework.model.errors import RefusedRowError, SinkError
from framework.operators.sinks.arrival import (
    NO_NAN,
    NO_TEXT,
    Check,
    check_columns,
    has_nan,
    is_text,
    is_within,
    refused,
)
from framework.operators.sinks.sink import Row
from framework.operators.sinks.table_sink import NUMBERS, Column, TableSink

if TYPE_CHECKING:
    import sqlite3

_CLASSES = frozenset({int, float, str, bytes, bool, type(None)})
"""The classes of values that SQLite takes."""
_MARSHAL = 4
"""A version that every Python from 3.4 on reads."""


class SqliteSink(TableSink):
    """Writes rows into a table of an SQLite database, which is made if it is not there.

        SqliteSink("counts.db", "counts", ["word", "count"], key="word")

    Several tasks and runs may write into one database, one after the other. Staged rows lie beside it, in a
    folder `.NAME.staged`.

    Args:
        path: the database; its folder must be there.
        table: the table; it is made if it is not there, with columns that take any values.
        columns: the fields that are written, in this order; None: all.
        key: one or several of them: a row replaces the one with the same key. None: every row is added.
        busy_secs: how long to wait while another program writes.

    Raises:
        SinkError: there is no such folder, or a key that is no column.
    """

    form = "marshal"

    def __init__(
        self,
        path: str,
        table: str,
        columns: Sequence[str] | None = None,
        key: str | Sequence[str] | None = None,
        *,
        busy_secs: float = 30.0,
    ) -> None:
        self._path = Path(path)
        super().__init__(table, columns, key, str(self._path.parent / f".{self._path.name}.staged"))
        if not self._path.parent.is_dir():
            raise SinkError(f"{path}: there is no folder {self._path.parent}: make it first")
        self._busy_secs = busy_secs
        self._database: sqlite3.Connection | None = None
        self._longest = 1_000_000_000
        self._checks: Sequence[Check] = []

    @property
    def target(self) -> str:
        """As in the base class; staged rows lie beside the database, so its folder is not named."""
        return f"table {self._table!r} of {self._path.name}"

    def connect(self) -> None:
        """Open the database, and see that the table is as it must be.

        Raises:
            SinkError: it is not, or the file is no database, or cannot be written.
        """
        import sqlite3

        names = self._chosen.names
        with self._explained():
            self._database = sqlite3.connect(
                self._path, timeout=self._busy_secs, isolation_level=None, check_same_thread=False
            )
            with self._transaction() as database:
                made = [_quoted(name) for name in names]
                made += [f"PRIMARY KEY ({_listed(self._key)})"] if self._key else []
                database.execute(f"CREATE TABLE IF NOT EXISTS {_quoted(self._table)} ({', '.join(made)})")
                database.execute(
                    f"CREATE TABLE IF NOT EXISTS {NUMBERS} (part TEXT PRIMARY KEY, number INTEGER NOT NULL)"
                )
                found = database.execute(f"PRAGMA table_xinfo({_quoted(self._table)})").fetchall()
                self._check_columns(self._column(*described) for described in found)
                declared = {name.lower(): kind for _, name, kind, *_ in found}
                self._checks = [_unfit_real if _is_real(declared[name.lower()]) else _unfit for name in names]
                self._check_key(database)
                self._check_insert(database)
        self._longest = self._opened_database.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)

    def encode(self, rows: Sequence[Row]) -> bytes:
        """The columns of rows.

        Raises:
            SinkError: a value that SQLite never takes.
        """
        chosen = self._chosen.of(rows)
        check_columns(self._chosen.names, chosen, self._checks)
        data = marshal.dumps(list(chosen), _MARSHAL)  # in half the time that pickle takes
        if len(data) > self._longest:
            for row in chosen:
                if (size := len(marshal.dumps(row, _MARSHAL))) > self._longest:
                    most = f"SQLite takes {self._longest:,}: make it smaller"
                    raise refused(f"it has {size:,} bytes, and {most}", row)
        return data

    def decode(self, entry: bytes) -> Iterable[Row]:
        """The rows of an entry."""
        rows: list[Row] = marshal.loads(entry)
        return rows

    def applied(self, part: str) -> int | None:
        """As in the base class."""
        with self._explained():
            found = self._opened_database.execute(f"SELECT number FROM {NUMBERS} WHERE part = ?", (part,))
            row = found.fetchone()
        return None if row is None else int(row[0])

    def apply(self, part: str, number: int, rows: Iterator[Row]) -> None:
        """Write rows and the number in one transaction.

        Raises:
            SinkError: the database is locked for too long, full, damaged, or refuses a row; it is unchanged.
        """
        insert = _statement(self._table, self._names, self._names_of_key)
        with self._explained(), self._transaction() as database:
            for chunk in self._chunks(rows):
                self._write(database, insert, chunk)
            database.execute(f"INSERT OR REPLACE INTO {NUMBERS} VALUES (?, ?)", (part, number))

    def forget(self, part: str) -> None:
        """As in the base class."""
        with self._explained(), self._transaction() as database:
            database.execute(f"DELETE FROM {NUMBERS} WHERE part = ?", (part,))

    def close(self) -> None:
        """As in the base class."""
        super().close()
        if self._database is not None:
            self._database.close()
            self._database = None

    # -- within

    @property
    def _opened_database(self) -> sqlite3.Connection:
        if self._database is None:
            raise SinkError(f"{self._path} is not open: call initialize first")
        return self._database

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        database = self._opened_database
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise

    def _write(self, database: sqlite3.Connection, insert: str, rows: Sequence[Row]) -> None:
        import sqlite3

        taken = iter(list(rows))
        try:
            database.executemany(insert, taken)
        except (sqlite3.IntegrityError, sqlite3.DataError) as error:
            row = rows[len(rows) - length_hint(taken) - 1]
            raise RefusedRowError(f"{self._path}: {self._advised(error)}", row) from error

    def _column(
        self, _id: int, name: str, kind: str, not_null: int, default: object, key: int, hidden: int
    ) -> Column:
        """A column as SQLite describes it, by the name of its field, whose case does not matter."""
        is_rowid = key == 1 and kind.upper() == "INTEGER"
        written = next((one for one in self._chosen.names if one.lower() == name.lower()), name)
        return Column(written, bool(not_null) and default is None and not is_rowid, hidden in (2, 3))

    def _check_insert(self, database: sqlite3.Connection) -> None:
        """See that SQLite takes rows there at all, as it does not of a view.

        Raises:
            sqlite3.Error: it does not.
        """
        statement = _statement(self._table, self._chosen.names, ())
        database.execute(f"EXPLAIN {statement}", [None] * len(self._chosen.names))

    def quoted(self, name: str) -> str:
        """As in the base class."""
        return _quoted(name)

    def _relax(self, names: Sequence[str]) -> str:
        return ", or make the table again with a DEFAULT for it, as SQLite cannot change that of a column"

    def _check_key(self, database: sqlite3.Connection) -> None:
        """See that the key is one in the table, as SQLite cannot replace a row otherwise."""
        import sqlite3

        if not self._key:
            return
        try:
            database.execute(
                f"EXPLAIN {_statement(self._table, self._chosen.names, self._key)}",
                [None] * len(self._chosen.names),
            )
        except sqlite3.OperationalError as error:
            raise SinkError(f"{self._path}: {self._no_key} ({error})") from None

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except sqlite3.Error as error:
            raise SinkError(f"{self._path}: {self._advised(error)}") from error

    def _advised(self, error: sqlite3.Error) -> str:
        import sqlite3

        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return (
                f"another program has locked it for more than {self._busy_secs:g} s: close that, or wait "
                "longer (busy_secs)"
            )
        if code == sqlite3.SQLITE_FULL:
            return f"{error}: make room, and run again; nothing has been applied in part"
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return f"{error}: whoever runs the topology must be allowed to write the file and its folder"
        if code == sqlite3.SQLITE_NOTADB:
            return f"{error}: expected an SQLite database"
        if code == sqlite3.SQLITE_CONSTRAINT:
            return f"table {self._table!r} refuses a row: {error}; nothing of its transaction was applied"
        return str(error)


def _unfit(values: Sequence[object]) -> str:
    """The fault of a value of a column, in any table; empty if there is none."""
    classes = set(map(type, values))
    if not classes <= _CLASSES:
        found = ", ".join(sorted(cls.__name__ for cls in classes - _CLASSES))
        return f"has a value of class {found}, which SQLite does not take: make it a number, text or bytes"
    if int in classes and not is_within(values):
        return "has a whole number of more than 64 bits: make it text first"
    if float in classes and has_nan(values):
        return NO_NAN
    return NO_TEXT if str in classes and not is_text(values) else ""


def _unfit_real(values: Sequence[object]) -> str:
    """The same for a column that holds floats, as which SQLite stores whole numbers, too."""
    numbers = [value for value in values if isinstance(value, int)]
    if any(int(float(number)) != number for number in numbers if is_within([number])):
        return "has a whole number of more digits than the column's floats: make the column INTEGER"
    return _unfit(values)


def _is_real(declared: str) -> bool:
    """True if a column of a declared type holds floats (https://sqlite.org/datatype3.html)."""
    kind = declared.upper()
    is_other = any(word in kind for word in ("INT", "CHAR", "CLOB", "TEXT", "BLOB"))
    return not is_other and any(word in kind for word in ("REAL", "FLOA", "DOUB"))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_quoted, names))


def _statement(table: str, names: Sequence[str], key: Sequence[str]) -> str:
    statement = f"INSERT INTO {_quoted(table)} ({_listed(names)}) VALUES ({', '.join('?' * len(names))})"
    if not key:
        return statement
    others = [f"{_quoted(name)} = excluded.{_quoted(name)}" for name in names if name not in key]
    return f"{statement} ON CONFLICT ({_listed(key)}) DO " + (
        f"UPDATE SET {', '.join(others)}" if others else "NOTHING"
    )
