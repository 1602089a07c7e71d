"""Running a plan."""

from framework.runtime.counters import TaskCounters
from framework.runtime.report import Progress, RunReport
from framework.runtime.running import Run, run
from framework.runtime.statistics import RunStatistics
from framework.runtime.stop import StopReason, StopSignal

__all__ = ["Progress", "Run", "RunReport", "RunStatistics", "StopReason", "StopSignal", "TaskCounters", "run"]
