"""The views of a run: its description, the totals of one moment, rates between two moments, and costs.

Tables, ``viper top``, the web view and exporters all read these. Nothing here asks a task, or knows any other
part of a run.
"""

from framework.runtime.observation.counters import Counts, TimeHistogram, percentile_s
from framework.runtime.observation.description import (
    DescribedComponent,
    DescribedSetting,
    DescribedStream,
    RunDescription,
)
from framework.runtime.observation.incidents import ErrorSite
from framework.runtime.observation.measured import MeasuredInput, MeasuredOutput, MeasuredTask
from framework.runtime.observation.rates import (
    Bottleneck,
    ComponentRates,
    Recent,
    bottleneck,
    rates_between,
    rates_since_beginning,
)
from framework.runtime.observation.snapshot import ComponentSnapshot, RunSnapshot, TaskSnapshot

__all__ = [
    "Bottleneck",
    "ComponentRates",
    "ComponentSnapshot",
    "Counts",
    "DescribedComponent",
    "DescribedSetting",
    "DescribedStream",
    "ErrorSite",
    "MeasuredInput",
    "MeasuredOutput",
    "MeasuredTask",
    "Recent",
    "RunDescription",
    "RunSnapshot",
    "TaskSnapshot",
    "TimeHistogram",
    "bottleneck",
    "percentile_s",
    "rates_between",
    "rates_since_beginning",
]
