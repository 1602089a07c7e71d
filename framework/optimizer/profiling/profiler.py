"""Short runs of different plans, each in a process of its own, in turn."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from framework.model.errors import ViperError
from framework.optimizer.costs import Deployment, Profile, Shape, Variation
from framework.optimizer.profiling.fitting import Fit, fit
from framework.optimizer.profiling.plans import options_of
from framework.optimizer.profiling.samples import OF_TURN, Sample, sample_of, variations_of


class RunFailed(ViperError):
    """A run for a profile ended with an error."""


@dataclass(frozen=True)
class Profiling:
    """The measurements, and the profile that was fitted to them."""

    plans: Sequence[Deployment]
    samples: Mapping[int, Sequence[Sample]]
    """By index of the plan, one for each time that it was run."""
    fitted: Fit


@dataclass(frozen=True)
class Profiler:
    """Runs a target in plans.

    Args:
        command: of a run, but for its plan: ``viper run TARGET`` with the user's options, as arguments.
        seconds: after which a run is drained.
        workers: places of the plans.
        patience_s: seconds beyond these within which a run has to end; None for any number.
    """

    command: Sequence[str]
    seconds: float
    workers: int
    patience_s: float | None = None

    def profile(
        self,
        shape: Shape,
        plans: Sequence[Deployment],
        rounds: int,
        tell: Callable[[str], None],
        guess: Profile | None = None,
    ) -> Profiling:
        """Measure all plans in turn, round after round, and fit.

        Args:
            shape: the topology's.
            plans: what is run.
            rounds: how often.
            tell: gets how far it is.
            guess: what costs are expected to be, see `fit`.

        Raises:
            RunFailed: one of the runs did.
            ValueError: no spout has brought anything.
        """
        found = self.measured(plans, rounds, tell)
        samples = [sample for of_plan in found.values() for sample in of_plan]
        return Profiling(plans, found, fit(shape, samples, guess=guess))

    def measured(
        self, plans: Sequence[Deployment], rounds: int, tell: Callable[[str], None]
    ) -> dict[int, list[Sample]]:
        """Samples of all plans in turn, by index, as if the machine had always been as fast as it mostly was.

        Raises:
            RunFailed: one of the runs did.
        """
        found: list[tuple[int, Sample]] = []
        reference = Reference()
        for turn in range(rounds):
            for number, plan in enumerate(plans):
                tell(f"round {turn + 1} of {rounds}, plan {number + 1} of {len(plans)}")
                found.append((number, self.measure(plan)))
                reference.look()
        by_plan: dict[int, list[Sample]] = {number: [] for number in range(len(plans))}
        for (number, sample), factor in zip(found, reference.factors(), strict=True):
            by_plan[number].append(sample.at_speed(factor))
        return by_plan

    def measure(self, plan: Deployment) -> Sample:
        """One run of a plan.

        Raises:
            RunFailed: it ended with an error.
        """
        return sample_of(self.report(plan))

    def variations(self, plan: Deployment, tell: Callable[[str], None]) -> Mapping[str, Variation]:
        """The variation of the times of each component's tuples, by id, from a run with short turns.

        Args:
            plan: what is run.
            tell: hears of it.

        Raises:
            RunFailed: it ended with an error.
        """
        tell("a run measures how the times of tuples vary")
        command = [*self.command, "-o", f"viper.slice.tuples={OF_TURN}"]
        return variations_of(replace(self, command=command).report(plan))

    def report(self, plan: Deployment) -> Mapping[str, Any]:
        """Run a plan once, and read its report, as `viper run --report` writes it.

        Raises:
            RunFailed: it ended with an error.
        """
        with tempfile.TemporaryDirectory(prefix="viper-profile-") as folder:
            report = Path(folder) / "report.json"
            options = options_of(plan, self.workers)
            given = [text for key, value in options.items() for text in ("-o", f"{key}={json.dumps(value)}")]
            ending = ["--duration", str(self.seconds), "--quiet", "--report", str(report)]
            command = [sys.executable, "-m", "framework.cli", *self.command, *given, *ending]
            try:
                ran = subprocess.run(
                    command,
                    check=False,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    timeout=None if self.patience_s is None else self.seconds + self.patience_s,
                )
            except subprocess.TimeoutExpired as late:
                raise RunFailed(f"a run has not ended {self.patience_s:.0f} s after it was to") from late
            if ran.returncode:
                told = ran.stderr.decode(errors="replace").strip()
                raise RunFailed(f"a run ended with status {ran.returncode}, with the plan {options}:\n{told}")
            read: Mapping[str, Any] = json.loads(report.read_text(encoding="utf-8"))
            return read


_STEPS = 2_000_000
_NEAR = 2
"""Looks on each side of a run that count."""


def spin_s() -> float:
    """Seconds of processor time of a loop that is always the same."""
    begin = time.process_time()
    total = 0
    for number in range(_STEPS):
        total += number & 7
    return time.process_time() - begin


class Reference:
    """The speed of the machine around runs, by a loop that always has the same to do.

    On a machine that others use, the speed of a tenth of a second says little about that of the next one. The
    speeds of two minutes differ by a factor of two. So several measurements are taken together, one after the
    other: before the first run, and after each one.

    Args:
        spin: seconds that the loop has taken.
    """

    def __init__(self, spin: Callable[[], float] = spin_s) -> None:
        self._spin = spin
        self._seen = [spin()]

    def look(self) -> None:
        """Measure again, after a run."""
        self._seen.append(self._spin())

    def factors(self) -> list[float]:
        """For each run, how many times as long its processor time would have been at the usual speed."""
        usual = statistics.median(self._seen)
        ends = range(1, len(self._seen))
        near = (self._seen[max(0, end - _NEAR) : end + _NEAR] for end in ends)
        return [usual / statistics.median(looks) for looks in near]
