"""Component instances as the runtime drives them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from framework.components import Bolt, Spout, TicklessBatchingBolt, Tuple
from framework.components.batching import BatchingBolt
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.hosts.user_errors import TRIES, OnError
from framework.traits import is_generator_spout

MOST_NOTICED = 1000
"""Ticks in a row after which a bolt has noticed that nothing comes: its windows have passed by then."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a component is told about itself before `initialize`."""

    topology: str
    component: str
    task: int
    conf: dict[str, Any]
    context: dict[str, Any]
    logger: logging.Logger


class Host:
    """A component derived from our bases, and the calls that the runtime makes on it.

    Hooks are looked up on the class: a user's instance may have properties that raise
    before `initialize`, and attributes of its own under any name.
    """

    record: type[tuple[Any, ...]] = Tuple
    """The class of the tuples that the component receives."""
    on_error = OnError.STOP
    """What happens when the component raises, where the configuration leaves that open."""
    restart_tries: int | None = TRIES
    """How often the component may be restarted within a window, likewise; None for any number of times."""

    def __init__(self, component: Any) -> None:
        self.component = component
        self.cls: type[Any] = type(component)

    def bind(self, collector: TaskCollector, identity: Identity) -> None:
        """Connect the component to its task."""
        component = self.component
        component._collector = collector
        if self.cls.emit in (Bolt.emit, Spout.emit):
            component.emit = collector.outbox.emit
        self.tell(identity)

    def initialized(self, collector: TaskCollector) -> None:
        """The component has been initialized, which may have changed how it anchors."""
        if self.is_bolt and not self.anchors_itself:
            self.component.emit = collector.emit if self.cls.emit is Bolt.emit else self.component.emit

    def unbind(self, collector: TaskCollector) -> None:
        """Have every emit checked by the collector from now on, as its end may have come."""
        self.component.emit = collector.emit

    def tell(self, identity: Identity) -> None:
        """Set the attributes that streamparse's components have."""
        component = self.component
        component.topology_name = identity.topology
        component.component_name = identity.component
        component.task_id = identity.task
        component.storm_conf = identity.conf
        component.context = identity.context
        component.debug = bool(identity.conf.get("topology.debug"))
        component.logger = identity.logger
        component.pid = os.getpid()

    def initialize(self, identity: Identity) -> None:
        """Call the component's `initialize`."""
        self.component.initialize(identity.conf, identity.context)

    @property
    def process(self) -> Any:
        """The component's `process`."""
        return self.component.process

    def tick(self, tup: Any) -> None:
        """Give the component a tick."""
        self.component.process_tick(tup)

    @property
    def is_bolt(self) -> bool:
        """Whether the component receives tuples."""
        return issubclass(self.cls, Bolt)

    @property
    def answers_itself(self) -> bool:
        """Whether the component acks each tuple at a time of its own, and nobody does it for it."""
        return self.is_batching or not self.component.auto_ack

    @property
    def anchors_itself(self) -> bool:
        """Whether what is emitted is anchored to the tuple in process where nothing else is said."""
        return bool(self.component.auto_anchor)

    @property
    def fails_itself(self) -> bool:
        """Whether a tuple fails when `process` raises for it."""
        return bool(self.component.auto_fail)

    @property
    def gathered(self) -> int:
        """Tuples in the batches of a component that gathers them."""
        return sum(map(len, self.component._batches.values())) if self.is_batching else 0

    @property
    def is_batching(self) -> bool:
        """Whether the component gathers batches."""
        return issubclass(self.cls, BatchingBolt)

    @property
    def batch_seconds(self) -> float | None:
        """Seconds between two firings by a timer, for a component that has one."""
        return (
            float(self.component.secs_between_batches) if issubclass(self.cls, TicklessBatchingBolt) else None
        )

    @property
    def noticeable_ticks(self) -> int:
        """How many ticks in a row, without input between them, can make a difference to the component."""
        if not self.is_batching:
            return MOST_NOTICED
        # So many until what was gathered has fired, and as many until the next batch would fire at once.
        return 2 * (int(self.component.ticks_between_batches) + 1)

    def fire_batches(self) -> None:
        """Let a batching component process what it has gathered."""
        if self.component._batches:
            self.component.process_batches()

    @property
    def is_polled(self) -> bool:
        """Whether this is a spout that is asked through `next_tuple`."""
        return issubclass(self.cls, Spout) and not is_generator_spout(self.cls)

    @property
    def survives_errors(self) -> bool:
        """Whether the component goes on after an exception."""
        return not self.component.exit_on_exception

    def tuples(self) -> Iterator[Any] | None:
        """The generator of a generator spout, else None."""
        return iter(self.component.tuples()) if is_generator_spout(self.cls) else None

    def failed_because(self, reason: str) -> None:
        """Why the tuple has failed that a spout's `fail` is called for next."""
        self.component.failure = reason

    def abandon(self) -> None:
        """The component is not used any more, nor told so: it has raised, and another one takes its place."""

    def close(self) -> None:
        """Tell the component that it is over."""
        self.component.cleanup()
        self.component.close()
