"""Running a plan.

A room may import the rooms below it, never one above. The order is declared in ``tests/house/rooms.py`` and
checked by ``tests/test_house.py``; ``make imports`` draws it.

=============  ======================================================================================
at_once, run   the public face: a run from its first task to its report
commanded      how other processes drain, scale and suspend a run
handing_over   what has tasks hand key groups over while a run goes on
rebalancing    what has bolts go from worker to worker by itself
limits         what ends a run before its spouts do
beginning      where a run begins: with its input, or where another one has ended
workers        this process or worker processes: started, led through a run, replaced when they die
looking        snapshots of a run while it goes on
measured       what each task of a run has cost
report         what a run did: progress while it runs, and the report at its end
assembly       from a plan to tasks that are connected by channels
execution      a thread that runs its tasks in turn: policy, waiting, timers, cycles, watchdog
tasks          a spout's or a bolt's replica while it runs
control        how a run is stopped; signals; what runs beside the spouts
hosts          components behind one interface, ours and ported ones; what happens when they raise
inputs         what a bolt's task takes from its channel
pieces         rows of jumbo tuples with their streams, as they reach a bolt's component
edges          what a task emits, on its way to the channels of its consumers
tracking       trees of tracked tuples: acks, fails, timeouts
positions      where tuples stand in the order: clocks of sources, descent, ticks, offsets
metrics        what is counted
=============  ======================================================================================
"""

from framework.runtime.at_once import run
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.statistics import RunStatistics
from framework.runtime.report import Progress, RunReport
from framework.runtime.run import Run

__all__ = [
    "Incident",
    "Progress",
    "Run",
    "RunReport",
    "RunStatistics",
    "StopReason",
    "StopSignal",
    "TaskCounters",
    "run",
]
