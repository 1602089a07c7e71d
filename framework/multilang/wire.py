"""The protocol as a program sees it: stdin and stdout, in the hands of one who speaks for a component."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Sequence
from typing import IO, Any

from framework.multilang.messages import encoded


class Wire:
    """Messages over two streams; several threads may send.

    Args:
        incoming: what the runtime writes.
        outgoing: what it reads.
    """

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._sending = threading.RLock()
        self._commands: deque[dict[str, Any]] = deque()
        """Commands that came while ids were waited for."""
        self._receivers: deque[list[int]] = deque()

    @classmethod
    def of_this_process(cls) -> Wire:
        """Over stdin and stdout, which nobody else in this process can use from now on.

        What is written to the descriptor of stdout goes to stderr, and stdin is empty.
        """
        incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(incoming, outgoing)

    def send(self, message: Any) -> None:
        """Send a message.

        Raises:
            ProgramError: JSON cannot carry a value.
        """
        data = encoded(message)
        with self._sending:
            self._outgoing.write(data)
            self._outgoing.flush()

    def ask_receivers(self, message: Any) -> Sequence[int]:
        """Send an emit, and wait for the ids of the tasks that receive it."""
        with self._sending:
            self.send(message)
            while not self._receivers:
                self._read()
            return self._receivers.popleft()

    def command(self) -> dict[str, Any]:
        """The next message that is a command or a tuple.

        Raises:
            EOFError: there will be none, as the runtime has gone.
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
        waiting: deque[Any] = self._receivers if isinstance(message, list) else self._commands
        waiting.append(message)
