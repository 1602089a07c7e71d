"""Values cross an edge by value: what is emitted is what arrives.

Exactly immutable values are handed over by reference. Anything else is copied as it
is emitted, through pickle, so that what could not reach another process is refused
here too, at the emit that sent it.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pickle
import uuid
from collections.abc import Sequence
from typing import Any

from framework.errors import EmitError
from viper.rows import is_plain

_ALSO_IMMUTABLE = frozenset(
    (
        datetime.date,
        datetime.datetime,
        datetime.time,
        datetime.timedelta,
        decimal.Decimal,
        fractions.Fraction,
        range,
        uuid.UUID,
    )
)


def snapshot(value: Any) -> Any:
    """A value that nobody else can change: itself if it is immutable, else a copy.

    Raises:
        EmitError: the value cannot be carried.
    """
    if is_plain(value) or type(value) in _ALSO_IMMUTABLE:
        return value
    try:
        return pickle.loads(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
    except Exception as error:
        raise EmitError(
            f"cannot carry {value!r:.200}, a {type(value).__qualname__}, to another component: {error}; "
            "emit values that pickle can carry"
        ) from error


def is_shareable(row: Sequence[Any]) -> bool:
    """Whether every consumer may be given the very same values."""
    return all(is_plain(value) or type(value) in _ALSO_IMMUTABLE for value in row)


def separate(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The same rows for one more consumer, which shall not see what another does to them."""
    return [row if is_shareable(row) else tuple(map(snapshot, row)) for row in rows]
