"""Runs in Spark's executors, and sends one partition of the job to the task that reads it.

It travels by value, see `wire`. Spark gives each partition as an iterator of Arrow batches (`mapInArrow`).
"""

from __future__ import annotations

import base64
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from spark_ingest.direct.wire import (
    BATCH,
    SCHEMA,
    connect,
    receive_message,
    send_frame,
    send_message,
)

if TYPE_CHECKING:
    import pyarrow as pa

SENT_FIELDS = "partition long, rows long"
"""The one row that a partition returns to Spark: its number, and how many rows it has."""


def make_sender(
    rendezvous: tuple[str, int], secret: str, epoch: int, until_us: int | None
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that sends a partition; an argument of `mapInArrow`.

    Args:
        rendezvous: where to ask for the task that reads a partition.
        secret: what both sides prove that they know.
        epoch: number of the micro-batch, 0 for a job that has only one.
        until_us: event time before which all rows of this micro-batch are, and none of later ones;
            None: there are no later ones.
    """

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow
        from pyspark import TaskContext

        partition = TaskContext.get().partitionId()  # type: ignore[union-attr]
        rows = send_partition(batches, partition, rendezvous, secret, epoch, until_us)
        yield pyarrow.RecordBatch.from_pydict({"partition": [partition], "rows": [rows]})

    return send


def send_partition(
    batches: Iterator[pa.RecordBatch],
    partition: int,
    rendezvous: tuple[str, int],
    secret: str,
    epoch: int,
    until_us: int | None,
) -> int:
    """Send a partition to the task that reads it; arguments as of `make_sender`.

    Returns:
        How many rows it has; 0 where the task has had them all before.

    Raises:
        OSError: the connection broke.
        EOFError: the task is no more.
        RuntimeError: the partition broke off, or what was sent of it before is not what is there now.
    """
    with connect(find_task(rendezvous, secret, partition), secret) as connection:
        send_message(connection, partition=partition, epoch=epoch, until_us=until_us)
        place = receive_message(connection)
        return 0 if place["done"] else send_batches(connection, batches, place)


def find_task(rendezvous: tuple[str, int], secret: str, partition: int) -> tuple[str, int]:
    """Address of the task that reads a partition; waits until there is one."""
    with connect(rendezvous, secret) as connection:
        send_message(connection, role="sender", partition=partition)
        host, port = receive_message(connection)["address"]
    return host, port


def send_batches(connection: socket.socket, batches: Iterator[pa.RecordBatch], place: dict[str, Any]) -> int:
    """Send what the task has not yet received, and wait until it has it all.

    Args:
        place: what the task says it has: ``rows``, how many of those not before ``start_us``, and ``last``,
            the last of them.

    Returns:
        How many rows there are not before ``start_us``, sent now or before.

    Raises:
        RuntimeError: the partition broke off, or what was sent of it before is not what is there now.
    """
    skip, rows = place["rows"], 0
    described = False
    for batch in until_end(batches):
        batch = not_before(batch, place["start_us"])
        first, rows = rows, rows + batch.num_rows
        if first < skip <= rows:
            compare(batch.slice(skip - 1 - first, 1), place["last"])
        rest = batch.slice(max(0, skip - first))
        if rest.num_rows:
            if not described:
                send_frame(connection, SCHEMA, rest.schema.serialize())
                described = True
            send_frame(connection, BATCH, rest.serialize())
    if rows < skip:
        raise RuntimeError(f"{skip} rows of a partition were sent before, but now it has only {rows}")
    send_message(connection, rows=rows)
    receive_message(connection)
    return rows


def until_end(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches without the last row, see `spark_ingest.job.streams`.

    Raises:
        RuntimeError: it is missing, so Spark has broken off the task or its input.
    """
    for batch in batches:
        if batch.num_rows and batch.column(0)[-1].as_py() == 2**63 - 1:
            yield batch.slice(0, batch.num_rows - 1)
            return
        yield batch
    raise RuntimeError("Spark has broken off a partition before its end")


def not_before(batch: pa.RecordBatch, start_us: int | None) -> pa.RecordBatch:
    """A batch without the rows of an earlier time; its first column, the time, never decreases."""
    if start_us is None or not batch.num_rows or batch.column(0)[0].as_py() >= start_us:
        return batch
    import pyarrow.compute

    return batch.slice(pyarrow.compute.sum(pyarrow.compute.less(batch.column(0), start_us)).as_py())


def as_text(row: pa.RecordBatch) -> str:
    """A batch of one row, complete and comparable, whatever batch it was part of."""
    import pyarrow

    copied = pyarrow.RecordBatch.from_pylist(row.to_pylist(), schema=row.schema)
    return base64.b64encode(copied.serialize()).decode()


def compare(row: pa.RecordBatch, last: str) -> None:
    """Check that the last row sent before is the one at its index now.

    Raises:
        RuntimeError: it is another.
    """
    if as_text(row) != last:
        raise RuntimeError(
            "a partition was run again after a failure and has other rows now, so it cannot go on where it "
            "stopped: its source has changed meanwhile, or depends on something random; prepare a dataset"
        )
