from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from spark_ingest.direct import wire
from spark_ingest.direct.listening import Listener, Listening, break_off
from spark_ingest.direct.wire import (
    BATCH,
    connect,
    receive_frame,
    receive_message,
    send_frame,
    send_message,
)

SECRET = "a secret"


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


@pytest.fixture
def echo() -> Iterator[Listener]:
    def serve(connection: socket.socket) -> None:
        while True:
            send_frame(connection, *receive_frame(connection))

    listener = Listener(Listening(), SECRET, serve, "echo")
    yield listener
    listener.close()


class TestFrames:
    def test_arrive_as_they_were_sent(self, pair: tuple[socket.socket, socket.socket]) -> None:
        for payload in (b"", b"x", bytes(range(256)) * 100):
            send_frame(pair[0], BATCH, payload)
            assert receive_frame(pair[1]) == (BATCH, payload)

    def test_that_are_larger_than_what_the_kernel_holds(
        self, pair: tuple[socket.socket, socket.socket]
    ) -> None:
        payload = bytes(8 << 20)
        sending = threading.Thread(target=send_frame, args=(pair[0], BATCH, payload))
        sending.start()
        assert receive_frame(pair[1]) == (BATCH, payload)
        sending.join()

    def test_messages_are_json(self, pair: tuple[socket.socket, socket.socket]) -> None:
        send_message(pair[0], partition=3, name="ä")
        assert receive_message(pair[1]) == {"partition": 3, "name": "ä"}

    def test_the_end_is_an_error(self, pair: tuple[socket.socket, socket.socket]) -> None:
        pair[0].sendall(b"\x01\x00")
        pair[0].close()
        with pytest.raises(EOFError):
            receive_frame(pair[1])

    def test_a_message_of_absurd_length_is_refused(self, pair: tuple[socket.socket, socket.socket]) -> None:
        pair[0].sendall(b"\x01" + b"\xff" * 8)
        with pytest.raises(ConnectionError, match="speaks something else"):
            receive_frame(pair[1])

    def test_a_batch_is_no_message(self, pair: tuple[socket.socket, socket.socket]) -> None:
        send_frame(pair[0], BATCH, b"{}")
        with pytest.raises(ConnectionError, match="kind 3"):
            receive_message(pair[1])


class TestProofs:
    def test_who_knows_the_secret_is_served(self, echo: Listener) -> None:
        with connect(echo.address, SECRET) as connection:
            send_message(connection, hello=1)
            assert receive_message(connection) == {"hello": 1}

    def test_who_does_not_is_turned_away(self, echo: Listener) -> None:
        with pytest.raises((OSError, EOFError)):
            connect(echo.address, "another secret")

    def test_who_listens_without_knowing_it_is_found_out(self) -> None:
        imposter = Listener(Listening(), "another secret", lambda connection: None, "imposter")
        with pytest.raises((OSError, EOFError)):
            connect(imposter.address, SECRET)
        imposter.close()

    def test_a_proof_is_of_no_use_to_the_other_side(self, echo: Listener) -> None:
        """A side that sends back what it gets proves nothing."""
        with socket.create_connection(echo.address) as mirror:
            mirror.sendall(bytes(wire.NONCE))
            nonce = wire.receive_exactly(mirror, wire.NONCE)
            mirror.sendall(nonce)
            with pytest.raises((EOFError, OSError)):
                wire.receive_exactly(mirror, 1)


def test_a_listener_that_closes_ends_its_connections(echo: Listener) -> None:
    with connect(echo.address, SECRET) as connection:
        echo.close()
        with pytest.raises((OSError, EOFError)):
            receive_message(connection)
    with pytest.raises(OSError):
        socket.create_connection(echo.address)


def test_a_name_for_other_hosts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert Listening().reached_at(server) == ("127.0.0.1", port)
        assert Listening("0.0.0.0", "gate.example").reached_at(server) == ("gate.example", port)
        assert Listening("0.0.0.0").reached_at(server) == (socket.getfqdn(), port)


def test_breaking_off_what_is_closed_does_nothing() -> None:
    one, other = socket.socketpair()
    other.close()
    one.close()
    break_off(one)
