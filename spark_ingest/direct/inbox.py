"""Rows of one partition that a task has received and not yet taken."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from spark_ingest.direct.listening import break_off
from spark_ingest.direct.sender import as_text
from spark_ingest.errors import SparkError

if TYPE_CHECKING:
    import socket

    import pyarrow as pa

ROOM = 4
"""Batches that wait for the task; after that the connection fills up, and the job waits."""


class Stale(Exception):
    """A connection whose place another one has taken, or whose task has gone."""


class Inbox:
    """The batches of one partition, in order, from one connection after the other.

    Args:
        start_us: rows of an earlier time are not asked for; None for all.
    """

    def __init__(self, start_us: int | None) -> None:
        self._start_us = start_us
        self._changed = threading.Condition()
        self._batches: deque[pa.RecordBatch | int] = deque()
        """Batches; and after each epoch the time from which on it continues."""
        self._from: socket.socket | None = None
        """The connection that may add, the last that has begun."""
        self._epoch = 0
        """The epoch that is being received, or comes next."""
        self._rows = 0
        """Received of it."""
        self._last: pa.RecordBatch | None = None
        """The last of them."""
        self._final = False
        self._abandoned = False

    def begin(self, connection: socket.socket, epoch: int) -> dict[str, Any]:
        """A connection begins to send an epoch; no other may continue.

        Returns:
            Its offset, from which it is to resume, see `sender.send_batches`.

        Raises:
            Stale: nobody takes from here any more.
            SparkError: an epoch before it was sent to a task that is no more.
        """
        self.discard()
        with self._changed:
            if self._abandoned:
                raise Stale
            if epoch > self._epoch:
                raise _lost()
            self._from = connection
            last = None if self._last is None else as_text(self._last)
            done = self._final or epoch < self._epoch
            return {"done": done, "rows": self._rows, "last": last, "start_us": self._start_us}

    def add(self, connection: socket.socket, batch: pa.RecordBatch) -> None:
        """Add a batch; waits while there is no room.

        Raises:
            Stale: another connection has begun meanwhile.
        """
        with self._changed:
            while len(self._batches) >= ROOM and connection is self._from:
                self._changed.wait()
            self._check(connection)
            self._batches.append(batch)
            self._rows += batch.num_rows
            self._last = batch.slice(batch.num_rows - 1)
            self._changed.notify_all()

    def end(self, connection: socket.socket, rows: int, until_us: int | None) -> None:
        """The connection has sent all of its epoch; waits until that has been taken.

        Args:
            connection: the one that has begun it.
            rows: how many it has sent, together with those before it.
            until_us: the event time from which on later epochs continue; None: there are none.

        Raises:
            Stale: another connection has begun meanwhile.
            SparkError: not all of them were received.
        """
        with self._changed:
            self._check(connection)
            if rows != self._rows:
                raise SparkError(f"{self._rows} rows of a partition were received, of {rows} that were sent")
            self._final = until_us is None
            if until_us is not None:
                self._batches.append(until_us)
            self._epoch, self._rows, self._last = self._epoch + 1, 0, None
            self._changed.notify_all()
            while self._batches and connection is self._from:
                self._changed.wait()
            self._check(connection)

    def take(self, timeout_s: float) -> pa.RecordBatch | int | None:
        """The next batch, or the time before which none comes any more, in microseconds.

        None when there is nothing within so many seconds, or no more at all.
        """
        with self._changed:
            if not self._batches and not self._final:
                self._changed.wait(timeout_s)
            if not self._batches:
                return None
            self._changed.notify_all()
            return self._batches.popleft()

    def finish(self, epochs: int) -> None:
        """The job has ended, after so many epochs.

        Raises:
            SparkError: some of them were sent to a task that is no more.
        """
        with self._changed:
            if self._epoch != epochs:
                raise _lost()
            self._final = True
            self._changed.notify_all()

    def discard(self) -> None:
        """Let nobody add any more; what has been added stays."""
        with self._changed:
            if self._from is not None:
                break_off(self._from)
            self._from = None
            self._changed.notify_all()

    def abandon(self) -> None:
        """Nobody takes any more, so nobody is to add, now or later."""
        with self._changed:
            self._abandoned = True
        self.discard()

    @property
    def finished(self) -> bool:
        """True if all has been received and taken."""
        with self._changed:
            return self._final and not self._batches

    def _check(self, connection: socket.socket) -> None:
        if connection is not self._from:
            raise Stale


def _lost() -> SparkError:
    return SparkError(
        "rows of the Spark job were on their way to a task that is no more, and cannot be sent again: "
        "run again, or prepare a dataset, which a restarted task can read where it was"
    )
