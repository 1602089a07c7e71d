"""Serves a component of ours as a program.

``python -m framework.frontends.multilang.serve module.Class [ARGUMENTS]`` does.

ARGUMENTS are those of its constructor, as JSON: ``{"args": [], "kwargs": {}}``; either may be left out. The
program runs under this project's runtime and under Storm. So does a module that ends with `Component.run`.
"""

from __future__ import annotations

import builtins
import json
import logging
import os
import sys
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from framework.frontends.multilang.connection import Connection, ConnectionCollector, ConnectionLog
from framework.frontends.multilang.messages import ENDS_ARE_KNOWN, Message
from framework.model.errors import LoadError, ProgramError
from framework.model.importing import import_class
from framework.operators.components import Bolt, Later, PartitionedSpout
from framework.operators.components.component import LOGGER_PREFIX, Component
from framework.operators.components.levels import LEVELS
from framework.operators.components.tuple import TICK_COMPONENT, TICK_STREAM, Tuple
from framework.operators.log import Origin, printing_to_log, speaking_as
from framework.operators.sinks import Sink
from framework.runtime.exchange.inputs import values_class
from framework.runtime.tasks.hosts.host import Host, Identity
from framework.runtime.tasks.hosts.registry import host_of

_HEARTBEAT = (None, "__heartbeat", -1)
_SYNC: Message = {"command": "sync"}


def main(arguments: Sequence[str]) -> None:
    """Serve until stdin ends; the exit status is 1 if the component raises and does not survive that.

    It is 2, with the usage on stderr, if the arguments name no component.
    """
    path, args, kwargs = _parsed(arguments)
    connection = Connection.of_this_process()
    try:
        cls = import_class(path)
    except LoadError as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        _refuse(str(error))
    _serve(cls(*args, **kwargs), connection)


_USAGE: Final = """\
usage: python -m framework.frontends.multilang.serve MODULE.CLASS [ARGUMENTS]
ARGUMENTS are those of the constructor, as JSON: {"args": [], "kwargs": {}}"""


def _parsed(arguments: Sequence[str]) -> tuple[str, list[Any], dict[str, Any]]:
    """The path of a class, and the arguments of its constructor, from those of the command."""
    if len(arguments) not in (1, 2):
        _refuse(f"expected 1 or 2 arguments, found {len(arguments)}")
    text = arguments[1] if len(arguments) == 2 else "{}"
    try:
        found = json.loads(text)
    except ValueError as error:
        _refuse(f"ARGUMENTS are no JSON: {error}: found {text!r}")
    if not isinstance(found, dict) or found.keys() - {"args", "kwargs"}:
        _refuse(f"ARGUMENTS must be an object with args and kwargs only: found {text!r}")
    args, kwargs = found.get("args", []), found.get("kwargs", {})
    if not (isinstance(args, list) and isinstance(kwargs, dict)):
        _refuse(f"args must be a list, and kwargs an object: found {text!r}")
    return arguments[0], args, kwargs


def _refuse(mistake: str) -> NoReturn:
    print(f"{mistake}\n{_USAGE}", file=sys.stderr)
    sys.exit(2)


def serve(component: Component) -> NoReturn:
    """Serve a component over stdin and stdout of this process until stdin ends; then end the process.

    Raises:
        ProgramError: the protocol does not know what such a component does; or this is an interactive
            session, whose stdin and stdout are not those of a program.
    """
    name = type(component).__name__
    if isinstance(component, Sink | PartitionedSpout):
        what = "a sink belongs" if isinstance(component, Sink) else "a spout of partitions belongs"
        raise ProgramError(
            f"{name}.run(): {what} to the runtime, and cannot be a program: name its class in a topology"
        )
    if hasattr(sys, "ps1") or "get_ipython" in vars(builtins):
        raise ProgramError(
            f"{name}.run() serves a program that a runtime has started, and this is an interactive session: "
            "viperstorm.run(topology) runs a topology here"
        )
    try:
        _serve(component, Connection.of_this_process())
    except _NoHandshakeError:
        sys.exit(
            f"{name}.run(): stdin ended before a handshake came: a runtime starts this as a program "
            "(viper run TOPOLOGY)"
        )


class _NoHandshakeError(Exception):
    """Stdin has ended before the runtime has said anything."""


def _serve(component: Any, connection: Connection) -> NoReturn:
    host, collector = host_of(component), ConnectionCollector(connection)
    identity = _shake_hands(connection)
    component._collector = collector
    host.tell(identity)
    with speaking_as(Origin(identity.component, identity.task)), printing_to_log():
        host.initialize(identity)
        served = ServedBolt if issubclass(host.cls, Bolt) else ServedSpout
        status = served(host, connection, collector, identity).serve()
        host.close()
    _exit(status)


def _shake_hands(connection: Connection) -> Identity:
    """Answer the handshake; from then on what is logged is sent."""
    try:
        setup = connection.receive()
    except EOFError as error:
        raise _NoHandshakeError from error
    conf, context = setup["conf"], setup["context"]
    component, task = context["componentid"], context["taskid"]
    Path(setup["pidDir"], str(os.getpid())).touch()
    connection.send({"pid": os.getpid()})
    level = "debug" if conf.get("topology.debug") else conf.get("pystorm.log.level", "info")
    logging.basicConfig(level=LEVELS[level], handlers=[ConnectionLog(connection)], format="%(message)s")
    logger = logging.getLogger(f"{LOGGER_PREFIX}.{component}")
    return Identity(conf.get("topology.name", ""), component, task, conf, context, logger)


