"""Listening for connections that can prove that they know the secret."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from spark_ingest.direct.wire import welcome

LOOPBACK = "127.0.0.1"
ANY_INTERFACE = ("", "0.0.0.0", "::")
BACKLOG = 128


class Listening(NamedTuple):
    """On which interface processes of a run listen, and under which name others reach them."""

    host: str = LOOPBACK
    """Address of the interface; ``0.0.0.0`` for all of them."""
    advertise: str | None = None
    """Name or address that executors on other hosts know this host by; None: `host`, or this host's name."""

    def reached_at(self, listener: socket.socket) -> tuple[str, int]:
        """The address of a listener, for others to connect to."""
        own = socket.getfqdn() if self.host in ANY_INTERFACE else self.host
        return self.advertise or own, listener.getsockname()[1]


class Listener:
    """Accepts connections on a port of its own, and serves each in a thread.

    Args:
        listening: where.
        secret: what those who connect must know; others are turned away.
        serve: called with each connection, in a thread; it is closed afterwards. When the connection
            breaks it may let the OSError or EOFError out.
        name: of its threads.

    Raises:
        OSError: that interface cannot be listened on.
    """

    def __init__(
        self, listening: Listening, secret: str, serve: Callable[[socket.socket], None], name: str
    ) -> None:
        family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
        self._socket = socket.create_server((listening.host, 0), family=family, backlog=BACKLOG)
        self.address = listening.reached_at(self._socket)
        """The address that others connect to."""
        self._secret = secret
        self._serve = serve
        self._name = name
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._accepting = self._thread(self._accept)
        self._accepting.start()

    def close(self) -> None:
        """Close the port and all connections, and wait for the threads."""
        with self._lock:
            self._closed = True
            connections = list(self._connections)
        for opened in (self._socket, *connections):
            break_off(opened)
        for thread in (self._accepting, *self._threads):
            thread.join()
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._closed:
                    return
                continue
            with self._lock:
                if self._closed:
                    connection.close()
                    return
                self._connections.add(connection)
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self._threads.append(self._thread(self._attend, connection))
            self._threads[-1].start()

    def _attend(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, EOFError):
            welcome(connection, self._secret)
            self._serve(connection)
        with self._lock:
            self._connections.discard(connection)

    def _thread(self, target: Callable[..., None], *args: Any) -> threading.Thread:
        return threading.Thread(target=target, args=args, name=self._name, daemon=True)


def break_off(connection: socket.socket) -> None:
    """Wake whoever reads from, writes to or accepts from a socket, with the end of it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
