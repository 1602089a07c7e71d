"""Four heuristics that choose the operator that a free worker works for next.

They are of section 6 of a paper on ordered data parallelism: G. Prasaad, G. Ramalingam and K. Rajan, "Scaling
Ordered Stream Processing on Shared-Memory Multicores", 2018. Its formulas number the operators of a pipeline
from 1 to n. The scheduling of a run (`paper_policies.py`) and the simulation of more cores than a machine has
(`benchmarks/scheduling.py`) choose by the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar


class Operator(Protocol):
    """The figures of one operator, as the paper names them."""

    @property
    def depth(self) -> int:
        """Its place in the pipeline, i; the entry has the least."""

    @property
    def waiting(self) -> float:
        """I, the tuples of its worklist."""

    @property
    def queued(self) -> float:
        """The tuples of the worklist of the next operator, which is its output queue; 0 at the exit."""

    @property
    def cost_s(self) -> float:
        """c, the average seconds of a worker for one input; above 0."""

    @property
    def cumulative(self) -> float:
        """cs, "the cumulative selectivity since ingress": outputs for one tuple of the entry; above 0."""

    @property
    def entering(self) -> float:
        """The cs of the operator before: inputs of this one for one tuple of the entry; above 0."""

    @property
    def workers(self) -> int:
        """w, the workers that are allotted to it now."""

    @property
    def most(self) -> float:
        """M, the largest number of workers that it may have."""

    @property
    def spent_s(self) -> float:
        """T^w, the seconds of all workers for it in the present window."""


Chosen = TypeVar("Chosen", bound=Operator)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The figures of a whole pipeline."""

    cumulative: float
    """The sum of cs over all its operators."""
    capacity: float
    """C, which "can be imagined as capacity of the system", in tuples."""
    slice_s: float
    """s, the seconds for which a worker is allotted to an operator."""


def queue_size_throttling(schedulable: Sequence[Chosen], pipeline: Pipeline) -> Chosen | None:
    """QST: "picks the earliest operator that has current output queue size less than its threshold".

    Args:
        schedulable: the operators that may get a worker; there is at least one.
        pipeline: the whole.

    Returns:
        None if the output queues of all of them are at their thresholds.
    """
    below = (each for each in schedulable if each.queued < threshold(each, pipeline))
    return min(below, key=_depth, default=None)


def threshold(operator: Operator, pipeline: Pipeline) -> float:
    """T of equation 1, the bound of an output queue: its part of C, by cumulative selectivity."""
    return pipeline.capacity * operator.cumulative / pipeline.cumulative


def last_in_pipeline(schedulable: Sequence[Chosen], pipeline: Pipeline) -> Chosen | None:
    """LP: "chooses the latest operator in the pipeline that has a non-empty input queue"; as above."""
    return max(schedulable, key=_depth)


def estimated_time(schedulable: Sequence[Chosen], pipeline: Pipeline) -> Chosen | None:
    """ET: the highest priority, equation 2, which estimates the time for the worklist; as above."""
    return max(schedulable, key=priority)


def priority(operator: Operator) -> float:
    """The priority I * c / (w + 1) in seconds, "if we allot a new worker to it"; 0 where w is M."""
    if operator.workers >= operator.most:
        return 0.0
    return operator.waiting * operator.cost_s / (operator.workers + 1)


def current_throughput(schedulable: Sequence[Chosen], pipeline: Pipeline) -> Chosen | None:
    """CT: "chooses the operator with the lowest" throughput in the present window; as above."""
    return min(schedulable, key=lambda each: throughput(each, pipeline))


def throughput(operator: Operator, pipeline: Pipeline) -> float:
    """The n^w of equation 3, "the effective number of tuples" of the present window, in tuples of the entry.

    It is (T^w + w * s) / (c * cs), with the cs of the operator before. "Ideally", the paper says, it comes to
    the same for all operators. Time by c is a number of inputs, so that holds if it is divided by inputs. By
    its own outputs, a filter that has kept pace would seem to be far ahead and get no worker.
    """
    worked_s = operator.spent_s + operator.workers * pipeline.slice_s
    return worked_s / (operator.cost_s * operator.entering)


def _depth(operator: Operator) -> int:
    return operator.depth


Heuristic = Callable[[Sequence[Chosen], Pipeline], Chosen | None]
HEURISTICS: Final[Mapping[str, Heuristic[Any]]] = {
    "qst": queue_size_throttling,
    "lp": last_in_pipeline,
    "et": estimated_time,
    "ct": current_throughput,
}
"""By the values of ``viper.scheduling`` (`framework.model.config.keys.SCHEDULING`)."""
