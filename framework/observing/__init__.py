"""What a run shows of itself: what it is, the totals of one moment, rates between two moments, and costs.

Tables, ``viper top``, the web view and exporters all read these. Nothing here asks a task, or knows any other
part of a run.
"""

from framework.observing.bottleneck import Bottleneck, bottleneck
from framework.observing.description import (
    DescribedComponent,
    DescribedSetting,
    DescribedStream,
    RunDescription,
)
from framework.observing.error_sites import ErrorSite
from framework.observing.measured import MeasuredInput, MeasuredOutput, MeasuredTask
from framework.observing.rates import ComponentRates, Recent, rates_between, rates_since_beginning
from framework.observing.snapshot import ComponentSnapshot, RunSnapshot, TaskSnapshot
from framework.observing.times import Counts, TimeHistogram, percentile_s

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
