"""Rounds in which the entries of an experiment take turns, the checks of their results, and statistics."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmarks.peers.entries import Entry
from benchmarks.peers.folders import job_folder
from benchmarks.peers.jobs import PERCENTILES, Job, Outcome
from benchmarks.peers.launching import PEERS, Run, RunError, interpreter, launch, version
from benchmarks.peers.pairs import Measure
from benchmarks.peers.registry import Experiment
from benchmarks.peers.workloads import WORKLOADS, Expected, expected

TIMEOUT_S = 180.0
"""Seconds after which a run is given up. The slowest takes half a minute on a quiet machine."""

Say = Callable[[str], None]


@dataclass(slots=True)
class Measured:
    """An entry with all its runs."""

    entry: Entry
    runs: list[Run] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    """Units per second of each run, from the first row at the source to the end of the last sink."""
    trouble: str = ""
    """Why there are no runs, or why they do not count."""
    version: str = ""
    """The version of a peer."""

    @property
    def is_peer(self) -> bool:
        """True if it is another system than ours, or than a plain loop."""
        return self.entry.program in PEERS

    @property
    def rate(self) -> float | None:
        """The median of the rates; None where none counts."""
        return statistics.median(self.rates) if self.rates and not self.trouble else None

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest rate."""
        return min(self.rates), max(self.rates)

    @property
    def delays_us(self) -> Mapping[str, float]:
        """The medians of the percentiles of delays; empty where none were measured or they do not count."""
        if self.trouble or not self.runs or not self.runs[0].outcome.delays_us:
            return {}
        of_runs = zip(*(run.outcome.delays_us for run in self.runs), strict=True)
        return dict(zip(PERCENTILES, map(statistics.median, of_runs), strict=True))

    def figures(self, measure: Measure) -> Sequence[float]:
        """A figure of each run; empty where none counts."""
        if self.trouble:
            return []
        if measure is Measure.RATE:
            return self.rates
        if measure is Measure.CPU:
            return [run.outcome.cpu_s / run.outcome.seconds for run in self.runs]
        which = list(PERCENTILES).index(measure)
        return [run.outcome.delays_us[which] for run in self.runs]

    @property
    def unit_ns(self) -> float:
        """The median of the nanoseconds of processor time for each unit."""
        spent = [
            run.outcome.cpu_s * 1e9 / (rate * run.outcome.seconds)
            for run, rate in zip(self.runs, self.rates, strict=True)
        ]
        return statistics.median(spent)

    @property
    def foreign_cores(self) -> float:
        """The median of the processors that others were using meanwhile."""
        return statistics.median(run.foreign_cores for run in self.runs) if self.runs else 0.0


def measure(
    experiment: Experiment,
    entries: Sequence[Entry],
    *,
    rounds: int,
    quick: bool,
    environments: Path,
    say: Say,
) -> Sequence[Measured]:
    """Run entries of an experiment in turns.

    Each is first run on a small input, and everything that it emits compared with the workload's definition.
    Then it is run once in every round, in the same order, and its rows are counted. One that fails is run no
    further.

    Args:
        experiment: the experiment.
        entries: those of its entries that are wanted.
        rounds: runs of each entry.
        quick: whether small inputs are used for these runs as well.
        environments: the folder of the peers' environments.
        say: gets a line about each run.
    """
    measured = [Measured(entry, version=version(entry.program, environments)) for entry in entries]
    for one in measured:
        one.trouble = check(one.entry, environments)
        say(f"{experiment.name}: {experiment.label(one.entry)}: {one.trouble or 'its result is right'}")
    for number in range(1, rounds + 1):
        for one in measured:
            if not one.trouble:
                _run_once(one, quick, environments)
                told = one.trouble or _described(one)
                name = experiment.label(one.entry)
                say(f"{experiment.name}, round {number} of {rounds}: {name}: {told}")
    return measured


def check(entry: Entry, environments: Path) -> str:
    """Check an entry, by one run on a small input whose every output is inspected.

    Args:
        entry: the entry.
        environments: the folder of the peers' environments.

    Returns:
        The reason why it cannot be measured; empty if it can.
    """
    if interpreter(entry.program, environments) is None:
        return "not installed: skipped"
    size = entry.task.quick_size
    try:
        run = _launched(entry, size, environments, exact=True)
    except RunError as error:
        return str(error)
    return verdict(entry, run.outcome, expected_of(entry.workload, size, True))


def verdict(entry: Entry, outcome: Outcome, right: Expected) -> str:
    """Describe what is wrong with the outcome of a run; empty if nothing is.

    Args:
        entry: what was run.
        outcome: the run's outcome.
        right: what had to come of it, with digests if the rows were inspected, and not only counted.
    """
    if entry.is_collapsing:
        wrong = right.newest is not None and outcome.newest != right.newest
        return "wrong result: the newest rows of its keys differ" if wrong else ""
    if outcome.rows != right.rows:
        return f"wrong result: {outcome.rows:,} rows instead of {right.rows:,}"
    wrong = right.digest is not None and outcome.digest != right.digest
    return "wrong result: its rows differ" if wrong else ""


@cache
def expected_of(workload: str, size: int, exact: bool) -> Expected:
    """As `expected`, by the name of a workload; worked out once."""
    return expected(WORKLOADS[workload], size, exact=exact)


def best_of_each(measured: Sequence[Measured]) -> Sequence[Measured]:
    """For each system its best setting, in the order of the systems; those without figures are left out."""
    best: dict[str, Measured] = {}
    for one in measured:
        if one.rate is not None:
            before = best.setdefault(one.entry.system, one)
            best[one.entry.system] = max(before, one, key=_merit)
    return list(best.values())


def _merit(measured: Measured) -> float:
    """The larger the better: the rate, or for delays the higher of the percentiles, negative."""
    return -measured.delays_us["p99"] if measured.delays_us else measured.rate or 0.0


def _run_once(measured: Measured, quick: bool, environments: Path) -> None:
    entry = measured.entry
    right = expected_of(entry.workload, size := entry.size(quick), False)
    try:
        run = _launched(entry, size, environments)
    except RunError as error:
        measured.trouble = str(error)
        return
    measured.runs.append(run)
    measured.rates.append(right.units / run.outcome.seconds)
    measured.trouble = verdict(entry, run.outcome, right)


def _launched(entry: Entry, size: int, environments: Path, *, exact: bool = False) -> Run:
    python = interpreter(entry.program, environments)
    assert python is not None, f"{entry.program} was installed a moment ago"
    with job_folder() as folder:
        job = Job(entry.workload, size, folder, exact, entry.options)
        return launch(entry.program, python, job, TIMEOUT_S)


def _described(measured: Measured) -> str:
    delays = measured.runs[-1].outcome.delays_us
    if delays:
        return ", ".join(f"{name} {delay:,.0f} µs" for name, delay in zip(PERCENTILES, delays, strict=True))
    return f"{measured.rates[-1]:,.0f} {measured.entry.task.unit}/s"
