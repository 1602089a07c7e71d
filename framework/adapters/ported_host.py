"""The host of streamparse's components, which are used as they are.

On Storm a pystorm component runs in a process of its own, and sends JSON over pipes through its serializer.
Here its callbacks are called directly, and its messages are taken from `send_message`, before they are JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pystorm

from framework.adapters.streamparse.construction import construct
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.hosts.faults import OnError
from framework.runtime.hosts.host import Host, Identity
from framework.runtime.hosts.registry import Kind, register
from framework.topology import ComponentSpec
from framework.traits import class_of

_LEVEL_NAMES = {0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"}


class PortedHost(Host):
    """Drives a component whose class derives from streamparse's."""

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
        """The component's `process`, which finds its tuple in an attribute while it runs."""
        component, process = self.component, self.component.process

        def process_as_current(tup: Any) -> None:
            component._current_tups = [tup]
            process(tup)
            component._current_tups = []  # a thread of the component may emit now, anchored to nothing

        return process_as_current

    def tick(self, tup: Any) -> None:
        """Give the component a tick."""
        self.component._current_tups = [tup]
        with self._failed_batches_given_up():
            self.component.process_tick(tup)
        self.component._current_tups = []

    def initialized(self, collector: TaskCollector) -> None:
        """Choose the emit of a bolt, whose `initialize` may have changed how it anchors."""
        if self.is_bolt and not self.anchors_itself and self.cls.emit is pystorm.Bolt.emit:
            del self.component.emit  # pystorm's own names the anchors

    def failed_because(self, reason: str) -> None:
        """Do nothing: a ported component may have attributes of its own under any name, and is given none."""

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
        """Fail the batch if `process_batch` raises, as pystorm's loop does; otherwise it would come again."""
        try:
            yield
        except Exception:
            if self.is_batching:
                self._give_up_failed_batches(self.component)
            raise

    def _give_up_failed_batches(self, component: Any) -> None:
        """Fail the batch in process, and all others where the component does not survive the exception."""
        waiting = component._batches
        keys = [component._current_key] if self.survives_errors else list(waiting)
        failed = [tup for key in keys for tup in waiting.pop(key, ())]
        # pystorm has processed the batches before it, and leaves them there without their tuples.
        for key in [key for key, tups in waiting.items() if not tups]:
            del waiting[key]
        for tup in failed if component.auto_fail else ():
            component.fail(tup)

    @property
    def is_polled(self) -> bool:
        """Whether this is a spout; streamparse's spouts are all polled."""
        return issubclass(self.cls, pystorm.Spout)

    def tuples(self) -> Iterator[Any] | None:
        """None: streamparse's spouts have no generator."""
        return None

    def close(self) -> None:
        """Do nothing: streamparse's components have no hook for their end."""


class _Messages:
    """Executes the messages that a component would send to Storm."""

    def __init__(self, collector: TaskCollector) -> None:
        self._collector = collector
        self._receivers: list[int] = []

    def send(self, message: Any) -> None:
        """Execute a message; a ``sync`` has no meaning here, and is dropped."""
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
