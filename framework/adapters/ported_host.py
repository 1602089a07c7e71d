"""streamparse's components, hosted as they are.

A pystorm component speaks JSON over pipes through its serializer, from a process of
its own. Here the instance is the very same, but what it would write is taken from
`send_message`, and its callbacks are called directly.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pystorm
import pystorm.bolt
import pystorm.component

from framework.runtime.edges.collector import TaskCollector
from framework.runtime.hosts.faults import OnError
from framework.runtime.hosts.host import Host, Identity

_LEVEL_NAMES = {0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"}


class PortedHost(Host):
    """A component derived from streamparse's bases."""

    record = pystorm.Tuple
    on_error = OnError.RESTART
    restart_tries = None  # Storm starts such a process again whenever it ends

    def bind(self, collector: TaskCollector, identity: Identity) -> None:
        """Connect the component to its task."""
        component = self.component
        messages = _Messages(collector)
        component.send_message = messages.send
        component.read_task_ids = messages.last_receivers
        if self.cls.emit in (pystorm.Bolt.emit, pystorm.Spout.emit):
            component.emit = collector.outbox.emit
        self.tell(identity)

    @property
    def process(self) -> Any:
        """The component's `process`, with the attribute that it expects around it."""
        component, process = self.component, self.component.process

        def process_as_current(tup: Any) -> None:
            component._current_tups = [tup]
            process(tup)
            component._current_tups = []  # what a thread of the component's emits now depends on no tuple

        return process_as_current

    def tick(self, tup: Any) -> None:
        """Give the component a tick."""
        self.component._current_tups = [tup]
        with self._failed_batches_given_up():
            self.component.process_tick(tup)
        self.component._current_tups = []

    def initialized(self, collector: TaskCollector) -> None:
        """The component has been initialized, which may have changed how it anchors."""
        if self.is_bolt and not self.anchors_itself and self.cls.emit is pystorm.Bolt.emit:
            del self.component.emit  # pystorm's own says what it is anchored to

    def failed_because(self, reason: str) -> None:
        """A ported component may have any attribute of its own, and is given none."""

    @property
    def is_bolt(self) -> bool:
        """Whether the component receives tuples."""
        return issubclass(self.cls, pystorm.Bolt)

    @property
    def is_batching(self) -> bool:
        """Whether the component gathers batches."""
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
            super().fire_batches()
        self.component._current_tups = []

    @contextmanager
    def _failed_batches_given_up(self) -> Iterator[None]:
        """As pystorm's own loop does when `process_batch` raises, or the batch would come again for ever."""
        try:
            yield
        except Exception:
            if self.is_batching:
                self._give_up_failed_batches(self.component)
            raise

    def _give_up_failed_batches(self, component: Any) -> None:
        """Fail the batch in process; all others as well where the component does not go on."""
        waiting = component._batches
        keys = [component._current_key] if self.survives_errors else list(waiting)
        failed = [tup for key in keys for tup in waiting.pop(key, ())]
        # The batches before it are done, but pystorm leaves them there, emptied.
        for key in [key for key, tups in waiting.items() if not tups]:
            del waiting[key]
        for tup in failed if component.auto_fail else ():
            component.fail(tup)

    @property
    def is_polled(self) -> bool:
        """Whether this is a spout; all ported ones are polled."""
        return issubclass(self.cls, pystorm.Spout)

    def tuples(self) -> Iterator[Any] | None:
        """Ported spouts have no generator."""
        return None

    def close(self) -> None:
        """streamparse's components have no hook for their end."""


class _Messages:
    """Takes the messages that a component would write to Storm."""

    def __init__(self, collector: TaskCollector) -> None:
        self._collector = collector
        self._receivers: list[int] = []

    def send(self, message: Any) -> None:
        """Do what a message asks for; what says that both sides are in step, there is no need for."""
        if not isinstance(message, dict):
            self._collector.log(f"attempted to send a non dict message to Storm: {message!r:.500}", "error")
            return
        command = message.get("command")
        if command == "emit":
            self._emit(message)
        elif command == "ack":
            self._collector.ack(message["id"])
        elif command == "fail":
            self._collector.fail(message["id"])
        elif command == "log":
            self._collector.log(message["msg"], _LEVEL_NAMES.get(message.get("level", 2)))
        elif command == "error":
            self._collector.log(message["msg"], "error")
            self._collector.counters.errors += 1
        elif command == "metrics":
            self._collector.report_metric(message["name"], message["params"])

    def _emit(self, message: dict[str, Any]) -> None:
        # pystorm asks for the ids by reading; it leaves need_task_ids out when it wants them.
        wanted = message.get("need_task_ids", True)
        options: dict[str, Any] = {"stream": message.get("stream"), "direct_task": message.get("task")}
        if message.get("id") is not None:
            options["tup_id"] = message["id"]
        if "anchors" in message:  # a bolt's: the ids of tuples
            options["anchors"] = message["anchors"]
        self._receivers = self._collector.emit(message["tuple"], need_task_ids=wanted, **options) or []

    def last_receivers(self) -> list[int]:
        """The task ids of the last emit."""
        return self._receivers


class _NoSerializer:
    """Stands in for a serializer while a component is constructed: nothing is read or written."""

    def __init__(self, *_streams: Any) -> None:
        self.output_stream = self.input_stream = None


_constructing = threading.RLock()
"""What is different for the whole process while a component is constructed is so for one at a time."""


def construct(cls: type[Any]) -> Any:
    """A ported component, constructed as streamparse does it, without pipes, signal handlers or threads.

    A `TicklessBatchingBolt` starts its timer thread in its constructor; that thread ends at
    once here, and the task's worker calls `process_batches` when it is due.
    """
    component: Any = cls.__new__(cls)  # type: ignore[call-overload]
    if issubclass(cls, pystorm.TicklessBatchingBolt):
        component._batch_entry = lambda: None
    with _constructing, _no_serializers(), _signals_kept(), _thread_name_kept():
        component.__init__(serializer="json")
    return component


@contextmanager
def _no_serializers() -> Iterator[None]:
    serializers = pystorm.component._SERIALIZERS
    before = dict(serializers)
    serializers.update(dict.fromkeys(before, _NoSerializer))
    try:
        yield
    finally:
        serializers.update(before)


@contextmanager
def _signals_kept() -> Iterator[None]:
    before = signal.signal
    signal.signal = lambda signalnum, handler: signal.getsignal(signalnum)
    try:
        yield
    finally:
        signal.signal = before


@contextmanager
def _thread_name_kept() -> Iterator[None]:
    thread = threading.current_thread()
    name = thread.name
    try:
        yield
    finally:
        thread.name = name
