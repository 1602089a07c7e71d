"""Spouts and bolts whose tasks are programs."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from framework.frontends.multilang.messages import (
    LEVELS,
    Message,
    anchors_field,
    hashable_id,
    list_field,
    original_id,
    shown,
    task_field,
    text_field,
    wants_task_ids,
)
from framework.frontends.multilang.program import Program
from framework.frontends.multilang.session import Commands, Session
from framework.model.errors import ProgramError
from framework.model.topology import ShellImplementation
from framework.operators.components import Bolt, Component, Spout, Tuple
from framework.operators.components.collector import EmitResult
from framework.operators.log import Origin
from framework.runtime.observation.counters import TaskCounters

SERIALIZERS = (
    None,
    "json",
    "org.apache.storm.multilang.JsonSerializer",
    "backtype.storm.multilang.JsonSerializer",
)
"""Values of ``topology.multilang.serializer`` that mean JSON, which is all that is sent here."""

HEARTBEAT: Message = {"id": "heartbeat", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []}
"""The tuple that every multilang library answers with ``sync``, after all that it has done before."""

_STOP_ITERATION = re.compile(r"Python StopIteration raised\b")
"""The report of pystorm that `next_tuple` has raised StopIteration; its process ends after that."""


class ProgramComponent(Component):
    """The base of spouts and bolts that are programs: the process, the session, and its commands."""

    _sync_after_error = False
    """True if the ``sync`` that pystorm sends after an error answers the request."""
    _session: Session
    """Exists as soon as the program does."""

    def __init__(self, program: ShellImplementation, folders: Sequence[str] = ()) -> None:
        """
        Args:
            program: its command, and where and with which environment it runs.
            folders: the project's, see `framework.model.programs`.
        """
        super().__init__()
        self._definition = program
        self._folders = tuple(folders)
        self._program: Program | None = None
        self._counters = TaskCounters()

    def count_in(self, counters: TaskCounters) -> None:
        """Count the errors that the program reports in a task's counters."""
        self._counters = counters

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start the program and shake hands with it.

        Raises:
            ProgramError: it cannot be started, does not answer, or is configured to use another format
                than JSON.
        """
        _check_serializer(storm_conf)
        silence_s = storm_conf.get("topology.subprocess.timeout.secs")
        origin = Origin(self.component_name, self.task_id)
        self._program = Program(self._definition, self._folders, self.logger, origin, silence_s)
        is_spout = self._sync_after_error
        options = {"sync_after_error": is_spout, "takes_unknown": not is_spout}
        self._session = Session(self._program, self._commands(), **options)
        left_out = self._session.shake_hands(storm_conf, context)
        if left_out:
            self.logger.warning(
                "the program's configuration lacks %s: JSON cannot carry that", ", ".join(left_out)
            )

    @property
    def waits_for(self) -> str | None:
        """The program, what it has not answered, and the key that ends it; None before it starts."""
        return None if self._program is None else self._program.silent_about(self._awaited)

    @property
    def _awaited(self) -> str:
        """The request that the program has to answer."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the program's stdin, wait a little for its end, and kill it if it does not come.

        A program that has not answered the last request does not read its stdin, and is killed at once.
        """
        if self._program is None:
            return
        if self._session.is_pending:
            self._program.abandon()
        else:
            self._program.close()

    def abandon(self) -> None:
        """Kill the program."""
        if self._program is not None:
            self._program.abandon()

    def _commands(self) -> Commands:
        """Return the action for each command that the program may send."""
        return {
            "emit": self._on_emit,
            "log": self._on_log,
            "error": self._on_error,
            "metrics": self._on_metrics,
        }

    def _emit_options(self, message: Message) -> Mapping[str, Any]:
        """The arguments of an emit that only spouts have, or only bolts."""
        raise NotImplementedError

    def _on_emit(self, message: Message) -> None:
        wants_ids = wants_task_ids(message)
        receivers: EmitResult = []
        try:
            receivers = self._emitted(message, wants_ids)
        finally:  # a program whose emit was refused waits for the ids all the same
            if wants_ids:
                assert self._program is not None
                self._program.send(receivers or [])

    def _emitted(self, message: Message, wants_ids: bool) -> EmitResult:
        stream = message.get("stream")
        return self._collector.emit(
            list_field(message, "tuple"),
            stream=None if stream is None else str(stream),
            direct_task=task_field(message),
            need_task_ids=wants_ids and self._collector.tells_receivers,
            **self._emit_options(message),
        )

    def _on_log(self, message: Message) -> None:
        level = message.get("level")
        self.log(shown(message.get("msg")), LEVELS.get(level) if type(level) is int else None)

    def _on_error(self, message: Message) -> None:
        self._counters.errors += 1
        self.log(shown(message.get("msg")), "error")

    def _on_metrics(self, message: Message) -> None:
        self.report_metric(text_field(message, "name"), message.get("params"))


class ProgramBolt(ProgramComponent, Bolt):
    """A bolt that is a program, which acks, fails and anchors by itself.

    A tuple that JSON cannot carry fails, and so does one at which the program dies.
    """

    auto_ack = False
    auto_anchor = False
    _is_finishing = False
    """True if the program has heard that its input is over."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start the program, and take what it emits while it initializes itself."""
        super().initialize(storm_conf, context)
        self.heartbeat()

    def process(self, tup: Tuple) -> None:
        """Send a tuple to the program, and take what it emits for it."""
        self._session.process(_as_message(tup), HEARTBEAT)

    def process_tick(self, tup: Tuple) -> None:
        """Send a tick to the program."""
        if not self._is_finishing:
            self.process(tup)

    @property
    def _awaited(self) -> str:
        return "a heartbeat by sync"

    def heartbeat(self) -> None:
        """Take what the program has emitted since its last answer."""
        if not self._is_finishing:
            self._session.request(HEARTBEAT)

    def listen(self) -> None:
        """Take what the program has emitted and answered since."""
        self._session.take_waiting()

    def finish(self) -> bool:
        """Close the program's stdin, and take what it emits then; whether it has closed its stdout."""
        assert self._program is not None
        if not self._is_finishing:
            self._session.take_waiting()  # of which nothing is pending then
            self._is_finishing = True
            self._program.end_input()
        self._session.take_waiting()
        return self._program.has_ended

    def _on_error(self, message: Message) -> None:
        if self._is_finishing:  # as Storm's own library for Python reports the end of its stdin
            self.log(shown(message.get("msg")), "debug")
        else:
            super()._on_error(message)

    def _commands(self) -> Commands:
        return {**super()._commands(), "ack": self._on_ack, "fail": self._on_fail}

    def _emit_options(self, message: Message) -> Mapping[str, Any]:
        return {"anchors": anchors_field(message)}

    def _on_ack(self, message: Message) -> None:
        self._collector.ack(text_field(message, "id"))

    def _on_fail(self, message: Message) -> None:
        self._collector.fail(text_field(message, "id"))


