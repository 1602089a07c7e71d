"""Repair of shared memory after the death of a worker process, for the process that replaces it.

A channel that crosses processes carries bytes, so tuples that wait there are kept for the new process. If a
producer and all its readers were in one process, the channel held references to objects of that process, and
the waiting tuples are lost. In a run that recovers exactly, all channels carry bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framework.planning import Plan
from framework.runtime.durability.recovery import RecoveryMemory, Repeat
from framework.runtime.durability.state import SharedMemory
from framework.runtime.execution.assembly.network import Network, Way
from viper.gate import ScaleGate


@dataclass(frozen=True, slots=True)
class Loss:
    """The tuples and the state that were lost with a worker process."""

    tuples: int
    """The number of untracked tuples that were lost, counted once for each task that they were for."""
    state: list[str]
    """Components with a task there that had not ended, is not declared stateless, and declares no state."""
    repeats: Sequence[Repeat] = ()
    """The work that the successors of its tasks repeat."""


def reclaim(
    plan: Plan,
    network: Network,
    process: int,
    recovery: RecoveryMemory | None = None,
    shared: SharedMemory | None = None,
) -> Loss:
    """Repair everything that a dead process was in the midst of, before it is replaced; return the loss.

    Args:
        plan: what is run.
        network: its channels, as the parent sees them.
        process: index of the process in the plan's placement.
        recovery: the pages of its tasks; None where what was in process is lost.
        shared: the tables that transactions share; None where there are none.
    """
    executors = plan.placement.processes[process]
    dead = frozenset(task for index in executors for task in plan.placement.executors[index].tasks)
    loss = (
        _repaired(plan, network, dead) if recovery is None else _rewound(plan, network, recovery, dead)
    )
    for index in executors:
        network.bells[index].take_over()
    network.take_over_stand_in(process)
    if shared is not None:
        shared.bury(process)
        for bell in network.bells:  # of those who wait for what the dead had begun to evaluate
            bell.ring()
    network.quota_of(process).bury()
    network.black_box(process).clear()
    if network.forest is not None:
        network.forest.incident()
    return loss


def _rewound(plan: Plan, network: Network, recovery: RecoveryMemory, dead: frozenset[int]) -> Loss:
    """Have tasks resume from their last commits: nothing is lost but rows that a sink keeps in memory."""
    for (sources, _), gate in network.gates():
        for index, task in enumerate(sources):
            if task in dead:
                gate.source(index).recover()
    repeats = [recovery.rewind(task) for task in dead]
    components = dict.fromkeys(task.component for task in plan.tasks if task.id in dead)
    return Loss(0, [id for id in components if plan.traits[id].forgets], repeats)


def _repaired(plan: Plan, network: Network, dead: frozenset[int]) -> Loss:
    """Have tasks continue after the tuples that were in process."""
    state = _state_lost(plan, network, dead)
    tuples = sum(_reclaimed(gate, way, dead) for way, gate in network.gates())
    for task in dead:
        if network.has_ended(task):  # and died before it could say so everywhere
            for outlet in network.outlets(task):
                outlet.close()
    return Loss(tuples, state)


def _state_lost(plan: Plan, network: Network, dead: frozenset[int]) -> list[str]:
    unfinished = {task for task in dead if not network.has_ended(task)}
    components = dict.fromkeys(task.component for task in plan.tasks if task.id in unfinished)
    return [id for id in components if not plan.confs[id]["viper.stateless"] and not plan.traits[id].states]


def _reclaimed(gate: ScaleGate, way: Way, dead: frozenset[int]) -> int:
    sources, readers = way
    producing = [index for index, task in enumerate(sources) if task in dead]
    for index in producing:
        gate.source(index).recover()
    lost = sum(gate.bury_reader(index) for index, task in enumerate(readers) if task in dead)
    if dead.issuperset(readers):
        lost += sum(gate.drop(index) for index in producing)
    return lost
