"""The protocol of tasks, executors and the keeper: frames over TCP, once both sides have proved the secret.

This module and `sender` travel to Spark's executors by value, as nothing of this project need be installed
there. So they import the standard library (and pyarrow, inside functions), and from one another by name.

A frame is one byte that says what it is, eight bytes of length, and that many bytes.
"""

from __future__ import annotations

import hmac
import json
import os
import socket
import struct
from typing import Any

MESSAGE = 1
"""A frame of JSON."""
SCHEMA = 2
"""The Arrow schema of the batches that follow on the connection."""
BATCH = 3
"""One Arrow record batch."""

HEADER = ">BQ"
HEADER_BYTES = struct.calcsize(HEADER)
NONCE = 32
"""Bytes that each side throws in, so that no proof can be used twice."""
HANDSHAKE_S = 20.0
"""Seconds that the other side has to prove itself."""
LONGEST_MESSAGE = 1 << 24
"""Bytes; what claims to be longer is no message of ours."""


def connect(address: tuple[str, int], secret: str) -> socket.socket:
    """A connection to an address, proved on both sides.

    Raises:
        OSError: nobody listens there, or whoever does cannot prove that it knows the secret.
    """
    connection = socket.create_connection(address, timeout=HANDSHAKE_S)
    try:
        prove(connection, secret, b"connects", b"listens")
        keep_alive(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def welcome(connection: socket.socket, secret: str) -> None:
    """The listening side of `connect`, for a connection just accepted.

    Raises:
        OSError: the other side cannot prove that it knows the secret, or is silent.
    """
    connection.settimeout(HANDSHAKE_S)
    prove(connection, secret, b"listens", b"connects")
    keep_alive(connection)


def prove(connection: socket.socket, secret: str, mine: bytes, theirs: bytes) -> None:
    """Exchange nonces, then proofs; each proof binds both nonces and the side that gives it.

    The side that connects goes first, so that a stranger learns nothing that depends on the secret.

    Raises:
        ConnectionError: the other side does not know the secret.
    """
    nonce = os.urandom(NONCE)
    connection.sendall(nonce)
    both = b"".join(sorted([nonce, bytes(receive_exactly(connection, NONCE))]))
    proof = hmac.digest(secret.encode(), mine + both, "sha256")
    expected = hmac.digest(secret.encode(), theirs + both, "sha256")
    if mine == b"connects":
        connection.sendall(proof)
    if not hmac.compare_digest(receive_exactly(connection, len(expected)), expected):
        raise ConnectionRefusedError("the other side of a connection does not know the run's secret")
    if mine == b"listens":
        connection.sendall(proof)


def keep_alive(connection: socket.socket) -> None:
    """From here on reads and writes wait for as long as the other host answers the kernel."""
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, seconds in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)


def send_frame(connection: socket.socket, kind: int, payload: Any) -> None:
    """Send one frame; blocks while the other side has no room.

    Args:
        payload: anything with the buffer protocol; it is not copied.
    """
    view = memoryview(payload).cast("B")
    connection.sendall(struct.pack(HEADER, kind, len(view)))
    connection.sendall(view)


def send_message(connection: socket.socket, **message: Any) -> None:
    """Send a message, as a JSON object of the arguments."""
    send_frame(connection, MESSAGE, json.dumps(message).encode())


def receive_frame(connection: socket.socket) -> tuple[int, Any]:
    """The next frame: what it is, and its bytes in a buffer of its own.

    Raises:
        OSError: the connection broke.
        EOFError: the other side has closed it.
    """
    kind, length = struct.unpack(HEADER, receive_exactly(connection, HEADER_BYTES))
    if kind == MESSAGE and length > LONGEST_MESSAGE:
        raise ConnectionError(f"a message of {length} bytes: the other side speaks something else")
    return kind, receive_exactly(connection, length)


def receive_message(connection: socket.socket) -> dict[str, Any]:
    """The next frame, which must be a message.

    Raises:
        OSError: the connection broke, or something else came.
        EOFError: the other side has closed it.
    """
    kind, payload = receive_frame(connection)
    if kind != MESSAGE:
        raise ConnectionError(f"a frame of kind {kind} came where a message was expected")
    message: dict[str, Any] = json.loads(payload)
    return message


def receive_exactly(connection: socket.socket, length: int) -> bytearray:
    """That many bytes.

    Raises:
        EOFError: the other side closed the connection before.
    """
    received = bytearray(length)
    view = memoryview(received)
    while view:
        count = connection.recv_into(view)
        if count == 0:
            raise EOFError("the other side has closed the connection")
        view = view[count:]
    return received
