"""A session with a program: the handshake, then requests, each of which the program answers with ``sync``.

Storm takes no notice of a bolt's ``sync``. Here it says that the program has come to a heartbeat, and so is
done with the tuple before. A program may send more of them than heartbeats have come to it. So one that comes
when no heartbeat is unanswered counts for nothing. One that comes ahead of the answer to its tuple counts as
an answer only once further heartbeats were answered ahead of it, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from framework.frontends.multilang.messages import (
    ENDS_ARE_KNOWN,
    InvalidField,
    Message,
    is_json,
    shown,
    wants_task_ids,
)
from framework.frontends.multilang.program import Program
from framework.model.topology import one_of

T = TypeVar("T")
Commands = Mapping[str, Callable[[Message], None]]
"""The action for each command that a program sends, except ``sync``."""

BEFORE_PID = ("error", "log", "metrics")
"""Commands that a program may send before its pid: storm.js initializes a component first."""
PROBES = 4
"""Further heartbeats after which a tuple that is unanswered is left to a program that answers later."""
QUIET_S = 0.1
"""Seconds without a message after which a program that sends more syncs than heartbeats came to it gets a
further heartbeat. They decide nothing: the answer to that heartbeat does."""
PATIENCE_S = 1.0
"""Seconds without a message after which a program that reads in turn gets its heartbeat all the same."""
_PYSTORM_ERROR = re.compile(r"Python \w+ raised(\n| while processing Tuple )")
"""The beginning of an error that pystorm reports; the ``sync`` after it answers no request of a bolt."""


class Session:
    """Sends requests to a program, and executes the commands that it sends until it has answered them."""

    def __init__(
        self, program: Program, commands: Commands, *, sync_after_error: bool, takes_unknown: bool = False
    ) -> None:
        """
        Args:
            program: has just been started.
            commands: what to do for each command.
            sync_after_error: whether the ``sync`` that pystorm sends after an error answers the request, as
                a spout's does; a bolt's comes in addition to the answer.
            takes_unknown: whether commands that nobody knows are passed over, as Storm does for a bolt.
        """
        self._takes_unknown = takes_unknown
        self._program = program
        self._commands = commands
        self._sync_after_error = sync_after_error
        self._pending = 0
        """Requests that have not been answered."""
        self._extra_syncs = 0
        """Syncs to come that answer no request."""
        self._asked = 0
        """Requests so far, of a bolt its heartbeats."""
        self._syncs = 0
        """Syncs so far that may have answered them."""
        self._tuple: str | None = None
        """The id of the tuple that was sent last, until the program acks or fails it."""
        self._told_receivers = False
        """True if the last tuple that was sent has led to an emit whose receivers were sent to the
        program."""
        self._reads_in_turn = False
        """True if the program takes the next message for the receivers, whatever it is."""
        self._works_on = False
        """True if the program continues with a tuple after a heartbeat, and answers it later."""

    @property
    def is_pending(self) -> bool:
        """True if a request has not been answered, because it is in process or an exception broke it off."""
        return self._pending > 0

    def shake_hands(self, conf: Mapping[str, Any], context: Mapping[str, Any]) -> list[str]:
        """Send the program its configuration and context, and wait for its pid.

        The folder for the pid file exists until the file is there or the program sends its first ``sync``:
        Storm's own libraries for Python and Ruby send their pid before they create the file.

        Returns:
            Keys of the configuration that JSON cannot carry, and that the program therefore does not get.

        Raises:
            ProgramError: the program answers with something else, or has ended.
        """
        carried = {key: value for key, value in conf.items() if is_json(value)}
        setup = {"conf": {**carried, ENDS_ARE_KNOWN: True}, "context": context}
        with self._program.phase("in the handshake"):
            self._program.send({**setup, "pidDir": self._program.make_pid_folder()})
            while "pid" not in (answer := self._program.receive()):
                if "command" not in answer:
                    told = f"has answered {answer!r:.300} without its pid, which does on Storm, too"
                    self._program.leniency.note("answers without a pid", told)
                    break
                if answer["command"] not in BEFORE_PID:
                    raise self._program.given_up(f"has sent {answer!r:.300}: expected its pid")
                self._execute(answer)
        self._program.remove_pid_folder(if_used=True)
        return sorted(set(conf) - set(carried))

    def request(self, message: Message) -> None:
        """Send a message that the program answers, and execute its commands until then.

        Raises:
            ProgramError: JSON cannot carry a value; the program has ended, or breaks the protocol.
            Exception: whatever a command raises; the rest of the answer is left for the next request.
        """
        self._finish_pending()
        self._ask(message)
        self._until_answered()

    def process(self, tup: Message, heartbeat: Message) -> None:
        """Send a tuple to a bolt, and execute its commands until it is done with it, or continues later.

        Args:
            tup: the tuple, which the program may ack or fail.
            heartbeat: sent behind it, and as often as is needed.

        Raises:
            ProgramError: as for `request`.
            Exception: likewise.
        """
        self._finish_pending()
        self.take_waiting()
        self._program.send(tup)
        self._tuple, self._told_receivers = tup["id"], False
        if self._reads_in_turn:
            self._until_tuple_answered()
        for _ in range(1 + PROBES):
            self._ask(heartbeat)
            self._until_answered(heartbeat)
            if self._is_done_with_tuple():
                return
        self._works_on = True

    def take_waiting(self) -> None:
        """Execute the commands that have come since, without waiting for any."""
        self._finish_pending()
        while (message := self._program.receive_within(0)) is not None:
            self._execute(message)

    def _is_done_with_tuple(self) -> bool:
        """True if no more of a tuple is waited for, now that a heartbeat after it was answered."""
        if self._works_on:
            return True
        while self._tuple is not None and self._syncs > self._asked:
            message = self._program.receive_within(QUIET_S)
            if message is None:
                return False
            self._execute(message)
        return self._tuple is None

    def _ask(self, message: Message) -> None:
        self._program.send(message)
        self._pending += 1
        self._asked += 1

    def _until_answered(self, again: Message | None = None) -> None:
        """Execute commands until nothing is pending; a heartbeat that seems to be lost is sent `again`."""
        while self._pending:
            if again is not None and self._told_receivers and self._tuple is None:
                message = self._program.receive_within(QUIET_S)
            else:
                message = self._program.receive()
            if message is None and not self._program.has_ended:
                assert again is not None
                self._take_for_lost(again)
            elif message is not None:
                self._execute(message)

    def _take_for_lost(self, heartbeat: Message) -> None:
        """Send a heartbeat again: the program wanted receivers, and seems to have taken it for them.

        If it has not, it answers both, which is one sync more than it was asked for.
        """
        self._told_receivers, self._reads_in_turn = False, True
        self._program.leniency.note(
            "heartbeats without an answer",
            "has taken a heartbeat for the receivers of an emit, it seems, and has not answered it; from now "
            "on it gets a heartbeat when it has answered its tuple: keep messages that come before the "
            "receivers, as Storm's own libraries do, or emit with need_task_ids: false",
        )
        self._program.send(heartbeat)

    def _until_tuple_answered(self) -> None:
        """Execute commands until the program has acked or failed the tuple, or says nothing for a while."""
        while self._tuple is not None:
            message = self._program.receive_within(PATIENCE_S)
            if message is None:
                return
            self._execute(message)

    def _finish_pending(self) -> None:
        """Pass over the rest of an answer that an exception broke off; its emits have failed with that."""
        while self._pending:
            message = self._program.receive()
            if message.get("command") != "emit":
                self._execute(message)
            elif self._checked(message, wants_task_ids):
                self._program.send([])

    def _execute(self, message: Message) -> None:
        command = message.get("command")
        if command == "sync":
            self._on_sync()
        elif isinstance(command, str) and command in self._commands:
            self._on_command(command, message)
        else:
            known = one_of(sorted([*self._commands, "sync"]))
            if not (self._takes_unknown and isinstance(command, str)):
                raise self._program.given_up(f"has sent {message!r:.300}: expected {known} as command")
            told = f"has sent the command {command!r:.100}, and not {known}: it is passed over, as on Storm"
            self._program.leniency.note("unknown commands", told)

    def _on_sync(self) -> None:
        self._program.remove_pid_folder()
        if self._extra_syncs:
            self._extra_syncs -= 1
            return
        self._syncs += 1
        if self._pending:
            self._pending -= 1

    def _on_command(self, command: str, message: Message) -> None:
        if command == "error":
            text = shown(message.get("msg"))
            self._program.report(text)
            if not self._sync_after_error and _PYSTORM_ERROR.match(text):
                self._extra_syncs += 1
        elif command in ("ack", "fail") and str(message.get("id")) == self._tuple:
            self._tuple = None
        self._checked(message, self._commands[command])
        self._told_receivers = self._told_receivers or (command == "emit" and wants_task_ids(message))

    def _checked(self, message: Message, call: Callable[[Message], T]) -> T:
        """Call something with a message; a field of it that is wrong is the program's end."""
        try:
            return call(message)
        except InvalidField as error:
            raise self._program.given_up(f"has sent {message!r:.300}: {error}") from error
