"""Lines come through a real TCP socket, in pieces that end anywhere."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework.testing import run_topology

FILE = Path(__file__).parents[2] / "topologies" / "lines_from_socket.py"
LINES = ["", "é€", *(f"line {number}" for number in range(300)), "", "the end"]


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def send(server: socket.socket, content: bytes, seed: int) -> None:
    chance = random.Random(seed)
    connection, _ = server.accept()
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while content:
            size = chance.choice([1, 2, 10, 500])
            connection.sendall(content[:size])
            content = content[size:]


@pytest.mark.parametrize("worker", ["inline", "thread", "process"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_come_whole_and_in_order(
    server: socket.socket, worker: str, end: str, capfd: pytest.CaptureFixture[str]
) -> None:
    seed = len(worker) + len(end)
    content = ("\n".join(LINES) + end).encode()
    sender = threading.Thread(target=send, args=(server, content, seed))
    sender.start()
    address = "{}:{}".format(*server.getsockname())
    run = run_topology(FILE, conf={"lines.address": address, "viper.worker": worker})
    sender.join()
    assert run.emitted("lines") == [(line,) for line in LINES]
    assert capfd.readouterr().out.splitlines() == LINES
