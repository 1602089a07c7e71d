"""The error of a prediction against measurements."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from framework.optimizer.costs import Deployment, Machine, Profile, Shape, predict
from framework.optimizer.profiling.samples import Sample


@dataclass(frozen=True)
class Comparison:
    """A plan as predicted, and as it ran."""

    predicted_ns: float
    """Processor time of the worker that has most of it, for each tuple of a spout."""
    measured_ns: float
    predicted_rate: float
    """Tuples of spouts a second."""
    measured_rate: float
    lengths: Mapping[str, tuple[float, float]]
    """Mean lengths of runs by consumer: as predicted, and as measured. Consumers of one stream only, whose
    tasks have several sources."""

    @property
    def load_error(self) -> float:
        """Of the processor time, relative to what was measured."""
        return abs(self.predicted_ns / self.measured_ns - 1)

    @property
    def rate_error(self) -> float:
        """Of the rate, relative to what was measured."""
        return abs(self.predicted_rate / self.measured_rate - 1)


def compared(
    shape: Shape, profile: Profile, machine: Machine, plan: Deployment, samples: Sequence[Sample]
) -> Comparison:
    """A plan's prediction beside the medians of its runs.

    Args:
        shape: the topology's.
        profile: what is predicted from.
        machine: where it ran.
        plan: as it ran.
        samples: of its runs, each of which has brought something.

    Raises:
        ValueError: no run of it has brought anything.
    """
    ran = [sample for sample in samples if sample.brought and sample.elapsed_s > 0]
    if not ran:
        raise ValueError("no spout has brought anything: expected runs with tuples")
    expected = predict(shape, profile, machine, plan)
    lengths = {}
    for name in shape.names:
        flows = shape.into[name]
        measured = [sample.lengths[name] for sample in ran if name in sample.lengths]
        if len(flows) == 1 and measured and math.isfinite(expected.runs[flows[0]]):
            lengths[name] = expected.runs[flows[0]], statistics.median(measured)
    return Comparison(
        max(expected.loads.values()),
        statistics.median(max(sample.loads_ns().values()) for sample in ran),
        expected.rate,
        statistics.median(sample.brought / sample.elapsed_s for sample in ran),
        lengths,
    )


def percentile(values: Sequence[float], part: float) -> float:
    """The least value that such a part of all values does not exceed.

    Args:
        values: at least one.
        part: from 0 to 1.
    """
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)]
