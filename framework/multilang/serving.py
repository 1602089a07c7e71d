"""What is done with a component of ours for each message that the runtime sends to it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from framework.components.tuple import TICK_COMPONENT, TICK_STREAM, Tuple
from framework.multilang.telling import Teller
from framework.multilang.wire import Wire
from framework.runtime.hosts.host import Host, Identity
from framework.runtime.inputs.pieces import values_class

_HEARTBEAT = (None, "__heartbeat", -1)
_SYNC = {"command": "sync"}


class Served(ABC):
    """A component that has been initialized."""

    def __init__(self, host: Host, wire: Wire, teller: Teller, identity: Identity) -> None:
        self.host = host
        self.wire = wire
        self.teller = teller
        self.identity = identity

    def serve(self) -> int:
        """Serve until there is nobody to serve; the exit status."""
        try:
            while True:
                self.answer(self.wire.command())
        except EOFError:
            return 0
        except _Left:
            return 1

    @abstractmethod
    def answer(self, message: dict[str, Any]) -> None:
        """Do what a message asks for."""

    def guarded(self, call: Callable[..., object], *args: Any) -> bool:
        """Call the component; whether that went well. It is left if it does not survive what it raises."""
        try:
            call(*args)
        except Exception as error:
            if isinstance(error, EOFError):
                raise
            tup = args[0] if args and isinstance(args[0], Tuple) else None
            self.teller.report_error(error, tup)
            if tup is not None and self.host.component.auto_fail:
                self.teller.fail(tup)
            if not self.host.survives_errors:
                raise _Left from error
            return False
        return True


class _Left(Exception):
    """The component has raised, and does not go on."""


class ServedBolt(Served):
    """A bolt."""

    def __init__(self, host: Host, wire: Wire, teller: Teller, identity: Identity) -> None:
        super().__init__(host, wire, teller, identity)
        self._fields = identity.context["source->stream->fields"]
        seconds = host.batch_seconds
        self._seconds = float("inf") if seconds is None else seconds
        self._due_s = time.monotonic() + self._seconds

    def answer(self, message: dict[str, Any]) -> None:
        """Process a tuple, or a tick; a heartbeat is the time for batches that are due by a timer."""
        origin = (message["comp"], message["stream"], message["task"])
        if origin == _HEARTBEAT:
            self._fire_if_due()
            self.wire.send(_SYNC)
            return
        tup = Tuple(str(message["id"]), *origin, self._values(message))
        self.teller.anchor = tup.id if self.host.component.auto_anchor else None
        if origin[:2] == (TICK_COMPONENT, TICK_STREAM):
            self.guarded(self.host.tick, tup)
        elif self.guarded(self.host.process, tup) and self._acks_each:
            self.teller.ack(tup)
        self.teller.anchor = None

    def _fire_if_due(self) -> None:
        now = time.monotonic()
        if now >= self._due_s:
            self._due_s = now + self._seconds
            self.guarded(self.host.fire_batches)

    def _values(self, message: dict[str, Any]) -> tuple[Any, ...]:
        source, stream = message["comp"], message["stream"]
        fields = self._fields.get(source, {}).get(stream)
        cls = values_class(source, stream, tuple(fields)) if fields else tuple
        return tuple.__new__(cls, message["tuple"])

    @property
    def _acks_each(self) -> bool:
        return bool(self.host.component.auto_ack) and not self.host.is_batching


class ServedSpout(Served):
    """A spout."""

    def __init__(self, host: Host, wire: Wire, teller: Teller, identity: Identity) -> None:
        super().__init__(host, wire, teller, identity)
        self._generator = host.tuples()

    def answer(self, message: dict[str, Any]) -> None:
        """Do one command; the end of a spout is told as ``end``."""
        component, command = self.host.component, message["command"]
        if command == "next":
            self.guarded(self._next)
        elif command in ("ack", "fail"):
            self.guarded(getattr(component, command), message["id"])
        else:
            self.guarded(getattr(component, command))
        self.wire.send(_SYNC)

    def _next(self) -> None:
        try:
            if self._generator is None:
                self.host.component.next_tuple()
                return
            values = next(self._generator)
        except StopIteration:
            self.wire.send({"command": "end"})
            return
        if values is not None:
            self.host.component.emit(values)
