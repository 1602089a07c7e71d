"""Small numbers for keys, so that what is remembered of them can lie in arrays."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from viper.columns.scalars import converter
from viper.rows import SlotTable

if TYPE_CHECKING:
    import numpy as np


_HOLDS_FLOATS: Final = re.compile("float|double")


class KeySlots:
    """Numbers keys from 0 on, in the order in which they are first seen."""

    def __init__(self) -> None:
        self._table: SlotTable | None = SlotTable()
        """Has the keys as long as all are integers, or strings, or binaries."""
        self._slots: dict[Any, int] = {}
        """Has them otherwise: of several types 1, 1.0 and True are one key."""

    def __len__(self) -> int:
        return len(self._slots if self._table is None else self._table)

    def of(self, name: str, column: pa.Array) -> np.ndarray[Any, Any]:
        """The number of each value of a column, as an array of uint32 that cannot be written to."""
        import numpy as np

        if self._table is not None:
            numbers = self._table.of(column)
            if numbers is not None:
                return np.frombuffer(numbers, np.uint32)
            self._slots = {key: number for number, key in enumerate(self._table.keys())}
            self._table = None
        return self._looked_up(name, column)

    def _looked_up(self, name: str, column: pa.Array) -> np.ndarray[Any, Any]:
        """Look distinct values up one by one; of a nested column, which Arrow does not tell apart, all."""
        if pa.types.is_nested(column.type):
            return pa.array(self._numbers(name, column), pa.uint32()).to_numpy()  # type: ignore[no-any-return]
        encoded = column.dictionary_encode(null_encoding="encode")
        numbers = pa.array(self._numbers(name, encoded.dictionary), pa.uint32())
        found: np.ndarray[Any, Any] = numbers.take(encoded.indices).to_numpy()
        return found

    def _numbers(self, name: str, keys: pa.Array) -> list[int]:
        slots = self._slots
        found = converter(name, keys.type)(keys)
        if _HOLDS_FLOATS.search(str(keys.type)):
            found = list(map(_without_nan, found))
        numbers: list[Any] = list(map(slots.get, found))
        for index in [index for index, number in enumerate(numbers) if number is None]:
            numbers[index] = slots.setdefault(found[index], len(slots))
        return numbers


def _without_nan(key: Any) -> Any:
    """The key with one object for all NaN, as no two of them are equal otherwise."""
    if isinstance(key, tuple):
        return tuple(map(_without_nan, key))
    return key if key == key else math.nan
