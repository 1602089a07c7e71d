"""Gathers the tuples that a component emits in a shard into batches for Spark."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framework.model.positions import LEAST, Position
from framework.model.topology import ComponentSpec, Grouping
from framework.planning.routing import Router, make_router
from framework.recording import Emission, TickKind
from spark_ingest.backfill.errors import ShardError
from spark_ingest.backfill.shapes import Key, Stage
from spark_ingest.backfill.wire import Row, sent_batch

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 4096
"""Rows after which what has been gathered is sent on."""
BUCKETS = 1 << 16
"""Into which keys are divided; shards take whole buckets."""
_POSITION_BYTES = 24


class Sender:
    """Takes what a task emits as its recorder, and makes batches of what anybody wants.

    Args:
        component: who emits.
        stage: which streams are wanted, and by what they are grouped.
    """

    def __init__(self, component: ComponentSpec, stage: Stage) -> None:
        self._id = component.id
        self._names = [stream.name for stream in component.outputs or ()]
        self._wanted = {tag for tag, name in enumerate(self._names) if name in stage.streams}
        self._keys = [KeyColumn(component, key) for key in stage.keys]
        self._packed = bytearray()
        self._tags = array("H")
        self._rows: list[Row] = []
        self._buckets = [array("i") for _ in stage.keys]

    def record(self, emission: Emission) -> None:
        """Keep what is wanted of what was emitted, before anybody can change it.

        Raises:
            ShardError: a value that a stream is grouped by has no hash that is the same everywhere.
        """
        rows, tags, positions = emission.payload.rows, emission.tags, emission.positions
        streams = array("H", bytes(2 * len(rows))) if tags is None else array("H", tags)
        packed = positions.to_bytes()
        if len(self._wanted) < len(self._names):
            chosen = [index for index, tag in enumerate(streams) if tag in self._wanted]
            rows, streams = [rows[i] for i in chosen], array("H", [streams[i] for i in chosen])
            packed = b"".join(packed[i * _POSITION_BYTES : (i + 1) * _POSITION_BYTES] for i in chosen)
        for key, buckets in zip(self._keys, self._buckets, strict=True):
            buckets.extend(key.buckets(rows, streams))
        self._packed += packed
        self._tags.extend(streams)
        self._rows += rows

    def record_tick(self, at: Position, *, after: Position = LEAST, kind: TickKind = TickKind.TICK) -> None:
        """Never: what would have ticks by the wall clock is refused."""

    def close(self) -> None:
        """The task has been closed, with nothing more to emit."""

    def batches(self, least: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The gathered rows as a batch, unless there are fewer than that."""
        if len(self._rows) < max(least, 1):
            return
        packed, tags, rows, buckets = bytes(self._packed), self._tags, self._rows, self._buckets
        self._packed, self._tags, self._rows = bytearray(), array("H"), []
        self._buckets = [array("i") for _ in self._keys]
        for first in range(0, len(rows), BATCH_ROWS):
            part = slice(first, first + BATCH_ROWS)
            place = slice(first * _POSITION_BYTES, (first + BATCH_ROWS) * _POSITION_BYTES)
            try:
                yield sent_batch(packed[place], tags[part], rows[part], [column[part] for column in buckets])
            except Exception as error:
                raise ShardError(
                    f"component {self._id!r}: a tuple cannot be carried to another process: {error}; "
                    "emit values that pickle can carry"
                ) from error


class KeyColumn:
    """The buckets of one grouping's keys."""

    def __init__(self, component: ComponentSpec, key: Key) -> None:
        stream = component.stream(key.stream)
        fields = stream.fields if stream is not None else ()
        self._id = component.id
        self._key = key
        self._tag = [stream.name for stream in component.outputs or ()].index(key.stream)
        self._router: Router = make_router(
            Grouping.fields(*key.fields), fields, BUCKETS, 0, groups=BUCKETS
        )

    def buckets(self, rows: Sequence[Row], tags: array[int]) -> list[int]:
        """The bucket of each row; of a row on another stream 0, as nobody asks.

        Raises:
            ShardError: a key that has no hash that is the same everywhere.
        """
        mine = [index for index, tag in enumerate(tags) if tag == self._tag]
        found = [0] * len(rows)
        try:
            targets = self._router.targets([rows[index] for index in mine])
        except TypeError as error:
            raise ShardError(
                f"component {self._id!r}, stream {self._key.stream!r}, grouped by {list(self._key.fields)}: "
                f"{error}"
            ) from error
        for index, bucket in zip(mine, targets, strict=True):
            found[index] = bucket
        return found
