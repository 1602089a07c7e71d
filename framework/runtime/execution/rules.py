"""The rules by which an executor runs its tasks."""

from __future__ import annotations

from dataclasses import dataclass

from framework.runtime.execution.idle import IdleStrategy
from framework.runtime.execution.policy import Policy

LONGEST_WAIT_S = 1.0
"""Longest time in seconds that an idle executor waits. Whatever it waits for wakes it, but for a process that
dies just after it has done something, and before it could say so."""
LOOK_PERIOD_S = 0.1
"""The same while it waits for what nobody wakes it for: the end of a drain, of a cycle, or of the quota,
which spouts of other executors may use up; and while spouts pass time that nobody asks for."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules by which an executor runs its tasks."""

    policy: Policy
    """Chooses among the tasks that are runnable."""
    idle: IdleStrategy
    """Waits while no task is runnable."""
    max_slice: int
    """Most tuples that a task processes before another is chosen."""
    drain_timeout_s: float
    """Seconds after which a drain is given up."""
    longest_wait_s: float = LONGEST_WAIT_S
    """Longest time in seconds that the executor waits without a look at its tasks."""
