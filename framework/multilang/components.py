"""Spouts and bolts that are programs."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from framework.components import Bolt, Component, Spout, Tuple
from framework.components.collector import EmitResult
from framework.log import Origin
from framework.multilang.conversation import Conversation, Message, shake_hands, wants_receivers
from framework.multilang.errors import ProgramError
from framework.multilang.fields import (
    LEVELS,
    hashable,
    list_field,
    plain,
    task_field,
    text_field,
)
from framework.multilang.program import Program
from framework.runtime.metrics.counters import TaskCounters

SERIALIZERS = (
    None,
    "json",
    "org.apache.storm.multilang.JsonSerializer",
    "backtype.storm.multilang.JsonSerializer",
)
"""Values of ``topology.multilang.serializer`` that mean what is spoken here."""

HEARTBEAT: Message = {"id": "heartbeat", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []}
"""The tuple that every multilang library answers with ``sync``, after all that it has done before."""


class ProgramComponent(Component):
    """What programs that are spouts or bolts have in common."""

    counters: TaskCounters
    """Of the task; set by the host."""
    _answers_errors = False
    _conversation: Conversation
    """As soon as there is a program."""

    def __init__(self, command: Sequence[str], folders: Sequence[str] = ()) -> None:
        """
        Args:
            command: the program and its arguments.
            folders: the project's, see `framework.programs`.
        """
        super().__init__()
        self._command = tuple(command)
        self._folders = tuple(folders)
        self._program: Program | None = None

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start the program and shake hands with it.

        Raises:
            ProgramError: it cannot be started, does not answer, or is to speak something else than JSON.
        """
        _check_serializer(storm_conf)
        silence_s = storm_conf.get("topology.subprocess.timeout.secs")
        self._program = Program(
            self._command, self._folders, self.logger, Origin(self.component_name, self.task_id), silence_s
        )
        commands = {
            "emit": self._on_emit,
            "log": self._on_log,
            "error": self._on_error,
            "metrics": self._on_metrics,
            **self._more_commands(),
        }
        self._conversation = Conversation(self._program, commands, answers_errors=self._answers_errors)
        unsaid = shake_hands(self._program, storm_conf, context)
        if unsaid:
            self.logger.warning("the program is not told of %s: JSON cannot carry that", ", ".join(unsaid))

    def close(self) -> None:
        """Close the program's stdin, wait for its end a little, and kill it if it does not come.

        One that has never come to the end of an answer looks at nothing, and is not waited for.
        """
        if self._program is None:
            return
        if self._conversation.going_on:
            self._program.abandon()
        else:
            self._program.close()

    def abandon(self) -> None:
        """Kill the program."""
        if self._program is not None:
            self._program.abandon()

    def _more_commands(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def _options_of(self, message: Message) -> Mapping[str, Any]:
        """What an emit has of its own for spouts, or for bolts."""
        raise NotImplementedError

    def _on_emit(self, message: Message) -> None:
        wanted = wants_receivers(message)
        receivers: EmitResult = []
        try:
            receivers = self._emitted(message, wanted)
        finally:  # who has emitted what cannot be waits for an answer all the same
            if wanted:
                assert self._program is not None
                self._program.send(receivers or [])

    def _emitted(self, message: Message, wanted: bool) -> EmitResult:
        stream = message.get("stream")
        return self._collector.emit(
            list_field(message, "tuple"),
            stream=None if stream is None else str(stream),
            direct_task=task_field(message),
            need_task_ids=wanted,
            **self._options_of(message),
        )

    def _on_log(self, message: Message) -> None:
        level = message.get("level")
        self.log(str(message.get("msg")), LEVELS.get(level) if isinstance(level, int) else None)

    def _on_error(self, message: Message) -> None:
        self.counters.errors += 1
        self.log(str(message.get("msg")), "error")

    def _on_metrics(self, message: Message) -> None:
        self.report_metric(text_field(message, "name"), message.get("params"))


class ProgramBolt(ProgramComponent, Bolt):
    """A bolt that is a program. It acks, fails and anchors by itself.

    A tuple that cannot be told to it, or at which it dies, fails.
    """

    auto_ack = False
    auto_anchor = False

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """As for every program; what it emits in its own ``initialize`` comes before all else."""
        super().initialize(storm_conf, context)
        self.heartbeat()

    def process(self, tup: Tuple) -> None:
        """Give a tuple to the program, and take what it emits for it."""
        self._conversation.ask(_told(tup), HEARTBEAT)

    def process_tick(self, tup: Tuple) -> None:
        """Give a tick to the program."""
        self.process(tup)

    def heartbeat(self) -> None:
        """Take what the program has emitted without having been given anything."""
        self._conversation.ask(HEARTBEAT)

    def _more_commands(self) -> Mapping[str, Any]:
        return {"ack": self._on_ack, "fail": self._on_fail}

    def _options_of(self, message: Message) -> Mapping[str, Any]:
        return {"anchors": [str(anchor) for anchor in list_field(message, "anchors", [])]}

    def _on_ack(self, message: Message) -> None:
        self._collector.ack(text_field(message, "id"))

    def _on_fail(self, message: Message) -> None:
        self._collector.fail(text_field(message, "id"))


class ProgramSpout(ProgramComponent, Spout):
    """A spout that is a program."""

    _answers_errors = True

    def __init__(self, command: Sequence[str], folders: Sequence[str] = ()) -> None:
        super().__init__(command, folders)
        self._has_ended = False
        self._waiting: deque[Message] = deque()
        """Acks and fails that came while the program was busy with something else."""

    def next_tuple(self) -> None:
        """Ask the program for tuples.

        Raises:
            StopIteration: it has said that it is at its end.
        """
        self._ask({"command": "next"})
        if self._has_ended:
            raise StopIteration

    def ack(self, tup_id: Any) -> None:
        """Tell the program that a tuple has been processed."""
        self._tell({"command": "ack", "id": plain(tup_id)})

    def fail(self, tup_id: Any) -> None:
        """Tell the program that a tuple has failed."""
        self._tell({"command": "fail", "id": plain(tup_id)})

    def activate(self) -> None:
        """Tell the program that it will be asked for tuples."""
        self._ask({"command": "activate"})

    def deactivate(self) -> None:
        """Tell the program that it is asked for no more, unless it has never returned from being asked."""
        if not self._conversation.going_on:
            self._ask({"command": "deactivate"})

    def _tell(self, message: Message) -> None:
        self._waiting.append(message)
        if not self._conversation.going_on:
            self._tell_what_waits()

    def _ask(self, message: Message) -> None:
        self._conversation.ask(message)
        self._tell_what_waits()

    def _tell_what_waits(self) -> None:
        while self._waiting:
            self._conversation.ask(self._waiting.popleft())

    def _more_commands(self) -> Mapping[str, Any]:
        return {"end": self._on_end}

    def _options_of(self, message: Message) -> Mapping[str, Any]:
        tup_id = message.get("id")
        return {} if tup_id is None else {"tup_id": hashable(tup_id)}

    def _on_end(self, message: Message) -> None:
        self._has_ended = True


def _told(tup: Tuple) -> Message:
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
            f"topology.multilang.serializer is {serializer!r}: viper speaks JSON with programs, leave it out"
        )
