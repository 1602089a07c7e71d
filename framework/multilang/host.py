"""Programs as the runtime drives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from framework.multilang.components import ProgramBolt, ProgramComponent, ProgramSpout
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.hosts.faults import OnError
from framework.runtime.hosts.host import MOST_NOTICED, Host, Identity
from framework.topology import Role

HEARTBEAT_S = 1.0
"""Seconds between two looks at what an idle bolt has emitted, as in Storm."""


class ProgramHost(Host):
    """A component that is a program."""

    component: ProgramComponent
    on_error = OnError.RESTART  # as on Storm, and as streamparse's components
    restart_tries = None  # Storm starts such a process again whenever it ends

    def __init__(self, component: ProgramComponent) -> None:
        super().__init__(component)

    def bind(self, collector: TaskCollector, identity: Identity) -> None:
        """Connect the component to its task."""
        component: Any = self.component
        component._collector = collector
        self.component.counters = collector.counters
        self.tell(identity)

    def initialized(self, collector: TaskCollector) -> None:
        """Nothing that a program does is known here."""

    def unbind(self, collector: TaskCollector) -> None:
        """Everything goes through the collector anyway."""

    @property
    def is_batching(self) -> bool:
        """Whether the component may have emitted without input, as bolts may up to their end."""
        return isinstance(self.component, ProgramBolt)

    @property
    def batch_seconds(self) -> float | None:
        """Seconds between two looks at an idle bolt."""
        return HEARTBEAT_S if self.is_batching else None

    @property
    def gathered(self) -> int:
        """Tuples that a program has gathered are not known."""
        return 0

    @property
    def noticeable_ticks(self) -> int:
        """Nobody knows what a program makes of ticks."""
        return MOST_NOTICED

    def fire_batches(self) -> None:
        """Take what the component has emitted by itself."""
        if isinstance(self.component, ProgramBolt):
            self.component.heartbeat()

    def abandon(self) -> None:
        """Kill the program."""
        self.component.abandon()

    def close(self) -> None:
        """End the program."""
        self.component.close()


def host_program(command: Sequence[str], role: Role, folders: Sequence[str]) -> ProgramHost:
    """The host of a program, which is started when it is initialized.

    Args:
        command: the program and its arguments.
        role: what it is.
        folders: the project's, see `framework.multilang.places`.
    """
    cls = ProgramSpout if role is Role.SPOUT else ProgramBolt
    return ProgramHost(cls(command, folders))
