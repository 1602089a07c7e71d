"""Comparison of the values of one field with those of a column, in the width that both declare.

A column has the narrowest of four types that holds the values of both fields. An incoming value is turned
into a test of the column. For integers it is a range, which cannot overflow. For floats, whose difference is
rounded as the type says, it is the difference itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from framework.operators.windows.joins.conditions import Condition, Pair, Side
from viper.schema import Schema

if TYPE_CHECKING:
    import numpy as np

    from viper.scan import ColumnTest

_NUMBERS: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float32", "float64")
"""The types of fields that columns are made of; 64 bits without a sign fit into none of theirs."""
_COLUMNS: Final = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}
"""The type of the column for values of a type, where it is another one."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The declaration of one of the streams that are joined."""

    fields: tuple[str, ...]
    schema: Schema | None

    def index(self, name: str) -> int:
        """The index of a field.

        Raises:
            LookupError: the stream declares no such field.
        """
        if name not in self.fields:
            raise LookupError(f"a join by field {name!r} of a stream that declares {list(self.fields)}")
        return self.fields.index(name)

    def number_type(self, name: str) -> str | None:
        """Arrow's name of a field's type, if values of it are kept in columns."""
        if self.schema is None:
            return None
        found = self.schema.types[self.index(name)].name
        return found if found in _NUMBERS else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One pair of fields of two streams."""

    pair: Pair
    indexes: tuple[int, int]
    """Of the fields in the tuples of either side."""
    dtype: np.dtype[Any] | None
    """The type in which they are compared; None where Python compares them."""
    width: float | None
    """As the pair's; rounded to that type, if it is one of floats."""

    def exact(self, value: Any) -> Any:
        """A value as it is compared."""
        if self.dtype is None or self.dtype.kind == "i":
            return value
        return float(self.dtype.type(value))

    def test(self, value: Any) -> ColumnTest | None:
        """Return the test of the other side's column for an incoming value; None if no value there fits."""
        from viper.scan import ColumnTest

        assert self.dtype is not None
        width = self.width
        if self.dtype.kind == "i":
            if width is None:
                return ColumnTest(value, value)
            import numpy as np

            limits, reach = np.iinfo(self.dtype), math.floor(width)
            return ColumnTest(max(value - reach, int(limits.min)), min(value + reach, int(limits.max)))
        value = self.exact(value)
        if math.isnan(value):
            return None
        return ColumnTest(value, value) if width is None else ColumnTest(value, width, True)


def comparisons(condition: Condition, origins: tuple[Origin, Origin]) -> list[Comparison]:
    """Return the comparison for each pair of a condition.

    Raises:
        LookupError: a stream declares no such field.
    """
    return [_comparison(pair, origins) for pair in condition.pairs]


def _comparison(pair: Pair, origins: tuple[Origin, Origin]) -> Comparison:
    left, right = origins
    indexes = left.index(pair.left), right.index(pair.right)
    types = left.number_type(pair.left), right.number_type(pair.right)
    if None in types:
        return Comparison(pair, indexes, None, pair.width)
    import numpy as np

    common = np.promote_types(*(np.dtype(name) for name in types))
    dtype, width = np.dtype(_COLUMNS.get(common.name, common.name)), pair.width
    if width is not None and dtype.kind == "f":
        with np.errstate(over="ignore"):  # it is infinite then, and all numbers lie within
            width = float(dtype.type(width))
    return Comparison(pair, indexes, dtype, width)


def values_fit(row: tuple[Any, ...], compared: list[Comparison], side: Side) -> bool:
    """True if a tuple has a value in each field that is compared; without one it matches nothing."""
    return all(row[comparison.indexes[side]] is not None for comparison in compared)
