"""The receiving side of a task: listens, and fills an inbox per partition."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

from spark_ingest.direct.inbox import Inbox, Stale
from spark_ingest.direct.listening import Listener, Listening, break_off
from spark_ingest.direct.wire import BATCH, SCHEMA, connect, receive_frame, receive_message, send_message
from spark_ingest.errors import SparkError, rebuilt

if TYPE_CHECKING:
    import pyarrow as pa

PATIENCE_S = 0.002
"""Seconds that a task waits for a batch before it turns to its other work."""


class Receiver:
    """Receives partitions of a job for one task.

    Args:
        meeting: what the companion of the run yields: address of the rendezvous, the secret, where to listen.

    Raises:
        SparkError: the rendezvous does not answer.
        OSError: the interface cannot be listened on.
    """

    def __init__(self, meeting: Mapping[str, Any]) -> None:
        self._inboxes: dict[int, Inbox] = {}
        self._failure: Exception | None = None
        self._closing = False
        self.late = 0
        """The number of rows of a stream that have come too late so far."""
        self._ended: int | None = None
        """Once the job has ended: after how many epochs."""
        secret = meeting["secret"]
        self._listener = Listener(Listening(*meeting["listening"]), secret, self._serve, "spark-receiver")
        try:
            self._rendezvous = connect(tuple(meeting["address"]), secret)
            send_message(self._rendezvous, role="task", address=self._listener.address)
        except (OSError, EOFError) as error:
            self._listener.close()
            raise SparkError(f"the process that keeps the Spark job does not answer: {error}") from error
        self._hearing = threading.Thread(target=self._hear, name="spark-job", daemon=True)
        self._hearing.start()

    def batches(
        self, partition: int, start_us: int | None
    ) -> Generator[pa.RecordBatch | int | None, None, None]:
        """The batches of a partition, in order.

        Between them there may be the time, in microseconds, before which no row comes any more; and None:
        nothing for now. Closed before its end, it breaks the connection, so that Spark sends again.

        Raises:
            SparkError: the job failed; names the cause.
        """
        inbox = self._register(partition, start_us)
        try:
            while not inbox.finished:
                if self._failure is not None:
                    raise self._failure
                yield inbox.take(PATIENCE_S)
        finally:
            self._leave(partition, inbox)

    def close(self) -> None:
        """Break off all connections, and wait for the threads."""
        self._closing = True
        for inbox in self._inboxes.values():
            inbox.discard()
        break_off(self._rendezvous)
        self._listener.close()
        self._hearing.join()
        self._rendezvous.close()

    def _register(self, partition: int, start_us: int | None) -> Inbox:
        """A new inbox; one that asks again for a partition gets it from its beginning."""
        before = self._inboxes.get(partition)
        if before is not None:
            before.discard()
        inbox = self._inboxes[partition] = Inbox(start_us)
        if self._ended is not None:
            inbox.finish(self._ended)
        with contextlib.suppress(OSError):  # Whoever hears how the job fares will know.
            send_message(self._rendezvous, partition=partition)
        return inbox

    def _leave(self, partition: int, inbox: Inbox) -> None:
        """Nobody takes from an inbox any more: a sender is to wait for another."""
        if inbox.finished:
            return
        if self._inboxes.get(partition) is inbox:
            with contextlib.suppress(OSError):
                send_message(self._rendezvous, left=partition)
        inbox.abandon()

    def _serve(self, connection: socket.socket) -> None:
        """One executor sends a partition."""
        hello = receive_message(connection)
        inbox = self._inboxes[hello["partition"]]
        try:
            send_message(connection, **inbox.begin(connection, hello["epoch"]))
            rows = self._fill(connection, inbox)
            inbox.end(connection, rows, hello["until_us"])
            send_message(connection, received=rows)
        except Stale:
            return
        except SparkError as error:
            self._failure = error

    def _fill(self, connection: socket.socket, inbox: Inbox) -> int:
        """Receive batches, until the executor says how many rows there were."""
        import pyarrow as pa

        schema = None
        while True:
            kind, payload = receive_frame(connection)
            if kind == SCHEMA:
                schema = pa.ipc.read_schema(pa.py_buffer(payload))
            elif kind == BATCH:
                inbox.add(connection, pa.ipc.read_record_batch(pa.py_buffer(payload), schema))
            else:
                return int(json.loads(payload)["rows"])

    def _hear(self) -> None:
        """Hear how the job fares, until the rendezvous closes."""
        try:
            while True:
                message = receive_message(self._rendezvous)
                if "failed" in message:
                    self._failure = rebuilt(message["failed"])
                self.late = message.get("late", self.late)
                if "epochs" in message:
                    self._end(message["epochs"])
        except (OSError, EOFError):
            if not self._closing and self._failure is None:
                self._failure = SparkError("the process that keeps the Spark job died; run again")

    def _end(self, epochs: int) -> None:
        """The job has ended well, so every partition has been sent to its end."""
        self._ended = epochs
        try:
            for inbox in list(self._inboxes.values()):
                inbox.finish(epochs)
        except SparkError as error:
            self._failure = error
