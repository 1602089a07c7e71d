"""Running a plan."""

from framework.runtime.counters import TaskCounters
from framework.runtime.incidents import Incident
from framework.runtime.report import Progress, RunReport
from framework.runtime.running import Run, run
from framework.runtime.statistics import RunStatistics
from framework.runtime.stop import StopReason, StopSignal

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