def _exit(status: int) -> NoReturn:
    """End this process, even if threads of the component are still running."""
    if threading.active_count() == 1:
        sys.exit(status)
    sys.stderr.flush()
    os._exit(status)


class Served(ABC):
    """A component that has been initialized, and executes the messages that the runtime sends."""

    def __init__(
        self, host: Host, connection: Connection, collector: ConnectionCollector, identity: Identity
    ) -> None:
        self.host = host
        self.connection = connection
        self.collector = collector
        self.identity = identity

    def serve(self) -> int:
        """Execute messages until the runtime closes the connection; returns the exit status."""
        try:
            while True:
                self.execute(self.connection.receive())
        except EOFError:
            return 0
        except _Died:
            return 1

    @abstractmethod
    def execute(self, message: Message) -> None:
        """Do what a message asks for."""

    def guarded(self, call: Callable[..., object], *args: Any) -> bool:
        """Call the component, and report what it raises.

        Returns:
            True if it did not raise.
        """
        try:
            call(*args)
        except Exception as error:
            if isinstance(error, EOFError):
                raise
            tup = args[0] if args and isinstance(args[0], Tuple) else None
            self.collector.report_error(error, tup)
            with self.collector.reported(error):
                self.host.raised(error, tup)
            if tup is not None and self.host.fails_itself:
                self.collector.fail(tup)
            if not self.host.survives_errors:
                raise _Died from error
            return False
        return True


class _Died(Exception):
    """The component has raised an exception that it does not survive."""


class ServedBolt(Served):
    """A bolt, to which tuples, ticks and heartbeats are sent."""

    def __init__(
        self, host: Host, connection: Connection, collector: ConnectionCollector, identity: Identity
    ) -> None:
        super().__init__(host, connection, collector, identity)
        self._fields = identity.context["source->stream->fields"]
        seconds = host.batch_seconds
        self._seconds = float("inf") if seconds is None else seconds
        self._due_s = time.monotonic() + self._seconds

    def execute(self, message: Message) -> None:
        """Process a tuple or a tick; at a heartbeat, process the batches whose time has come."""
        origin = (message["comp"], message["stream"], message["task"])
        if origin == _HEARTBEAT:
            self._fire_if_due()
            self.connection.send(_SYNC)
            return
        tup = Tuple(str(message["id"]), *origin, self._values(message))
        self.collector.anchor_to(tup.id if self.host.component.auto_anchor else None)
        if origin[:2] == (TICK_COMPONENT, TICK_STREAM):
            self.guarded(partial(self._call, self.host.tick), tup)
            self.collector.anchor_to(None)
            return
        host = self.host
        process = host.component.process if host.takes_rows else host.process  # of a batch bolt for one row
        if self.guarded(partial(self._call, process), tup) and not host.answers_itself:
            self.collector.ack(tup)
        self.collector.anchor_to(None)

    def _call(self, callback: Callable[[Tuple], object], tup: Tuple) -> None:
        has_raised = True
        try:
            callback(tup)
            has_raised = False
        finally:
            self.collector.call_returned(has_raised=has_raised)

    def _fire_if_due(self) -> None:
        now = time.monotonic()
        if now >= self._due_s:
            self._due_s = now + self._seconds
            self.guarded(self.host.fire_batches)

    def _values(self, message: Message) -> tuple[Any, ...]:
        source, stream = message["comp"], message["stream"]
        fields = self._fields.get(source, {}).get(stream)
        cls = values_class(source, stream, tuple(fields)) if fields else tuple
        return tuple.__new__(cls, message["tuple"])


class ServedSpout(Served):
    """A spout, to which commands are sent.

    Storm's spouts never end: it kills the worker of a spout that sends ``end``. So a spout that has ended
    sends it only where the handshake says that it is known, and otherwise answers that it has no tuples.
    """

    def __init__(
        self, host: Host, connection: Connection, collector: ConnectionCollector, identity: Identity
    ) -> None:
        super().__init__(host, connection, collector, identity)
        self._generator = host.tuples()
        self._later: Later | None = None
        """The time that the spout has named, before which it has nothing."""
        self._has_ended = False

    def execute(self, message: Message) -> None:
        """Execute one command, and answer it."""
        component, command = self.host.component, message["command"]
        if command == "next":
            if not self._has_ended:
                self.guarded(self._next)
        elif command in ("ack", "fail"):
            self._has_heard()
            self.guarded(getattr(component, command), message["id"])
        else:
            self._has_heard()
            self.guarded(getattr(component, command))
        self.connection.send(_SYNC)

    def _has_heard(self) -> None:
        if self._generator is None:  # what is polled may have something now
            self._later = None

    def _next(self) -> None:
        if self._later is not None and not self._later.has_come(time.monotonic()):
            return
        try:
            if self._generator is None:
                answer = self.host.component.next_tuple()
                self._later = answer if type(answer) is Later else None
                return
            values = next(self._generator)
            if type(values) is Later and values.has_come(time.monotonic()):
                values = next(self._generator)
        except StopIteration:
            self._end()
            return
        self._later = values if type(values) is Later else None
        if values is not None and self._later is None:
            self.host.component.emit(values)

    def _end(self) -> None:
        self._has_ended = True
        if self.identity.conf.get(ENDS_ARE_KNOWN):
            self.connection.send({"command": "end"})
        else:
            self.identity.logger.info("the spout has ended: it answers from now on that it has no tuples")


if __name__ == "__main__":
    main(sys.argv[1:])
