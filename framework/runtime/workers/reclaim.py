"""What a worker process leaves in shared memory when it dies, set right for its successor.

A channel that crosses processes carries bytes: what waits there is for the successor. Where a producer and
all its readers were in the one process, it held references into that one's memory, and what waited is gone.
"""

from __future__ import annotations

from framework.planning import Plan
from framework.runtime.assembly.network import Network, Way
from viper.gate import ScaleGate


def bury(plan: Plan, network: Network, process: int) -> int:
    """Set right what a dead process was in the midst of; nobody may have taken its place yet.

    Args:
        plan: what is run.
        network: its channels, as the parent sees them.
        process: index of the process in the plan's placement.

    Returns:
        How many tuples that nobody tracks are lost, each task's input counted by itself.
    """
    executors = plan.placement.processes[process]
    dead = frozenset(task for index in executors for task in plan.placement.executors[index].tasks)
    lost = sum(_bury_at(gate, way, dead) for way, gate in network.gates())
    for task in dead:
        if network.has_ended(task):  # and died before it could say so everywhere
            for outlet in network.outlets(task):
                outlet.close()
    for index in executors:
        network.bells[index].take_over()
    network.quota_of(process).bury()
    if network.forest is not None:
        network.forest.incident()
    return lost


def _bury_at(gate: ScaleGate, way: Way, dead: frozenset[int]) -> int:
    sources, readers = way
    producing = [index for index, task in enumerate(sources) if task in dead]
    for index in producing:
        gate.source(index).recover()
    lost = sum(gate.bury_reader(index) for index, task in enumerate(readers) if task in dead)
    if dead.issuperset(readers):
        lost += sum(gate.drop(index) for index in producing)
    return lost
