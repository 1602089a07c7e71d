"""Asking a program, and doing what it says until it has answered."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from framework.multilang.messages import is_json
from framework.multilang.program import Program
from framework.topology import one_of

Message = dict[str, Any]
Commands = Mapping[str, Callable[[Message], None]]
"""What is done for each command of a program."""

_OF_PYSTORM = re.compile(r"Python \w+ raised(\n| while processing Tuple )")
"""How an error begins that pystorm reports; it sends a ``sync`` after it that nobody has asked for."""


class Malformed(Exception):
    """A message lacks something, or has it of a wrong type."""


def shake_hands(program: Program, conf: Mapping[str, Any], context: Mapping[str, Any]) -> list[str]:
    """Tell a program about its component, and wait until it has said its pid.

    The folder in which it leaves a file of that name is gone right afterwards, so that nothing remains
    when this process is killed.

    Returns:
        Keys of the configuration that JSON cannot carry, and the program therefore does not get.

    Raises:
        ProgramError: it answers otherwise, or has ended.
    """
    carried = {key: value for key, value in conf.items() if is_json(value)}
    program.phase = " in the handshake"
    folder = tempfile.mkdtemp(prefix="viper-pids-")
    try:
        program.send({"conf": carried, "pidDir": folder, "context": context})
        answer = program.receive()
        if "pid" not in answer:
            raise program.given_up(f"has sent {answer!r:.300}: expected its pid")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    program.phase = ""
    return sorted(set(conf) - set(carried))


class Conversation:
    """Questions and answers. Every question is answered by a ``sync``; what comes before belongs to it."""

    def __init__(self, program: Program, commands: Commands, *, answers_errors: bool) -> None:
        """
        Args:
            program: has shaken hands.
            commands: all but ``sync``.
            answers_errors: whether what pystorm sends after an error is the answer, as a spout's is.
        """
        self._program = program
        self._commands = commands
        self._answers_errors = answers_errors
        self._awaited = 0
        self._unasked = 0
        """Answers that will come although nobody has asked."""

    @property
    def going_on(self) -> bool:
        """Whether a question has not been answered: that is going on, or has been broken off."""
        return self._awaited > 0

    def ask(self, *messages: Message) -> None:
        """Send messages, the last of which will be answered, and do what the program says until then.

        Raises:
            ProgramError: JSON cannot carry a value; the program has ended, or does not speak the protocol.
            Exception: whatever a command raises; the rest of the answer is left for the next time.
        """
        self._catch_up()
        for message in messages:
            self._program.send(message)
        self._awaited += 1
        while self._awaited:
            self._act(self._program.receive())

    def _catch_up(self) -> None:
        """Pass over the rest of an answer that was broken off; what it would emit has failed with that."""
        while self._awaited:
            message = self._program.receive()
            if message.get("command") != "emit":
                self._act(message)
            elif wants_receivers(message):
                self._program.send([])

    def _act(self, message: Message) -> None:
        command = message.get("command")
        if command == "sync":
            self._synchronize()
        elif isinstance(command, str) and command in self._commands:
            self._do(command, message)
        else:
            expected = one_of(sorted([*self._commands, "sync"]))
            raise self._program.given_up(f"has sent {message!r:.300}: expected {expected} as command")

    def _synchronize(self) -> None:
        if self._unasked:
            self._unasked -= 1
        else:
            self._awaited -= 1

    def _do(self, command: str, message: Message) -> None:
        if command == "error":
            self._program.reported = str(message.get("msg"))
            if not self._answers_errors and _OF_PYSTORM.match(self._program.reported):
                self._unasked += 1
        try:
            self._commands[command](message)
        except Malformed as error:
            raise self._program.given_up(f"has sent {message!r:.300}: {error}") from error


def wants_receivers(message: Message) -> bool:
    """Whether an emit is answered with the ids of its receivers: Storm's default, but for direct ones."""
    return bool(message.get("need_task_ids", True)) and not message.get("task")
