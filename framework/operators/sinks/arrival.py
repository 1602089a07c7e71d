"""Checks of rows when they come: a value that no target takes ends the run then, and is never staged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from framework.model.errors import SinkError
from framework.operators.sinks.sink import Row

Check = Callable[[Sequence[object]], str]
"""Looks at values of one column; returns what is wrong with one of them, and what to do, or an empty text."""
NO_TEXT = "has a lone surrogate, which is no character: clean the text first (text.encode(errors='replace'))"
NO_NAN = "has NaN, in whose place SQLite would put NULL: give None, or a number"
_LEAST, _GREATEST = -(2**63), 2**63 - 1


def check_columns(names: Sequence[str], rows: Sequence[Row], checks: Sequence[Check]) -> None:
    """See that all values can be written.

    Args:
        names: of the columns.
        rows: their values.
        checks: one for each column.

    Raises:
        SinkError: the first row with a value that cannot be written, what is wrong with it, and what to do.
    """
    columns = zip(*rows, strict=True)
    if not any(check(values) for check, values in zip(checks, columns, strict=True)):
        return
    for row in rows:
        for name, check, value in zip(names, checks, row, strict=True):
            if why := check((value,)):
                raise refused(f"column {name!r} {why}", row)


def check_whole(rows: Sequence[Row], write: Callable[[Sequence[Row]], bytes]) -> bytes:
    """The bytes of rows that are written at once.

    Args:
        rows: the rows.
        write: makes bytes of rows; one that cannot be written raises an exception.

    Raises:
        SinkError: the first row that cannot be written, and why.
    """
    try:
        return write(rows)
    except Exception as error:  # str() of a value may raise anything
        for row in rows:
            try:
                write([row])
            except Exception as found:
                raise refused(_reason(found), row) from found
        raise SinkError(f"rows cannot be written: {_reason(error)}") from error


def refused(why: str, row: Row) -> SinkError:
    """The error for a row that cannot be written.

    Args:
        why: what is wrong with it, and what to do.
        row: the row.
    """
    return SinkError(f"a row cannot be written: {why}; the row is {shown(row)}")


def shown(row: Row) -> str:
    """A row for a message; a value that cannot be shown, or is long, only in part."""
    values = list(map(_shown, row))
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def _shown(value: object) -> str:
    try:
        return f"{value!r:.100}"
    except Exception:  # whatever a class raises
        return f"<{type(value).__name__}>"


def is_text(values: Sequence[object]) -> bool:
    """True if all texts among values are made of characters."""
    try:
        "".join([value for value in values if isinstance(value, str)]).encode()
    except UnicodeEncodeError:
        return False
    return True


def is_within(values: Sequence[object], least: int = _LEAST, greatest: int = _GREATEST) -> bool:
    """True if all whole numbers among values are between two bounds; 64 bits by default."""
    numbers = [value for value in values if isinstance(value, int)]
    return not numbers or (min(numbers) >= least and max(numbers) <= greatest)


def has_nan(values: Sequence[object]) -> bool:
    """True if a float among values is NaN."""
    return any(value != value for value in values if isinstance(value, float))


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        found = error.object[error.start]
        if not 0xD800 <= ord(found) < 0xE000:
            return f"{found!r} is not in {error.encoding}: let the output be UTF-8 (PYTHONIOENCODING)"
        return f"text {NO_TEXT}"
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
