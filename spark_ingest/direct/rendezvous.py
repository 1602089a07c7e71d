"""The rendezvous, at which executors and tasks find each other, and tasks hear how the job fares."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any

from spark_ingest.direct.listening import Listener, Listening
from spark_ingest.direct.wire import receive_message, send_message

POLL_S = 1.0
"""Seconds after which one who waits for a task is asked whether it is still there."""


class Rendezvous:
    """Knows which task reads which partition.

    A task says so (``role: task``, its address, its partitions) and stays connected. When it dies, its
    partitions are nobody's until its successor comes, and so is one that it says it has ``left``. An executor
    (``role: sender``) asks for a partition's address, and waits until there is one.

    Raises:
        OSError: that interface cannot be listened on.
    """

    def __init__(self, listening: Listening, secret: str) -> None:
        self._changed = threading.Condition()
        self._addresses: dict[int, tuple[socket.socket, Any]] = {}
        """By partition: the connection of its task, and where that listens."""
        self._tasks: set[socket.socket] = set()
        self._last: dict[str, Any] | None = None
        self._closed = False
        self._listener = Listener(listening, secret, self._serve, "spark-rendezvous")
        self.address = self._listener.address

    def tell(self, **message: Any) -> None:
        """Send to all tasks, also to later ones; a later message takes the place of an earlier one."""
        with self._changed:
            self._last = message
            for task in self._tasks:
                with contextlib.suppress(OSError):
                    send_message(task, **message)

    def close(self) -> None:
        """Close all connections."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._listener.close()

    def _serve(self, connection: socket.socket) -> None:
        message = receive_message(connection)
        if message["role"] == "task":
            self._serve_task(connection, message["address"])
        else:
            self._serve_sender(connection, message["partition"])

    def _serve_task(self, connection: socket.socket, address: Any) -> None:
        with self._changed:
            self._tasks.add(connection)
            if self._last is not None:
                send_message(connection, **self._last)
        try:
            while True:
                message = receive_message(connection)
                if "left" in message:
                    self._forget(connection, [message["left"]])
                    continue
                with self._changed:
                    self._addresses[message["partition"]] = connection, address
                    self._changed.notify_all()
        finally:
            with self._changed:
                self._tasks.discard(connection)
                self._forget(connection, list(self._addresses))

    def _forget(self, connection: socket.socket, partitions: list[int]) -> None:
        """Of these partitions, those that the task had last are nobody's now."""
        with self._changed:
            for partition in partitions:
                if self._addresses.get(partition, (None,))[0] is connection:
                    del self._addresses[partition]

    def _serve_sender(self, connection: socket.socket, partition: int) -> None:
        with self._changed:
            while partition not in self._addresses and not self._closed:
                self._changed.wait(POLL_S)
                if _has_left(connection):
                    return
            if not self._closed:
                send_message(connection, address=self._addresses[partition][1])


def _has_left(connection: socket.socket) -> bool:
    """True if one who has nothing to say is gone."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
