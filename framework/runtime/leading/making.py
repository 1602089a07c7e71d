"""Makes those who do the work of a run: executors of this process, or worker processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from framework.model.config import Settings
from framework.planning import Plan, WorkerKind
from framework.runtime.coordination.cut_leader import CutLeader
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.durability.state import StateMemory
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import RecordingPaths
from framework.runtime.leading.checkpointing import Checkpointing
from framework.runtime.workers.going_back import Attempts
from framework.runtime.workers.group import WorkerGroup
from framework.runtime.workers.worker import Worker


def make_workers(
    plan: Plan,
    settings: Settings,
    network: Network,
    *,
    memory: StateMemory | None,
    stop: StopSignal,
    recording: RecordingPaths,
    on_look: Callable[[float], None],
    checkpointing: Checkpointing | None,
    leader: CutLeader | None,
    folder: Path | None,
    attempts: Attempts,
) -> WorkerGroup:
    """Make the workers that a plan asks for.

    Args:
        plan: the whole run.
        settings: the configuration it was planned with.
        network: its channels.
        memory: of declared state; None where no component declares any.
        stop: asks the run to drain.
        recording: the files that the run records to and replays.
        on_look: called with the monotonic time in seconds whenever they have nothing else in hand.
        checkpointing: is told what tasks have saved; None where no checkpoints are made.
        leader: has sources agree, which is void if a process dies; None where they never have to.
        folder: that of the checkpoints.
        attempts: what the run keeps of those from which it has gone back.
    """
    on_report = (lambda report: None) if checkpointing is None else checkpointing.note
    on_want = (lambda: None) if checkpointing is None else checkpointing.want
    checkpoints = None if folder is None else folder.absolute()
    if plan.placement.kind is WorkerKind.PROCESS:
        from framework.runtime.workers.supervisor import Supervisor  # a run in this process needs none

        return Supervisor(
            plan,
            settings,
            network,
            memory=memory,
            stop=stop,
            recording=recording,
            on_look=on_look,
            on_report=on_report,
            on_want=on_want,
            on_death=(lambda: None) if leader is None else leader.interrupt,
            checkpoints=checkpoints,
            attempts=attempts,
        )
    return Worker(
        plan,
        settings,
        network,
        memory=memory,
        stop=stop,
        recording=recording,
        on_look=on_look,
        on_report=on_report,
        on_want=on_want,
        checkpoints=checkpoints,
    )
