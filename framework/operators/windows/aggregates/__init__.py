"""Aggregate functions of windows, and the panes by which overlapping windows are computed.

- `base`: the base class of aggregates
- `numbers`: `Count`, `Sum`, `Mean`, `Variance`, `StandardDeviation`
- `extremes`: `Min`, `Max`, `TopK`
- `in_order`: `First`, `Last`, `Collect`
- `distinct`: `Distinct`, `ApproximateDistinct`
- `hyperloglog`: the sketch of `ApproximateDistinct`
- `several`: `Aggregates`, which computes several at once
- `panes`: `PaneWindow`, a sliding window that is made of panes
- `folding`: a window as one accumulator, or as one for each pane
- `columns`: adds columns to accumulators
"""

from framework.operators.windows.aggregates.base import Adder, Aggregate
from framework.operators.windows.aggregates.distinct import ApproximateDistinct, Distinct
from framework.operators.windows.aggregates.extremes import Max, Min, TopK
from framework.operators.windows.aggregates.in_order import Collect, First, Last
from framework.operators.windows.aggregates.numbers import Count, Mean, StandardDeviation, Sum, Variance
from framework.operators.windows.aggregates.panes import PaneWindow
from framework.operators.windows.aggregates.several import Aggregates
from framework.operators.windows.grids import pane_of

__all__ = [
    "Adder",
    "Aggregate",
    "Aggregates",
    "ApproximateDistinct",
    "Collect",
    "Count",
    "Distinct",
    "First",
    "Last",
    "Max",
    "Mean",
    "Min",
    "PaneWindow",
    "StandardDeviation",
    "Sum",
    "TopK",
    "Variance",
    "pane_of",
]
