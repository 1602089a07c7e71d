"""Rows in a table of any database that SQLAlchemy reaches."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from framework.model.errors import RefusedRowError, SinkError, TransientError
from framework.operators.sinks.arrival import Check, check_columns
from framework.operators.sinks.databases import check_of, is_transient
from framework.operators.sinks.sink import Row
from framework.operators.sinks.table_sink import NUMBERS, Column, TableSink

if TYPE_CHECKING:
    import sqlalchemy as sa


_OF_SERVER: Final = ("host", "port", "dbname", "service", "options")
"""Options of a URL that say where the database is."""


class SqlAlchemySink(TableSink):
    """Writes rows into a table of PostgreSQL or another database, through SQLAlchemy.

        SqlAlchemySink("postgresql+psycopg://user@host/shop", "counts", ["word", "count"], key="word")

    The table must exist, since only its owner knows the types. On PostgreSQL and SQLite, rows with a key are
    written by ``ON CONFLICT``, which needs a unique index on it. Elsewhere the old row is deleted in the same
    transaction.

    Args:
        url: the database, as SQLAlchemy writes it.
        table: the table; ``schema.table`` where it is not in the default schema.
        columns: the fields that are written, in this order; None: all.
        key: one or several of them: a row replaces the one with the same key. None: every row is added.
        staging: a folder for staged rows, on a disk that stays; ``viperstorm-staging`` by default.

    Raises:
        SinkError: SQLAlchemy is missing, the URL is none, or a key is no column.
    """

    def __init__(
        self,
        url: str,
        table: str,
        columns: Sequence[str] | None = None,
        key: str | Sequence[str] | None = None,
        *,
        staging: str | None = None,
    ) -> None:
        super().__init__(table, columns, key, staging)
        try:
            import sqlalchemy as sa
        except ImportError as error:
            raise SinkError(f"{error}: pip install '/path/to/viperstorm[sql]'") from None
        try:
            self._url = sa.make_url(url)
        except sa.exc.ArgumentError as error:
            raise SinkError(f"{error}: expected e.g. postgresql+psycopg://user@host/database") from None
        self._engine: sa.Engine | None = None
        self._checks: list[Check] = []
        """Of each column: which values the database never takes."""

    @property
    def target(self) -> str:
        """As in the base class: server, database and table, whoever writes there."""
        url, path = self._url, self._url.database or ":memory:"
        if url.get_backend_name() == "sqlite" and not path.startswith((":", "file:")):
            return f"table {self._table!r} of sqlite:{os.path.abspath(path)}"
        server = {name: value for name, value in url.query.items() if name in _OF_SERVER}
        bare = url.set(drivername=url.get_backend_name(), username=None, password=None, query=server)
        return f"table {self._table!r} of {bare.render_as_string()}"

    def encode(self, rows: Sequence[Row]) -> bytes:
        """The columns of rows.

        Raises:
            SinkError: a value that the database never takes.
        """
        check_columns(self._chosen.names, self._chosen.of(rows), self._checks)
        return super().encode(rows)

    def connect(self) -> None:
        """Connect, and check that the table is as it must be.

        Raises:
            SinkError: there is no connection, no such table, or it has no such column.
        """
        import sqlalchemy as sa

        with self._explained():
            try:
                self._engine = sa.create_engine(self._url)
            except ImportError as error:
                raise SinkError(f"{self._shown}: its driver is missing ({error}): install it") from None
            schema, _, name = self._table.rpartition(".")
            tables = sa.MetaData()
            try:
                self._target = sa.Table(name, tables, autoload_with=self._engine, schema=schema or None)
            except sa.exc.NoSuchTableError:
                raise SinkError(
                    f"{self._shown} has no table {self._table!r}: create it first ({self._creation()})"
                ) from None
            self._check_columns(self._found())
            self._check_key()
            dialect = self._engine.dialect
            self._checks = [check_of(self._target.c[name].type, dialect) for name in self._chosen.names]
            self._numbers = sa.Table(
                NUMBERS,
                tables,
                sa.Column("part", sa.String(255), primary_key=True),
                sa.Column("number", sa.BigInteger, nullable=False),
                schema=schema or None,
            )
            self._make_numbers()

    def applied(self, part: str) -> int | None:
        """As in the base class."""
        import sqlalchemy as sa

        with self._explained(), self._connected.connect() as connection:
            wanted = sa.select(self._numbers.c.number).where(self._numbers.c.part == part)
            found = connection.execute(wanted).scalar()
        return None if found is None else int(found)

    def apply(self, part: str, number: int, rows: Iterator[Row]) -> None:
        """Write rows and the number in one transaction.

        Raises:
            TransientError: the database cannot be reached; it is unchanged, or only the answer was lost.
            SinkError: it refuses a row; it is unchanged.
        """
        import sqlalchemy as sa

        chunk: Sequence[Row] = ()
        with self._explained(lambda: self._refused_of(chunk)), self._connected.begin() as connection:
            for chunk in self._chunks(rows):
                self._write(connection, self._by_name(chunk))
            connection.execute(sa.delete(self._numbers).where(self._numbers.c.part == part))
            connection.execute(sa.insert(self._numbers).values(part=part, number=number))

    def forget(self, part: str) -> None:
        """As in the base class."""
        import sqlalchemy as sa

        with self._explained(), self._connected.begin() as connection:
            connection.execute(sa.delete(self._numbers).where(self._numbers.c.part == part))

    def close(self) -> None:
        """As in the base class."""
        super().close()
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    # -- within

    @property
    def _shown(self) -> str:
        return self._url.render_as_string(hide_password=True)

    @property
    def _connected(self) -> sa.Engine:
        if self._engine is None:
            raise SinkError(f"{self._shown} is not connected: call initialize first")
        return self._engine

    _type = " TYPE"

    def quoted(self, name: str) -> str:
        """As in the base class."""
        return self._connected.dialect.identifier_preparer.quote(name)

    @property
    def _written(self) -> str:
        """As in the base class; a schema before it has a name of its own."""
        return ".".join(self.quoted(part) for part in self._table.split("."))

    def _creation(self) -> str:
        """The statement that makes the table, with types to be filled in."""
        columns = [f"{self.quoted(name)}{self._type}" for name in self._chosen.names]
        columns += [f"PRIMARY KEY ({', '.join(map(self.quoted, self._key))})"] if self._key else []
        return f"CREATE TABLE {self._written} ({', '.join(columns)})"

    def _found(self) -> Iterator[Column]:
        """The columns of the table; of a database whose rules are not known here, none needs a value."""
        import sqlalchemy as sa

        is_postgres = self._connected.dialect.name == "postgresql"
        is_strict = self._connected.dialect.name == "sqlite" or (is_postgres and not self._has_triggers())
        for column in self._target.columns:
            is_rowid = column.primary_key and isinstance(column.type, sa.Integer) and not is_postgres
            filled = column.server_default, column.computed, column.identity
            needs_value = not column.nullable and not is_rowid and all(found is None for found in filled)
            yield Column(column.name, needs_value and is_strict, column.computed is not None)

    def _has_triggers(self) -> bool:
        """True if PostgreSQL calls functions for rows of the table, which may fill columns."""
        import sqlalchemy as sa

        query = (
            "SELECT EXISTS "
            "(SELECT FROM pg_trigger WHERE tgrelid = CAST(:name AS regclass) AND NOT tgisinternal)"
        )
        with self._connected.connect() as connection:
            return bool(connection.execute(sa.text(query), {"name": self._written}).scalar())

    def _relax(self, names: Sequence[str]) -> str:
        if self._connected.dialect.name == "sqlite":
            return ", or make the table again with a DEFAULT for it, as SQLite cannot change that of a column"
        if any(self._target.c[name].primary_key for name in names):
            return ""
        altered = (f"ALTER COLUMN {self.quoted(name)} DROP NOT NULL" for name in names)
        return f", or have it need none (ALTER TABLE {self._written} {', '.join(altered)})"

    def _check_key(self) -> None:
        """See that the key is one in the table, where rows are put in place by ``ON CONFLICT``.

        Raises:
            SinkError: it is none.
        """
        import sqlalchemy as sa

        if not self._key or self._connected.dialect.name not in ("postgresql", "sqlite"):
            return
        inspector, name, schema = sa.inspect(self._connected), self._target.name, self._target.schema
        keys: list[Sequence[str | None]] = [inspector.get_pk_constraint(name, schema)["constrained_columns"]]
        keys += [found["column_names"] for found in inspector.get_unique_constraints(name, schema)]
        keys += [
            found["column_names"]
            for found in inspector.get_indexes(name, schema)
            if found["unique"] and not any(key.endswith("_where") for key in found.get("dialect_options", {}))
        ]
        if not any({*self._key} == {*columns} for columns in keys):
            raise SinkError(f"{self._shown}: {self._no_key}")

    def _make_numbers(self) -> None:
        """Make the table of numbers; several tasks may come to it at once."""
        import sqlalchemy as sa

        try:
            self._numbers.create(self._connected, checkfirst=True)
        except sa.exc.DBAPIError:
            if not sa.inspect(self._connected).has_table(NUMBERS, schema=self._numbers.schema):
                raise

    def _by_name(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        return [dict(zip(self._names, row, strict=True)) for row in rows]

    def _refused_of(self, rows: Sequence[Row]) -> Row | None:
        """The first of some rows that the database refuses; None if it takes each of them."""
        import sqlalchemy as sa

        with contextlib.suppress(sa.exc.SQLAlchemyError), self._connected.connect() as connection:
            for row in rows:  # nothing is committed
                try:
                    self._write(connection, self._by_name([row]))
                except Exception:  # drivers raise others too, of values that they do not take
                    return row
        return None

    def _write(self, connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
        import sqlalchemy as sa

        if not self._names_of_key:
            connection.execute(sa.insert(self._target), rows)
            return
        dialect = connection.dialect.name
        if dialect in ("postgresql", "sqlite"):
            connection.execute(self._upsert(dialect), rows)
            return
        same = [self._target.c[name] == sa.bindparam(f"key_{name}") for name in self._names_of_key]
        keys = [{f"key_{name}": row[name] for name in self._names_of_key} for row in rows]
        connection.execute(sa.delete(self._target).where(*same), keys)
        connection.execute(sa.insert(self._target), rows)

    def _upsert(self, dialect: str) -> Any:
        from sqlalchemy.dialects import postgresql, sqlite

        insert: Any = (postgresql if dialect == "postgresql" else sqlite).insert(self._target)
        key = self._names_of_key
        others = {name: insert.excluded[name] for name in self._names if name not in key}
        if not others:
            return insert.on_conflict_do_nothing(index_elements=key)
        return insert.on_conflict_do_update(index_elements=key, set_=others)

    @contextmanager
    def _explained(self, refused_row: Callable[[], Row | None] = lambda: None) -> Iterator[None]:
        import sqlalchemy as sa

        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            cause = " ".join(str(getattr(error, "orig", None) or error).split())
            if is_transient(error):
                raise TransientError(f"{self._shown} is away: {cause}") from error
            told = f"{self._shown}: {cause}; nothing of the transaction was applied"
            if isinstance(error, sa.exc.StatementError) and (row := refused_row()) is not None:
                raise RefusedRowError(told, row) from error
            raise SinkError(told) from error
        except (TypeError, ValueError, OverflowError) as error:  # of a driver, for a value
            if (row := refused_row()) is None:
                raise
            raise RefusedRowError(f"{self._shown}: {type(error).__name__}: {error}", row) from error
