"""Running values of keys, by the small numbers that `Rows.slots` gives them.

The values of the keys lie in an array of the component's, at their numbers as indexes. Rows are
taken one after the other, so it does not matter how they are divided into batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from viper.rows import count_up, exchange

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]


def counted(slots: Array, counts: Array) -> Array:
    """Number each row among those of its key, continuing from `counts`, which is updated.

    Args:
        slots: the number of each row's key, uint32.
        counts: by number how many rows of the key came before, int64.

    Raises:
        IndexError: a number for which there is no count; nothing has changed then.
        ValueError: arrays of other types, or with gaps.
    """
    import numpy as np

    _check(slots, np.uint32, "slots")
    _check(counts, np.int64, "counts")
    return np.frombuffer(count_up(slots, counts), np.int64)


def exchanged(slots: Array, values: Array, latest: Array) -> Array:
    """For each row the value of its key before it, or what `latest` has, which gets the newest values.

    Args:
        slots: the number of each row's key, uint32.
        values: the value of each row, of 8 bytes.
        latest: by number the last value of the key, of the same type.

    Raises:
        IndexError: a number for which there is no value; nothing has changed then.
        ValueError: arrays of other types, with gaps, or of different lengths.
    """
    import numpy as np

    _check(slots, np.uint32, "slots")
    if values.dtype.hasobject or values.dtype.itemsize != 8:
        raise ValueError(f"values are {values.dtype}: expected a type of 8 bytes")
    _check(latest, values.dtype, "latest")
    return np.frombuffer(exchange(slots, np.ascontiguousarray(values), latest), values.dtype)


def _check(array: Array, kind: Any, name: str) -> None:
    has_gaps = array.ndim != 1 or not (array.flags.c_contiguous and array.flags.aligned)
    if array.dtype != kind or has_gaps:
        expected = getattr(kind, "__name__", kind)
        raise ValueError(f"{name} are {array.dtype}: expected a row of {expected} without gaps")
