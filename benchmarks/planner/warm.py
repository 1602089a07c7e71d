"""Runs of plans that are measured between two moments, after their warm-up and before they are drained.

A run is observed from outside, twice, through the folder by which ``viper scale`` and ``viper stop`` find it.
The counts of its tasks in between make a sample, as the whole run makes one for `Profiler`. So neither the
start of processes and the imports of the first tuples count, nor the end, at which some workers have nothing
left to do.

A spout that waits for room brings tuples in bursts, as many as a channel has become free for, and columns by
blocks. So the seconds that count have to be many times as long as a burst.

The start takes as long as ever: in a worker process that imports NumPy and pyarrow, most of a second.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from framework.model.errors import SuspendError
from framework.optimizer.costs import Deployment
from framework.optimizer.profiling import Profiler, RunFailed, Sample, options_of, sample_of
from framework.runtime.coordination.commands import SOCKET, ask

POLL_S = 0.02
"""Seconds between two looks whether a run has begun."""
START_S = 60.0
"""Seconds in which a run has begun."""
TRIES = 3
"""Runs of a plan, until one of them could be counted."""
END_S = 60.0
"""Seconds in which it has ended after the last snapshot that counts."""
_INPUT = ("tuples", "runs", "jumbos", "decoded")
_OUTPUT = ("tuples", "jumbos", "encoded", "bytes")

Task = Mapping[str, Any]


class TooLittle(RunFailed):
    """Spouts have reported no input while it counted: on a busy machine that may happen once."""


@dataclass(frozen=True)
class Candidate(Deployment):
    """A plan that a run has by arguments of its own.

    Args:
        tasks: as of any deployment.
        name: what it is called.
        arguments: of ``viper run TARGET``; None for those that say where each task is.
    """

    name: str = ""
    arguments: Sequence[str] | None = None

    def given(self, workers: int) -> Sequence[str]:
        """The arguments that make a run have the plan, on so many workers."""
        return arguments_of(self, workers) if self.arguments is None else self.arguments


@dataclass(frozen=True)
class Warm(Profiler):
    """Measures plans for `seconds` after their warm-up.

    Args:
        warm_up_s: seconds that do not count, from when the spouts are activated.
    """

    warm_up_s: float = 1.0

    def measure(self, plan: Deployment) -> Sample:
        """One run of a plan; another one if there was too little to count.

        Raises:
            RunFailed: it ended before all of it was counted, or with an error.
        """
        for _ in range(TRIES - 1):
            with contextlib.suppress(TooLittle):
                return self._measured(plan)
        return self._measured(plan)

    def _measured(self, plan: Deployment) -> Sample:
        given = plan.given(self.workers) if isinstance(plan, Candidate) else arguments_of(plan, self.workers)
        with started([*self.command, *given]) as run:
            until_s = run.activated_s() + self.warm_up_s
            before = run.looked_at(until_s)
            after = run.looked_at(until_s + self.seconds)
            run.drain()
        return between(before, after)


def arguments_of(plan: Deployment, workers: int) -> list[str]:
    """Options of ``viper run`` that say where each task of a plan is, on so many workers."""
    options = options_of(plan, workers)
    return [text for key, value in options.items() for text in ("-o", f"{key}={json.dumps(value)}")]


@dataclass(frozen=True)
class Moment:
    """The counts of a run at a moment.

    Args:
        at_s: monotonic time, in seconds.
        statistics: as `framework.runtime.observation.statistics.RunStatistics` has them, as JSON.
    """

    at_s: float
    statistics: Mapping[str, Any]


def between(before: Moment, after: Moment) -> Sample:
    """Make a sample of the counts between two moments of a run.

    Channels report their counts at once, but worker processes report ten times a second how far their tasks
    are, and less often if no tuples move. So their counts are taken as a rate, by the moments that these are
    of.

    Raises:
        TooLittle: the spouts have brought nothing meanwhile, or one of them has reported nothing.
    """
    seconds = after.at_s - before.at_s
    told = [{one["number"]: one["at_s"] for one in at.statistics["executors"]} for at in (before, after)]
    tasks = []
    for first, last in zip(before.statistics["tasks"], after.statistics["tasks"], strict=True):
        own = last["executor"]
        passed_s = told[1][own] - told[0][own] if own in told[0] and own in told[1] else 0.0
        if passed_s <= 0 and not last["inputs"]:
            raise TooLittle(f"the worker of {last['component']}:{last['task']} has told nothing meanwhile")
        tasks.append(_meanwhile(first, last, seconds / passed_s if passed_s > 0 else 0.0))
    sample = sample_of({"statistics": {"tasks": tasks}, "elapsed_s": seconds})
    if not sample.brought:
        raise TooLittle(f"the spouts have brought nothing within {seconds:.1f} s: expected a longer input")
    return sample


def _meanwhile(first: Task, last: Task, factor: float) -> Task:
    emitted = {
        stream: round(factor * (count - first["emitted"].get(stream, 0)))
        for stream, count in last["emitted"].items()
    }
    return {
        **last,
        "cpu_s": factor * (last["cpu_s"] - first["cpu_s"]),
        "emitted": emitted,
        "inputs": _all_less(first["inputs"], last["inputs"], _INPUT),
        "outputs": _all_less(first["outputs"], last["outputs"], _OUTPUT),
    }


def _all_less(first: Sequence[Task], last: Sequence[Task], names: Sequence[str]) -> list[Task]:
    """The last ones without what the first ones have counted under these names."""
    pairs = zip(first, last, strict=True)
    return [{**now, **{name: now[name] - before[name] for name in names}} for before, now in pairs]


@dataclass
class Run:
    """A run in a process of its own.

    Args:
        process: which leads it.
        folder: where its files are.
    """

    process: subprocess.Popen[bytes]
    folder: Path
    _activated_s: float = field(default=0.0, init=False)

    def activated_s(self) -> float:
        """Find when its spouts were activated, in monotonic seconds; waits until they are.

        Raises:
            RunFailed: it has ended, or does not begin.
        """
        until_s = time.monotonic() + START_S
        while time.monotonic() < until_s:
            self._check()
            if (self.folder / SOCKET).exists():
                seen = self._asked("look")
                if seen["elapsed_s"] > 0:
                    return float(seen["at_s"] - seen["elapsed_s"])
            time.sleep(POLL_S)
        raise RunFailed(f"a run has not begun within {START_S:.0f} s")

    def looked_at(self, at_s: float) -> Moment:
        """Read its counts at a moment, which may be over.

        Args:
            at_s: monotonic time, in seconds.

        Raises:
            RunFailed: it has ended before.
        """
        time.sleep(max(0.0, at_s - time.monotonic()))
        self._check()
        begun_s = time.monotonic()
        statistics = self._asked("statistics")
        return Moment((begun_s + time.monotonic()) / 2, statistics)

    def drain(self) -> None:
        """Let it end.

        Raises:
            RunFailed: its spouts had ended before, or it fails.
        """
        self._asked("drain")
        self.process.wait(END_S)
        if self.process.returncode:
            self._fail()
        told = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        if told["reason"] != "interrupted":
            raise RunFailed(f"a run has ended by itself ({told['reason']}): expected a longer input")

    def _asked(self, command: str) -> Mapping[str, Any]:
        try:
            return ask(self.folder, command, refused=RunFailed, within_s=START_S)
        except SuspendError as error:
            raise RunFailed(
                f"a run has ended while it was measured: expected a longer input ({error})"
            ) from None

    def _check(self) -> None:
        if self.process.poll() is not None:
            self._fail()

    def _fail(self) -> None:
        told = (self.folder / "stderr").read_text(encoding="utf-8", errors="replace").strip()
        status = self.process.returncode
        raise RunFailed(
            f"a run ended with status {status} while it was measured: {self.process.args!r}\n{told}"
        )


@contextmanager
def started(arguments: Sequence[str]) -> Iterator[Run]:
    """Have a run within the block; it is killed if the block does not let it end.

    Args:
        arguments: of ``viper``.
    """
    with tempfile.TemporaryDirectory(prefix="viper-warm-") as name:
        folder = Path(name)
        own = ["--quiet", "--control", name, "--report", str(folder / "report.json")]
        command = [sys.executable, "-m", "framework.cli", *arguments, *own]
        # Without bytecode, half of the start would be compiling.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        none = subprocess.DEVNULL
        with (folder / "stderr").open("wb") as told:
            process = subprocess.Popen(command, stdin=none, stdout=none, stderr=told, env=environment)
        try:
            yield Run(process, folder)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
