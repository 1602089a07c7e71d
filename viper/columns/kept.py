"""The rows that a mask keeps, as the inputs that outputs belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from viper.rows import ends_of_mask

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Kept(Sequence[int]):
    """The indexes at which a mask is true, made when somebody reads them.

    Most often nobody does: what outputs are placed by is how many there are up to each input. Of a mask for
    16,384 rows Arrow makes the indexes in 100 us, and counting these takes another 30, the bits only 10.

    Args:
        mask: a bool for each row; null counts as false.
    """

    def __init__(self, mask: pa.BooleanArray) -> None:
        self._mask = mask
        self._indexes: memoryview[int] | None = None
        self.rows = len(mask)
        """The number of rows that the mask is for."""
        self.ends = memoryview(ends_of_mask(mask)).cast("I")
        """For each of these how many are kept up to it, as uint32."""

    @property
    def indexes(self) -> memoryview[int]:
        """All of them, as uint64."""
        if self._indexes is None:
            from viper.columns.scalars import chosen

            self._indexes = chosen(self._mask)
        return self._indexes

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        return self.indexes[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self.indexes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        import numpy as np

        return np.array(self.indexes, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Kept({len(self)} of {self.rows})"
