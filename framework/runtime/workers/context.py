"""Everything that the workers of a run share: its plan, its memory, and the callbacks to its leader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from framework.model.config import Settings
from framework.planning import Plan
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.durability.checkpoints.states import TaskReport
from framework.runtime.durability.state import StateMemory
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import RecordingPaths


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The surroundings of a `Worker` or of a `Supervisor`.

    A worker that runs in the process of the leader calls it directly; one in a process of its own sends
    messages instead.
    """

    plan: Plan
    """The whole run."""
    settings: Settings
    """The configuration with which it was planned."""
    network: Network
    """Its channels, as this process sees them."""
    memory: StateMemory | None
    """The memory of declared state, likewise; None if no component declares any."""
    stop: StopSignal
    """Asks the run to drain."""
    recording: RecordingPaths
    """The files that the run records to and replays."""
    on_look: Callable[[float], None]
    """Called with the monotonic time in seconds.

    A worker calls it at every turn of its first executor. A supervisor calls it at every message of a
    process, at every request to the run, and every `LOOK_PERIOD_S` if the quota is limited.
    """
    on_report: Callable[[TaskReport], None] = lambda report: None
    """Called by the threads of executors when a task has been saved for a checkpoint."""
    on_want: Callable[[], None] = lambda: None
    """Called by them when a task asks for a checkpoint."""
    checkpoints: Path | None = None
    """The folder of checkpoints; None if none are made."""
