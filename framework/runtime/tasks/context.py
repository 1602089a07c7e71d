"""The fixed facts about a task, which all its parts know."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from framework.model.errors import ComponentError
from framework.planning import TaskSpec
from framework.runtime.observation import TimeHistogram
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.tasks.checkpoints import TaskCheckpoints
from framework.runtime.tasks.hosts.host import Identity


@dataclass(frozen=True, slots=True)
class TaskContext:
    """One task of a plan, as all parts of the running task see it."""

    spec: TaskSpec
    """The task's component and its index there."""
    identity: Identity
    """The facts that the component gets about itself."""
    counters: TaskCounters
    """The counters of the task."""
    times: TimeHistogram = field(default_factory=TimeHistogram)
    """The processing times of its tuples.

    For a bolt, from taking a tuple from its input until the outputs for it are handed on. For a spout, from
    emitting a tracked tuple until its ack.
    """
    checkpoints: TaskCheckpoints = field(default_factory=TaskCheckpoints)
    """Its part in checkpoints."""

    @property
    def name(self) -> str:
        """``component:task id``, for messages."""
        return f"{self.spec.component}:{self.spec.id}"

    @property
    def conf(self) -> Mapping[str, Any]:
        """The component's configuration, as the component itself has left it."""
        return self.identity.conf

    @property
    def logger(self) -> logging.Logger:
        """The component's log."""
        return self.identity.logger

    @property
    def tick_seconds(self) -> float | None:
        """Seconds between two ticks; None where the component asks for none."""
        return self.conf.get("topology.tick.tuple.freq.secs") or None

    def fail(self, during: str, error: BaseException, tup: object = None, tried: str = "") -> NoReturn:
        """End the run with an error of this task.

        Args:
            during: the callback.
            error: what was raised; a ComponentError says more precisely what failed, and is raised itself.
            tup: the tuple in process, if any.
            tried: what was done about it before, if anything.

        Raises:
            ComponentError: always.
        """
        if isinstance(error, ComponentError):
            raise error
        lines = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])]
        if isinstance(error, BaseExceptionGroup):
            lines += [f"{type(one).__name__}: {one}" for one in error.exceptions]
        lines += [f"tuple: {tup!r:.1000}"] if tup is not None else []
        lines += [tried] if tried else []
        raise ComponentError(self.spec.component, self.spec.id, during, "\n  ".join(lines)) from error


class TaskStopped(BaseException):
    """Unwinds a callback that emits for ever, or must not continue because another task has failed.

    User code that catches Exception does not see it.
    """
