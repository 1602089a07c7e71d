"""Facts about databases that SQLAlchemy reaches: which values they never take, and which errors pass."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from framework.operators.sinks.arrival import NO_NAN, NO_TEXT, Check, has_nan, is_text, is_within

if TYPE_CHECKING:
    import sqlalchemy as sa

_PASSING_STATES: Final = ("08", "40001", "40P01", "53300", "53400", "55P03", "57P01", "57P02", "57P03")
"""Beginnings of SQL states: lost connections, deadlocks, too many of them, a server that starts or stops."""
_PASSING_NUMBERS: Final = frozenset({1040, 1053, 1205, 1213, 2002, 2003, 2006, 2013})
"""The same as MySQL numbers it."""
_PASSING_WORDS: Final = (
    *("connection refused", "starting up", "shutting down", "recovery mode", "too many clients"),
    *("closed the connection", "terminating connection", "connection reset", "timed out", "timeout expired"),
    *("no such file or directory", "connection is lost", "connection is closed", "database is locked"),
)
"""The words of drivers that give no number, as libpq when it connects."""

_PLAIN: Final = (str, int, float, bool, bytes, type(None))
"""Classes of values that every driver takes."""


def is_transient(error: sa.exc.SQLAlchemyError) -> bool:
    """True if a retry may succeed a moment later, as the database restarts or somebody else holds a lock."""
    import sqlalchemy as sa

    if not isinstance(error, sa.exc.DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    cause: Any = error.orig
    state = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    if state:
        return str(state).startswith(_PASSING_STATES)
    if not isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError):
        return False
    number = next(iter(getattr(cause, "args", ())), None)
    text = str(cause).lower()
    return number in _PASSING_NUMBERS or any(words in text for words in _PASSING_WORDS)


def check_of(column: sa.types.TypeEngine[Any], dialect: sa.Dialect) -> Check:
    """A check of the values of a column, for those that the database or its driver never takes.

    Args:
        column: its type.
        dialect: of the database.
    """
    import sqlalchemy as sa

    bind = column.dialect_impl(dialect).bind_processor(dialect)
    is_postgres, is_sqlite = dialect.name == "postgresql", dialect.name == "sqlite"
    bounds = _bounds(column, is_postgres)
    misfit = _misfit(dialect)
    as_json = _as_json(is_postgres) if isinstance(column, sa.JSON) and not is_sqlite else None
    is_float = isinstance(column, sa.Float)
    lossy = _lossy(column, is_sqlite)

    def check(values: Sequence[object]) -> str:
        if not is_text(values):
            return NO_TEXT
        if is_postgres and any(isinstance(value, str) and "\0" in value for value in values):
            return "has the character NUL, which PostgreSQL takes in no text: remove it first"
        if bounds is not None and not is_within(values, *bounds):
            least, greatest = bounds
            return f"has a whole number that is not between {least} and {greatest}: make the column wider"
        try:
            if as_json is not None:
                list(map(as_json, values))
            if is_float:
                list(map(float, (value for value in values if isinstance(value, int))))
            if lossy is not None and (why := next(filter(None, map(lossy, values)), "")):
                return why
            bound = values if bind is None else [None if value is None else bind(value) for value in values]
        except Exception as error:  # whatever a type of a user's own raises
            return f"has a value that {column!r} does not take: {type(error).__name__}: {error}"
        if is_sqlite and has_nan(bound):
            return NO_NAN
        if is_sqlite and not is_within(bound):
            return "has a whole number of more than 64 bits: make it text first"
        for value in bound:
            if type(value) not in _PLAIN and (why := misfit(value)):
                return (
                    f"has a value of class {type(value).__name__}, which {dialect.driver} does not take"
                    f"{why}: make it a number, text or bytes first"
                )
        return ""

    return check


def _lossy(column: sa.types.TypeEngine[Any], is_sqlite: bool) -> Callable[[object], str] | None:
    """A function that says what a column would lose of a value; a database rounds and cuts without a word."""
    import sqlalchemy as sa

    if isinstance(column, sa.Date):
        told = "has a time of day, which a column of dates drops: make it a date (value.date())"
        return lambda value: told if isinstance(value, datetime.datetime) else ""
    if isinstance(column, sa.Time):
        return lambda value: _lost_of_day(value, has_zone=bool(column.timezone))
    if isinstance(column, sa.DateTime) and not column.timezone:
        return _lost_of_zone
    if is_sqlite:  # whose columns of numbers hold any number, and decimals as floats
        return _lost_by_float if isinstance(column, sa.Numeric) else None
    if isinstance(column, sa.Integer):
        return lambda value: _lost_of(value, None, 0, "whole numbers")
    if isinstance(column, sa.Numeric) and not isinstance(column, sa.Float) and column.scale is not None:
        precision, scale = column.precision, column.scale
        return lambda value: _lost_of(
            value, precision, scale, f"numbers of {precision} digits, {scale} behind the point"
        )
    if isinstance(column, sa.Float):
        told = "has a whole number of more digits than the column's floats: make the column whole or NUMERIC"
        return lambda value: told if isinstance(value, int) and float(value) != value else ""
    return None


def _lost_of_zone(value: object) -> str:
    """The fault of a value for a column of times without zones, which drop the zone or take the server's."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return (
            "has a time zone, which the column does not hold: make it UTC without one "
            "(value.astimezone(UTC).replace(tzinfo=None)), or let the column have zones"
        )
    return ""


