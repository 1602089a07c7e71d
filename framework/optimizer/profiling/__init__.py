"""The costs of a topology's components: short runs of different plans, and a fit of their times.

A profile is fitted to the processor time of tasks, as BriskStream's is measured (Zhang et al., SIGMOD 2019,
section 3.1), but within whole runs. Alone, a component has caches for itself that it has to share otherwise.
"""

from framework.optimizer.profiling.fitting import Fit, fit
from framework.optimizer.profiling.gains import Gain, gain
from framework.optimizer.profiling.plans import deployments, options_of
from framework.optimizer.profiling.profiler import Profiler, Profiling, RunFailed
from framework.optimizer.profiling.samples import Sample, TaskSample, Way, sample_of, summed
from framework.optimizer.profiling.shapes import (
    CannotBeModelled,
    deployment_of,
    fixed_tasks,
    machine_of,
    shape_of,
)

__all__ = [
    "CannotBeModelled",
    "Fit",
    "Gain",
    "Profiler",
    "Profiling",
    "RunFailed",
    "Sample",
    "TaskSample",
    "Way",
    "deployment_of",
    "deployments",
    "fit",
    "fixed_tasks",
    "gain",
    "machine_of",
    "options_of",
    "sample_of",
    "shape_of",
    "summed",
]
