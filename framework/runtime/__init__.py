"""Running a plan.

A room may import the rooms below it, never one above. The order is declared in ``tests/house/rooms.py`` and
checked by ``tests/test_house.py``; ``make imports`` draws it.

- `run`, `options`: the public face: a run from its first task to its report, and all its options
- `report`: the progress of a run, and the report at its end
- `leading`: the work of the leading process beside the run: beginning, observation, commands
- `workers`: this process or worker processes: started, led through a run, replaced when they die
- `execution`: a thread that runs its tasks in turn: policy, waiting, timers; the making of tasks
- `tasks`: a spout's or a bolt's replica while it runs, and the hosts of components
- `exchange`: the way from an emit to a bolt's input: buffers, groupings, channels, pieces of jumbo tuples
- `coordination`: agreements of tasks: stops, signals, cuts, changes of numbers of tasks
- `registry`: the runs of this machine, by name
- `order`: positions: clocks of sources, descent, ticks, offsets; trees of tracked tuples
- `durability`: data that outlives a process: declared state, notes for successors, checkpoints
- `rebalancing`: moves of bolts from worker to worker during a run
- `observation`: counters and statistics of a run
"""

from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.statistics import RunStatistics
from framework.runtime.options import RunOptions
from framework.runtime.report import Progress, RunReport
from framework.runtime.run import Run, run

__all__ = [
    "Incident",
    "Progress",
    "Run",
    "RunOptions",
    "RunReport",
    "RunStatistics",
    "StopReason",
    "StopSignal",
    "TaskCounters",
    "run",
]