def _lost_by_float(value: object) -> str:
    """The fault of a decimal that SQLite is given as a float."""
    if isinstance(value, Decimal) and value.is_finite() and Decimal(repr(float(value))) != value:
        return "has a decimal of more digits than SQLite's floats: make the column TEXT, and the value a text"
    return ""


def _lost_of_day(value: object, *, has_zone: bool) -> str:
    """The fault of a value for a column of times of day."""
    if isinstance(value, datetime.datetime):
        return "has a date, which a column of times drops: make it a time (value.time())"
    if isinstance(value, datetime.time) and value.tzinfo is not None and not has_zone:
        return "has a time zone, which the column drops: make it a time without one (tzinfo=None)"
    return ""


def _lost_of(value: object, precision: int | None, scale: int, held: str) -> str:
    """The fault of a number that is to have so many digits, of which `scale` are behind the point."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return ""
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if number.is_nan() and precision is not None:
        return ""  # for which numbers of digits have a place
    exponent = number.normalize().as_tuple().exponent
    is_held = isinstance(exponent, int) and (
        not number or (exponent >= -scale and (precision is None or number.adjusted() < precision - scale))
    )
    return (
        ""
        if is_held
        else f"has {value!r:.50}, and the column holds {held}: round it, or make the column wider"
    )


def _bounds(column: sa.types.TypeEngine[Any], is_postgres: bool) -> tuple[int, int] | None:
    """The least and the greatest whole number of a column; None if it holds others than whole numbers."""
    import sqlalchemy as sa

    if not isinstance(column, sa.Integer):
        return None
    if not is_postgres:
        return -(2**63), 2**64 - 1  # MySQL has columns without a sign
    bits = 16 if isinstance(column, sa.SmallInteger) else 64 if isinstance(column, sa.BigInteger) else 32
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _as_json(is_postgres: bool) -> Callable[[object], None]:
    """A function that raises where a value has no JSON, or none that PostgreSQL takes."""

    def check(value: object) -> None:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
        if is_postgres and "\\u0000" in text.replace("\\\\", ""):
            raise ValueError("the character NUL, which PostgreSQL takes in no text")

    return check


def _misfit(dialect: sa.Dialect) -> Callable[[object], str]:
    """A function that says why the driver does not take a value; its text is empty where it may."""
    if dialect.driver == "pysqlite":
        import sqlite3

        # What a program has registered with sqlite3, which its types do not declare.
        adapters: Mapping[tuple[type, type], object] = getattr(sqlite3, "adapters", {})
        buffers = (*_PLAIN, bytearray, memoryview)

        def of_sqlite(value: object) -> str:
            adapted = (type(value), sqlite3.PrepareProtocol) in adapters or hasattr(value, "__conform__")
            return "" if adapted or isinstance(value, buffers) else " (it has no adapter)"

        return of_sqlite
    if dialect.driver != "psycopg":
        return lambda _value: ""
    from psycopg.adapt import PyFormat, Transformer

    adapting = Transformer()

    def of_psycopg(value: Any) -> str:
        try:
            adapting.get_dumper(value, PyFormat.AUTO).dump(value)
        except Exception as error:  # whatever a class raises that is dumped
            return f" ({error})"
        return ""

    return of_psycopg
