"""Bytewax with an Arrow record batch as an item, and steps that compute with pyarrow and NumPy.

State is arrays of all keys, which belong to the function, and are lost with its process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import bytewax.operators as op
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.peers.jobs import Job, Tally
from benchmarks.peers.workloads import KEPT_FROM

LEAST_KEPT, NO_WORD = pa.scalar(KEPT_FROM), pa.scalar("")
Array = np.ndarray[Any, Any]


def items(job: Job, part: int, parts: int) -> tuple[list[Any], int]:
    """The record batches of a partition, of which one is handed over at a time."""
    return list(batches(job))[part::parts], 1


def batches(job: Job) -> Iterator[Any]:
    """The input, which repeats its base."""
    task, left = job.task, job.size
    whole = pa.table(dict(zip(task.fields, zip(*task.base, strict=True), strict=True))).combine_chunks()
    base = whole.to_batches(max_chunksize=job.option("batch"))
    for batch in cycle(base):
        yield batch.slice(0, left)
        left -= len(batch)
        if left <= 0:
            return


def count(job: Job, tally: Tally, items: Sequence[Any]) -> None:
    """Count the rows that have come to the sink."""
    for batch in items:
        if job.exact:
            tally.take(list(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
        else:
            tally.count(len(batch))


class Groups:
    """The rows of a batch by their keys, in their order.

    Args:
        keys: the keys of the rows.
        known: the keys that have come before, in the order in which they came.
    """

    def __init__(self, keys: Any, known: Any) -> None:
        encoded = keys.dictionary_encode()
        found = pc.index_in(encoded.dictionary, value_set=known)
        if found.null_count:
            known = pa.concat_arrays([known, encoded.dictionary.filter(found.is_null())])
            found = pc.index_in(encoded.dictionary, value_set=known)
        self.known = known
        """All keys by now."""
        self.slots: Array = found.to_numpy()
        """The number of each key of the batch among all."""
        codes = encoded.indices.to_numpy()
        # NumPy sorts 16 bits several times faster than 32.
        codes = codes.astype(np.uint16) if len(self.slots) <= 2**16 else codes
        self.order = np.argsort(codes, kind="stable")
        """The rows, those of a key behind each other."""
        self.sizes = np.bincount(codes, minlength=len(self.slots))
        """The number of rows of each key of the batch."""
        self.ends = np.cumsum(self.sizes)
        """The end of each key's rows in the order."""


def grown(array: Array, size: int, empty: int) -> Array:
    """The array with room for all keys."""
    return np.concatenate((array, np.full(size - len(array), empty))) if size > len(array) else array


class Count:
    """Counts the words of batches of lines, and has each with its count."""

    def __init__(self) -> None:
        self._known = pa.array([], pa.string())
        self._counts = np.zeros(0, np.int64)

    def __call__(self, batch: Any) -> Any:
        """Count some."""
        words = pc.utf8_split_whitespace(batch.column("line")).flatten()
        if pc.any(pc.equal(words, NO_WORD)).as_py():  # beside a space at the end of a line, for instance
            words = words.filter(pc.not_equal(words, NO_WORD))
        found = Groups(words, self._known)
        self._known = found.known
        self._counts = grown(self._counts, len(found.known), 0)
        before = self._counts[found.slots]
        numbers = np.empty(len(words), np.int64)
        first = before - found.ends + found.sizes
        numbers[found.order] = np.arange(1, len(words) + 1) + np.repeat(first, found.sizes)
        self._counts[found.slots] = before + found.sizes
        return pa.record_batch({"word": words, "count": numbers})


class Change:
    """Keeps the segments of ids, and has the records that change them."""

    def __init__(self) -> None:
        self._known = pa.array([], pa.int64())
        self._segments = np.zeros(0, np.int64)

    def __call__(self, batch: Any) -> Any:
        """The records of a batch that change some."""
        found = Groups(batch.column("id"), self._known)
        self._known = found.known
        self._segments = grown(self._segments, len(found.known), -1)
        segments = batch.column("segment").to_numpy()[found.order]
        before = np.empty_like(segments)
        before[1:] = segments[:-1]
        before[found.ends - found.sizes] = self._segments[found.slots]
        self._segments[found.slots] = segments[found.ends - 1]
        changed = np.empty(len(batch), bool)
        changed[found.order] = segments != before
        return batch.filter(pa.array(changed))


def kept(batch: Any) -> Any:
    """The records of which the last value is large enough."""
    return batch.filter(pc.greater_equal(batch.column(batch.num_columns - 1), LEAST_KEPT))


def steps(job: Job, stream: Any) -> Any:
    """The flow between source and sink."""
    made = {"words": Count, "changes": Change}.get(job.task.kind)
    return op.map("step", stream, kept if made is None else made())
