"""The host of components that are programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from framework.frontends.multilang.components import ProgramBolt, ProgramComponent, ProgramSpout
from framework.model.topology import ComponentSpec, Role, ShellImplementation
from framework.runtime.exchange.collector import TaskCollector
from framework.runtime.tasks.hosts.faults import OnError
from framework.runtime.tasks.hosts.host import MOST_NOTICED, Host, Identity
from framework.runtime.tasks.hosts.registry import Kind, register

HEARTBEAT_S = 1.0
"""Seconds between two heartbeats to an idle bolt, as in Storm."""


class ProgramHost(Host):
    """Drives a component that is a program, of which nothing is known but what it sends."""

    component: ProgramComponent
    computes_here = False
    on_error = OnError.RESTART  # as on Storm, and as streamparse's components
    restart_tries = None  # Storm starts such a process again whenever it ends

    def __init__(self, component: ProgramComponent) -> None:
        super().__init__(component)

    def bind(self, collector: TaskCollector, identity: Identity) -> None:
        """Connect the component to its task."""
        component: Any = self.component
        component._collector = collector
        self.component.count_in(collector.counters)
        self.tell(identity)

    def initialized(self, collector: TaskCollector) -> None:
        """Do nothing: every emit of a program goes through the collector, and names its anchors."""

    def unbind(self, collector: TaskCollector) -> None:
        """Do nothing: the collector checks every emit anyway."""

    @property
    def is_batching(self) -> bool:
        """True if the component may emit without input, as a bolt may until its end."""
        return isinstance(self.component, ProgramBolt)

    @property
    def batch_seconds(self) -> float | None:
        """Seconds between two heartbeats to an idle bolt."""
        return HEARTBEAT_S if self.is_batching else None

    @property
    def gathered(self) -> int:
        """Tuples in batches; how many a program has gathered is not known."""
        return 0

    @property
    def noticeable_ticks(self) -> int:
        """Ticks in a row that can make a difference; a program may count them all."""
        return MOST_NOTICED

    def fire_batches(self) -> None:
        """Take what a bolt has emitted since its last answer."""
        if isinstance(self.component, ProgramBolt):
            self.component.heartbeat()

    @property
    def waits_for(self) -> str | None:
        """The program and what it has not answered, with what can be done about it."""
        return self.component.waits_for

    @property
    def speaks_by_itself(self) -> bool:  # type: ignore[override]
        """True if output and acks of the program may wait in a pipe, as those of a bolt do."""
        return isinstance(self.component, ProgramBolt)

    def take_answers(self) -> None:
        """Take what a bolt has emitted and acked since."""
        if isinstance(self.component, ProgramBolt):
            self.component.listen()

    def finish(self) -> bool:
        """Close the stdin of a bolt, and take what it emits then; whether it has ended."""
        return not isinstance(self.component, ProgramBolt) or self.component.finish()

    def abandon(self) -> None:
        """Kill the program."""
        self.component.abandon()

    def close(self) -> None:
        """End the program."""
        self.component.close()


def host_program(component: ComponentSpec, folders: Sequence[str]) -> ProgramHost:
    """The host of a program, which starts when it is initialized.

    Args:
        component: its spec, with the command.
        folders: the project's, see `framework.model.programs`.
    """
    assert isinstance(component.implementation, ShellImplementation)
    cls = ProgramSpout if component.role is Role.SPOUT else ProgramBolt
    return ProgramHost(cls(component.implementation, folders))


register(Kind.PROGRAM, host_program)
