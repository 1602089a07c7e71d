"""Tells which values all consumers may share, and copies those that they may not."""

from __future__ import annotations

import datetime
import decimal
import fractions
import pickle
import uuid
from collections.abc import Sequence
from typing import Any

from viper.rows import is_plain
from viper.scalars import holds_any, python_of, python_within

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


def is_immutable(value: object) -> bool:
    """True if nobody can change a value: it is of an exactly immutable type, and so is all that it holds."""
    return is_plain(value) or type(value) in _ALSO_IMMUTABLE


def is_shareable(row: Sequence[Any]) -> bool:
    """True if every consumer may be given the very same values."""
    return all(map(is_immutable, row))


def copy_of(value: Any) -> Any:
    """The value itself if nobody can change it, else a copy that nobody else has.

    Scalars of NumPy and pandas, also within it, are Python's values in the copy (`viper.scalars`). To look
    for them costs nothing where the value is immutable, as Python's own scalars are.

    Raises:
        ScalarError: no value of Python is the same as a scalar.
        Exception: whatever pickle raises, which makes the copy.
    """
    if is_immutable(value):
        return value
    scalar = python_of(value)
    if scalar is not value:
        return copy_of(scalar)
    pickled = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    copy = pickle.loads(pickled)
    return python_within(copy) if holds_any(pickled) else copy
