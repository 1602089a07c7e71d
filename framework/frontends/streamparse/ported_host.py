"""The host of streamparse's components, which are used as they are.

On Storm a pystorm component runs in a process of its own, and sends JSON over pipes through its serializer.
Here its callbacks are called directly, and its messages are taken from `send_message`, before they are JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pystorm

from framework.frontends.streamparse.construction import construct, telling
from framework.model.topology import ComponentSpec
from framework.operators.components.tuple import TICK_ID
from framework.planning.traits import class_of
from framework.runtime.exchange.collector import TaskCollector
from framework.runtime.tasks.hosts.faults import OnError
from framework.runtime.tasks.hosts.host import Host, Identity, owner_of
from framework.runtime.tasks.hosts.registry import Kind, register

_LIBRARIES = ("pystorm", "streamparse")
_RAISED = re.compile(r"Python (\w+) raised\b")
"""The method by which pystorm reports an exception."""
_LEVEL_NAMES = {0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"}


class PortedHost(Host):
    """Drives a component whose class derives from streamparse's."""

    record = pystorm.Tuple
    on_error = OnError.RESTART
    restart_tries = None  # Storm starts such a process again whenever it ends
    _answering = (
        *("ack", "fail", "raise_exception", "_handle_run_exception"),
        *("_run", "read_tuple", "is_tick", "is_heartbeat"),
    )
    """Methods that pystorm's loop calls for each tuple. A bolt whose class has one of its own runs in it."""
    _base_bolt = pystorm.Bolt

    def __init__(self, component: Any) -> None:
        super().__init__(component)
        self._messages = _Messages()

    def bind(self, collector: TaskCollector, identity: Identity) -> None:
        """Connect the component to its task."""
        component, messages = self.component, self._messages
        messages.bind(collector)
        component.serializer = messages
        if not self._is_own("send_message"):
            component.send_message = messages.send_message
        if not self._is_own("read_task_ids"):
            component.read_task_ids = messages.last_receivers
        if self._emits_at_once:
            component.emit = collector.outbox.emit
        if self._is_own("_setup_component"):
            with telling(component, lambda: self.tell(identity)):
                component._setup_component(identity.conf, identity.context)
        else:
            self.tell(identity)

    def _is_own(self, *names: str) -> bool:
        """True if any of these methods is neither pystorm's nor streamparse's, but the component's own."""
        return any(owner_of(self.cls, name).partition(".")[0] not in _LIBRARIES for name in names)

    @property
    def _emits_at_once(self) -> bool:
        """True if its `emit` need not pass through the code of pystorm."""
        return self.cls.emit in (pystorm.Bolt.emit, pystorm.Spout.emit) and not self._is_own("send_message")

    @property
    def process(self) -> Any:
        """The component's `process`, which finds its tuple in an attribute while it runs."""
        if self.answers_by_methods:
            return self._run_with
        component, process = self.component, self.component.process

        def process_as_current(tup: Any) -> None:
            component._current_tups = [tup]
            process(tup)
            component._current_tups = []  # a thread of the component may emit now, anchored to nothing

        return process_as_current

    def _run_with(self, tup: Any) -> None:
        """Run the body of pystorm's loop once, which reads this tuple, and acks it as it would on Storm."""
        component = self.component
        if self._is_own("read_tuple"):  # pystorm's own makes the tuple of a message
            component._source_tuple_types[tup.component][tup.stream] = lambda *values: tup.values
            component.read_command = partial(_message_of, tup)
        else:
            component.read_tuple = lambda: tup
        component._run()

    def raised(self, error: BaseException, tup: Any) -> None:
        """Call pystorm's `_handle_run_exception`, which lets the component report it and fail its tuples."""
        component = self.component
        if not (self.answers_by_methods or self._is_own("_handle_run_exception", "raise_exception")):
            return
        if isinstance(error, Exception):  # of others pystorm's process ends without it
            component._handle_run_exception(error)
        if self.is_batching:
            self._forget_empty_batches(component)

    def tick(self, tup: Any) -> None:
        """Give the component a tick."""
        if self.answers_by_methods:
            self._run_with(tup)
            return
        self.component._current_tups = [tup]
        with self._failed_batches_given_up():
            self.component.process_tick(tup)
        self.component._current_tups = []

    def initialized(self, collector: TaskCollector) -> None:
        """Choose the emit of a bolt, whose `initialize` may have changed how it anchors."""
        if self.is_bolt and not self.anchors_itself and self._emits_at_once:
            del self.component.emit  # pystorm's own names the anchors

    def failed_because(self, reason: str) -> None:
        """Do nothing: a ported component may have attributes of its own under any name, and is given none."""

    @property
    def is_bolt(self) -> bool:
        """True if the component receives tuples."""
        return issubclass(self.cls, pystorm.Bolt)

    @property
    def is_batching(self) -> bool:
        """True if the component gathers batches."""
        return issubclass(self.cls, pystorm.BatchingBolt)

    @property
    def batch_seconds(self) -> float | None:
        """Seconds between two firings by a timer, for a component that has one."""
        if issubclass(self.cls, pystorm.TicklessBatchingBolt):
            return float(self.component.secs_between_batches)
        return None

    def fire_batches(self) -> None:
        """Let a batching component process what it has gathered."""
        with self._failed_batches_given_up():
            if self._fires_anyway:
                self.component.process_batches()
            else:
                super().fire_batches()
        self.component._current_tups = []

    @property
    def _fires_anyway(self) -> bool:
        """True if `process_batches` is called without a batch, too, as by the timer of pystorm's thread."""
        return issubclass(self.cls, pystorm.TicklessBatchingBolt) and self._is_own("process_batches")

    @contextmanager
    def _failed_batches_given_up(self) -> Iterator[None]:
        """Fail the batch if `process_batch` raises, as pystorm's loop does; otherwise it would come again."""
        try:
            yield
        except Exception:
            if self.is_batching and not self.answers_by_methods:  # else pystorm's own method does it
                self._give_up_failed_batches(self.component)
            raise

    def _give_up_failed_batches(self, component: Any) -> None:
        """Fail the batch in process, and all others where the component does not survive the exception."""
        waiting = component._batches
        keys = [component._current_key] if self.survives_errors else list(waiting)
        failed = [tup for key in keys for tup in waiting.pop(key, ())]
        self._forget_empty_batches(component)
        for tup in failed if component.auto_fail else ():
            component.fail(tup)

    def _forget_empty_batches(self, component: Any) -> None:
        # pystorm has processed them, and leaves them there without their tuples.
        waiting = component._batches
        for key in [key for key, tups in waiting.items() if not tups]:
            del waiting[key]

    @property
    def is_polled(self) -> bool:
        """True if this is a spout; streamparse's spouts are all polled."""
        return issubclass(self.cls, pystorm.Spout)

    def tuples(self) -> Iterator[Any] | None:
        """None: streamparse's spouts have no generator."""
        return None

    def close(self) -> None:
        """Do nothing: streamparse's components have no hook for their end."""


