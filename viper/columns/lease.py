"""Memory that is lent as columns, and asked back."""

from __future__ import annotations

import gc
import time
from typing import Final

import pyarrow as pa

_PAUSE_S: Final = 0.001


class Lease:
    """The encoding of a record batch in memory of somebody else's, which columns may lie in for a while.

    Whatever is made of the columns without a copy, be it an array, a slice or a view of NumPy's, holds this
    memory open. That is how the lease knows whether anything of them has been kept.

    Args:
        memory: the encoding. Nobody writes to it before the lease has ended.
        schema: the batch's.
    """

    __slots__ = ("_first", "_memory", "_schema", "size")

    def __init__(self, memory: memoryview, schema: pa.Schema) -> None:
        self._memory = memory.toreadonly()  # a view of its own, which counts only what is made of it
        self._schema = schema
        self._first = int(pa.py_buffer(self._memory).address)
        self.size = self._memory.nbytes
        """Bytes of the memory."""

    def __repr__(self) -> str:
        return f"Lease({self.size} bytes)"

    def batch(self) -> pa.RecordBatch:
        """The batch in this very memory."""
        return pa.ipc.read_record_batch(pa.py_buffer(self._memory), self._schema)

    def holds(self, address: int) -> bool:
        """True if an address lies in the memory."""
        return self._first <= address <= self._first + self.size

    def has_lent(self, array: pa.Array) -> bool:
        """True if any part of an array lies in the memory."""
        return any(buffer is not None and self.holds(buffer.address) for buffer in array.buffers())

    def end(self, patience_s: float = 1.0) -> bool:
        """End the lease of the memory, of which nothing more can be made then.

        Args:
            patience_s: for how many seconds others may still refer to it.

        Returns:
            True if nothing refers to it any more.
        """
        if self._ended():
            return True
        # What only waits for the collector is not kept: the frames of an exception, for instance.
        gc.collect()
        # Nor is what another thread holds for a moment that looks where this one is, as a watchdog does.
        until_s = time.monotonic() + patience_s
        while not (ended := self._ended()) and time.monotonic() < until_s:
            time.sleep(_PAUSE_S)
        return ended

    def _ended(self) -> bool:
        try:
            self._memory.release()
        except BufferError:
            return False
        return True
