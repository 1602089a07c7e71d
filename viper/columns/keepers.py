"""Finds out what refers to memory that was lent, for the message about the keeper."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Final

import pyarrow as pa

from viper.columns.lease import Lease

_MOST_SEEN: Final = 10_000
"""Objects that are searched: one may lead to anything."""


def kept_in(value: object, lease: Lease) -> str | None:
    """Describe what an object keeps of columns that were lent; None if nothing is found.

    Args:
        value: is searched with all that it refers to, modules, functions and classes left out.
        lease: what lends the columns, and has not ended.
    """
    for found in _reachable(value):
        if any(map(lease.holds, _addresses(found))):
            kind = f"{type(found).__module__.partition('.')[0]}.{type(found).__name__}"
            return f"a {kind}{_field_of(found, lease)}"
    return None


def _reachable(value: object) -> Iterator[object]:
    """An object and what it refers to, nearest first."""
    seen: dict[int, object] = {}
    layer = [value]
    while layer and len(seen) < _MOST_SEEN:
        layer = [one for one in layer if id(one) not in seen and not _is_shared(one)]
        seen.update((id(one), one) for one in layer)
        yield from layer
        layer = gc.get_referents(*layer)


def _is_shared(value: object) -> bool:
    """True if it leads to the whole program: what it refers to belongs to others."""
    if isinstance(value, ModuleType | FunctionType | type):
        return True
    return type(value).__module__.startswith(("framework.runtime.", "logging"))


def _addresses(value: Any) -> Iterable[int]:
    """List the addresses of the values of an array, of NumPy or Arrow, or of several; none for others."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return [value.__array_interface__["data"][0]]
    if isinstance(value, pa.Buffer):
        return [value.address]
    if isinstance(value, pa.Array):
        return [buffer.address for buffer in value.buffers() if buffer is not None]
    if isinstance(value, pa.ChunkedArray):
        return [address for chunk in value.chunks for address in _addresses(chunk)]
    if isinstance(value, pa.RecordBatch | pa.Table):
        return [address for column in value.columns for address in _addresses(column)]
    return []


def _field_of(value: object, lease: Lease) -> str:
    """Of which field an array is, in words; nothing for several columns."""
    if isinstance(value, pa.RecordBatch | pa.Table):
        return ""
    batch, addresses = lease.batch(), _addresses(value)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        for buffer in column.buffers():
            if buffer is not None and any(0 <= one - buffer.address < buffer.size for one in addresses):
                return f" of field {name!r}"
    return ""