class ProgramSpout(ProgramComponent, Spout):
    """A spout that is a program.

    It ends where the program sends ``end``, or where pystorm reports that `next_tuple` raised
    StopIteration. In the second case the program has ended, too, and hears of no more acks and fails.
    """

    _sync_after_error = True

    def __init__(self, program: ShellImplementation, folders: Sequence[str] = ()) -> None:
        super().__init__(program, folders)
        self._has_ended = False
        self._is_gone = False
        """True if the program has ended because its `next_tuple` raised StopIteration."""
        self._requested = ""
        """The last command that was sent to the program."""
        self._waiting: deque[Message] = deque()
        """Acks and fails that came while the program was busy with another request."""

    def next_tuple(self) -> None:
        """Ask the program for tuples.

        Raises:
            StopIteration: there will be no more.
        """
        self._request({"command": "next"})
        if self._has_ended:
            raise StopIteration

    def ack(self, tup_id: Any) -> None:
        """Send the program the ack of a tuple."""
        self._notify({"command": "ack", "id": original_id(tup_id)})

    def fail(self, tup_id: Any) -> None:
        """Send the program the fail of a tuple."""
        if self._is_gone:
            self.logger.warning(
                "tuple %r has failed, and the program has ended and cannot emit it again", original_id(tup_id)
            )
        self._notify({"command": "fail", "id": original_id(tup_id)})

    def activate(self) -> None:
        """Inform the program that it will be asked for tuples."""
        self._request({"command": "activate"})

    def deactivate(self) -> None:
        """Inform the program that it will not be asked for tuples, unless it is still busy with a request."""
        if not self._session.is_pending:
            self._request({"command": "deactivate"})

    @property
    def _awaited(self) -> str:
        return f"{self._requested!r} by sync"

    def _notify(self, message: Message) -> None:
        self._waiting.append(message)
        if not self._session.is_pending:
            self._send_waiting()

    def _request(self, message: Message) -> None:
        self._send(message)
        self._send_waiting()

    def _send_waiting(self) -> None:
        while self._waiting:
            self._send(self._waiting.popleft())

    def _send(self, message: Message) -> None:
        if not self._is_gone:
            self._requested = message["command"]
            self._session.request(message)

    def _commands(self) -> Commands:
        return {**super()._commands(), "end": self._on_end}

    def _emit_options(self, message: Message) -> Mapping[str, Any]:
        tup_id = message.get("id")
        return {} if tup_id is None else {"tup_id": hashable_id(tup_id)}

    def _on_error(self, message: Message) -> None:
        if self._requested == "next" and _STOP_ITERATION.match(shown(message.get("msg"))):
            self._has_ended = self._is_gone = True
        else:
            super()._on_error(message)

    def _on_end(self, message: Message) -> None:
        self._has_ended = True


def _as_message(tup: Tuple) -> Message:
    return {
        "id": tup.id,
        "comp": tup.component,
        "stream": tup.stream,
        "task": tup.task,
        "tuple": tup.values,
    }


def _check_serializer(conf: Mapping[str, Any]) -> None:
    serializer = conf.get("topology.multilang.serializer")
    if serializer not in SERIALIZERS:
        raise ProgramError(
            f"topology.multilang.serializer is {serializer!r}: viper sends JSON to programs, leave it out"
        )