def _message_of(tup: Any) -> dict[str, Any]:
    """A tuple as Storm would send it."""
    return {
        "id": tup.id,
        "comp": tup.component,
        "stream": tup.stream,
        "task": tup.task,
        "tuple": list(tup.values),
    }


class _Messages:
    """Executes the messages that a component would send to Storm; it stands for the serializer."""

    input_stream = output_stream = None

    def __init__(self) -> None:
        self._receivers: list[int] = []
        self._collector: TaskCollector

    def bind(self, collector: TaskCollector) -> None:
        """Have the collector of a task carry them out."""
        self._collector = collector

    def read_message(self) -> list[int]:
        """The one message that is read here: the task ids of the last emit."""
        return self._receivers

    def send_message(self, message: Any) -> None:
        """Execute a message; a ``sync`` has no meaning here, and is dropped."""
        if not isinstance(message, dict):
            self._collector.log(f"attempted to send a non dict message to Storm: {message!r:.500}", "error")
            return
        command = message.get("command")
        if command == "emit":
            self._emit(message)
        elif command in ("ack", "fail"):
            if not message["id"].startswith(TICK_ID):  # to which nobody listens, on Storm either
                (self._collector.ack if command == "ack" else self._collector.fail)(message["id"])
        elif command == "log":
            self._collector.log(message["msg"], _LEVEL_NAMES.get(message.get("level", 2)))
        elif command == "error":
            told = _RAISED.match(str(message["msg"]))
            if told is not None and self._collector.is_reported(told[1]):
                return
            self._collector.log(message["msg"], "error")
            self._collector.counters.errors += 1
        elif command == "metrics":
            self._collector.report_metric(message["name"], message["params"])

    def _emit(self, message: dict[str, Any]) -> None:
        # pystorm leaves need_task_ids out where it wants the ids, and then reads them.
        wanted = message.get("need_task_ids", True) and self._collector.tells_receivers
        options: dict[str, Any] = {"stream": message.get("stream"), "direct_task": message.get("task")}
        if message.get("id") is not None:
            options["tup_id"] = message["id"]
        if "anchors" in message:  # a bolt's: the ids of tuples
            options["anchors"] = message["anchors"]
        self._receivers = self._collector.emit(message["tuple"], need_task_ids=wanted, **options) or []

    def last_receivers(self) -> list[int]:
        """The task ids of the last emit."""
        return self._receivers


def host_ported(component: ComponentSpec, folders: Sequence[str]) -> PortedHost:
    """The host of a component whose class derives from streamparse's."""
    return PortedHost(construct(class_of(component)))


register(Kind.PORTED, host_ported)
