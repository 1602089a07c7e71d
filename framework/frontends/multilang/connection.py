"""A program's connection with the runtime: messages over stdin and stdout, and what sends them."""

from __future__ import annotations

import json
import logging
import os
import threading
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from framework.frontends.multilang.messages import Message, encoded
from framework.model.errors import EmitError
from framework.operators.components.collector import EmitResult


class Connection:
    """Sends and receives messages over two streams; several threads may send.

    Args:
        incoming: the stream that the runtime writes.
        outgoing: the stream that the runtime reads.
    """

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._sending = threading.RLock()
        self._commands: deque[Message] = deque()
        """Commands that came while task ids were waited for."""
        self._task_ids: deque[list[int]] = deque()

    @classmethod
    def of_this_process(cls) -> Connection:
        """Take over stdin and stdout.

        From then on stdin is empty, and what is written to the descriptor of stdout goes to stderr.
        """
        incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(incoming, outgoing)

    def send(self, message: Message) -> None:
        """Send a message.

        Raises:
            ProgramError: JSON cannot carry a value.
        """
        data = encoded(message)
        with self._sending:
            self._outgoing.write(data)
            self._outgoing.flush()

    def send_for_task_ids(self, message: Message) -> Sequence[int]:
        """Send an emit, and wait for the ids of the tasks that receive it."""
        with self._sending:
            self.send(message)
            while not self._task_ids:
                self._read()
            return self._task_ids.popleft()

    def receive(self) -> Message:
        """Wait for the next message that is a command or a tuple.

        Raises:
            EOFError: there will be none, as the runtime has closed the connection.
        """
        while not self._commands:
            self._read()
        return self._commands.popleft()

    def _read(self) -> None:
        lines: list[bytes] = []
        while (line := self._incoming.readline()) != b"end\n":
            if not line:
                raise EOFError
            lines.append(line)
        message = json.loads(b"".join(lines))
        received: deque[Any] = self._task_ids if isinstance(message, list) else self._commands
        received.append(message)


class ConnectionCollector:
    """Sends what a component emits, acks and fails; a `components.collector.Collector`."""

    tells_receivers = False

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._anchor: str | None = None
        self._reported: BaseException | None = None
        self._held: list[tuple[Sequence[Any], str | None]] = []
        """The rows that a batch bolt has emitted in the present call, with their streams."""

    def anchor_to(self, tup_id: str | None) -> None:
        """Anchor emits that name no anchors to a tuple; None to anchor them to nothing."""
        self._anchor = tup_id

    def emit(
        self,
        tup: Sequence[Any],
        stream: str | None = None,
        anchors: Sequence[Any] | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
        *,
        tup_id: Any = None,
        timestamp: Any = None,
    ) -> EmitResult:
        """Send an emit of a spout, or of a bolt.

        Raises:
            EmitError: it has a timestamp, for which the protocol has no field.
            ProgramError: JSON cannot carry a value.
            TypeError: the values are neither list nor tuple.
        """
        if not isinstance(tup, list | tuple):
            raise TypeError(f"emit takes a list or tuple of values, found {type(tup).__name__}: {tup!r:.200}")
        if timestamp is not None:
            raise EmitError("a program cannot emit with timestamp=: declare a viper.timestamp.field")
        message: Message = {"command": "emit", "tuple": tup}
        ids = [self._anchor] if anchors is None and self._anchor is not None else map(_id_of, anchors or ())
        options = {"stream": stream, "task": direct_task, "id": tup_id, "anchors": list(ids) or None}
        message.update({name: value for name, value in options.items() if value is not None})
        if need_task_ids and direct_task is None:
            return list(self._connection.send_for_task_ids(message))
        self._connection.send({**message, "need_task_ids": False})
        return [direct_task] if need_task_ids and direct_task is not None else None

    def emit_rows(
        self,
        rows: Sequence[Sequence[Any]],
        *,
        of: Sequence[int] | None,
        ends: Sequence[int] | None,
        stream: str | None,
        gives_away: bool,
    ) -> None:
        """Send an emit for each row: there is but one tuple in process that they can belong to.

        Rows of a bolt wait until its call has returned, as a call that raises emits nothing.
        """
        emits = [(row, stream) for row in rows]
        if self._anchor is not None:
            self._held += emits
        else:
            self._send_rows(emits)

    def call_returned(self, *, has_raised: bool) -> None:
        """Send what `emit_rows` has held since the call began, or forget it if the call has raised."""
        held, self._held = self._held, []
        if not has_raised:
            self._send_rows(held)

    def _send_rows(self, emits: Iterable[tuple[Sequence[Any], str | None]]) -> None:
        for row, stream in emits:
            self.emit(row, stream=stream)

    def ack(self, tup: Any) -> None:
        """Send that a tuple has been processed."""
        self._connection.send({"command": "ack", "id": _id_of(tup)})

    def fail(self, tup: Any) -> None:
        """Send that a tuple could not be processed."""
        self._connection.send({"command": "fail", "id": _id_of(tup)})

    def report_metric(self, name: str, value: Any) -> None:
        """Send a metric."""
        self._connection.send({"command": "metrics", "name": name, "params": value})

    @contextmanager
    def reported(self, exception: BaseException) -> Iterator[None]:
        """Within the block, report an exception no more, as that has been done."""
        self._reported = exception
        try:
            yield
        finally:
            self._reported = None

    def report_error(self, exception: BaseException, tup: Any) -> None:
        """Send an exception, with its traceback and the tuple that was in process."""
        if exception is self._reported:
            return
        where = f"{type(exception).__name__} raised while processing {tup!r:.500}\n" if tup else ""
        text = "".join(traceback.format_exception(exception))
        self._connection.send({"command": "error", "msg": where + text})


class ConnectionLog(logging.Handler):
    """Sends log records as messages."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record, with its level as Storm numbers it: Python's 10, which is debug, is 1, and so on."""
        try:
            level = min(max((record.levelno - 1) // 10 + 1, 0), 4)
            self._connection.send({"command": "log", "msg": self.format(record), "level": level})
        except Exception:
            self.handleError(record)


def _id_of(tup: Any) -> str:
    return tup if isinstance(tup, str) else str(tup.id)
