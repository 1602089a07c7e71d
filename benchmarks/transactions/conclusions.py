"""The conclusions from a grid: where the default loses, and when evaluating on several cores would pay."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.transactions.points import APPLICATIONS, DEFAULTS, PARTITIONS, Point, along
from benchmarks.transactions.results import DEFAULT, SERIAL, Cell, Grid, Measured, Paths

CORES = 40
"""As many as the machine of TStream's paper has."""
OF_OPERATIONS = "chains"
"""The evaluator whose units are operations; those of the others are whole transactions."""
BY_PARTITIONS = ("partition locks", "partitions apart")
"""The evaluators that run one transaction at once in each partition."""


@dataclass(frozen=True, slots=True)
class Loss:
    """At a point, an evaluator with right results was faster than the default, in the worst of all rounds."""

    point: Point
    default: Cell
    faster: Cell

    @property
    def times(self) -> float:
        """The ratio of its speed to the default's, by medians."""
        return self.faster.rate / self.default.rate


def losses(grid: Grid) -> list[Loss]:
    """List the points where the default is slower than another beyond both ranges; of several the fastest."""
    found = []
    for measured in grid.points.values():
        default = measured.default
        faster = [cell for cell in measured.right if cell.is_faster_than(default)]
        if faster:
            best = max(faster, key=lambda cell: cell.rate)
            found.append(Loss(measured.point, default, best))
    return found


@dataclass(frozen=True, slots=True)
class Need:
    """The number of cores that an evaluator needs to be as fast as the serial one on one, if all are busy."""

    application: str
    evaluator: str
    ratio: float
    """Its processor time on one thread by that of the serial one."""
    lowest: float
    highest: float
    """The range of that, over the rounds."""
    bound: float
    """The number of cores that it can keep busy at most, as others have to wait for each other."""

    @property
    def cores(self) -> int | None:
        """The number; None if paths are too long for so many."""
        needed = max(math.ceil(self.ratio), 1)
        return needed if needed <= self.bound else None

    @property
    def gain(self) -> float:
        """The ratio of its speed on 40 cores, at most, to that of the serial one."""
        return min(CORES, self.bound) / self.ratio


def needs(grid: Grid) -> list[Need]:
    """Of each application and evaluator with right results, with the paper's defaults."""
    found = []
    for application in APPLICATIONS:
        measured = grid.points.get(DEFAULTS[application])
        if measured is not None:
            others = (cell for cell in measured.right if cell.evaluator not in (SERIAL, DEFAULT))
            found += [_need(measured, cell) for cell in others if cell.threads == 1]
    return found


def _need(measured: Measured, cell: Cell) -> Need:
    ratios = [mine / serial for mine, serial in zip(cell.cpu_ns, measured.serial.cpu_ns, strict=True)]
    ratio = cell.cpu / measured.serial.cpu
    bound = bound_of(measured.paths, cell.evaluator)
    return Need(measured.point.application, cell.evaluator, ratio, min(ratios), max(ratios), bound)


def bound_of(paths: Paths, evaluator: str) -> float:
    """Compute how many cores an evaluator can keep busy at most."""
    if evaluator == OF_OPERATIONS:
        return paths.of_operations
    return min(paths.of_transactions, PARTITIONS if evaluator in BY_PARTITIONS else math.inf)


@dataclass(frozen=True, slots=True)
class Gain:
    """From what work on a parallel evaluator is faster than the serial one, of one application."""

    application: str
    cost: float | None
    """Nanoseconds more for an operation, the least of those tried from which on it is; None: none."""
    batch_us: float
    """The time of the serial one for a batch there; with None, for the dearest one that was tried."""
    faster: Cell | None


def gains(grid: Grid) -> Iterator[Gain]:
    """Of each application whose operations were made dearer: beyond the ranges, and for all dearer ones."""
    for application in APPLICATIONS:
        row = grid.along(along(application, "cost"))
        if not row:
            continue
        found = Gain(application, None, _batch_us(row[-1][1]), None)
        for cost, measured in reversed(row):
            faster = _faster_in_parallel(measured)
            if faster is None:
                break
            found = Gain(application, cost, _batch_us(measured), faster)
        yield found


def _batch_us(measured: Measured) -> float:
    return measured.point.batch / measured.serial.rate


def _faster_in_parallel(measured: Measured) -> Cell | None:
    faster = [c for c in measured.right if c.threads > 1 and c.is_faster_than(measured.serial)]
    return max(faster, key=lambda cell: cell.rate, default=None)
