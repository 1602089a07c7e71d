"""Linear Road: rows per CPU second beside a plain sequential program, and the peak minute at its own pace.

The input is drawn by ``topologies/linear_road/generator.py`` at the original benchmark's scale; the program
prints first how many rows an expressway brings. Both forms of the application are measured, tuple by tuple
and on columns.

Some seconds of the input at its peak go through both forms and through a plain loop that is written for speed
(``linear_road_loop.py``), in turn, in fresh processes. CPU time counts from the first line, which lies in an
array, to the last answer. The result is the share that a form has of the plain program's speed, each at its
best of all rounds.

Then the input begins 30 minutes before its peak. These pass as fast as they can, so that there is the state
of as many minutes. The peak minute follows at its own pace: the rows of each second come when it begins, and
the lateness of all answers is measured, on one core. An answer may be 5 seconds late. That takes some ten
minutes for each form. More expressways can be tried in turn, until one number is too many.

    python -m benchmarks.linear_road [--only shares|peak] [--rounds N] [--form tuples batches] [--xways N ...]
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.linear_road_loop import answers as plainly_answered
from framework import Watermark, run
from framework.operators.sinks import CountingSink, Sink

sys.path.insert(0, str(Path(__file__).parents[1] / "topologies"))
generator: Any = importlib.import_module("linear_road.generator")
spouts: Any = importlib.import_module("linear_road.spouts")
batches: Any = importlib.import_module("linear_road.batches")

FORMS: Mapping[str, tuple[Any, Any]] = {
    "tuples": (spouts.Injector, importlib.import_module("linear_road_builder").linear_road),
    "batches": (batches.Columns, importlib.import_module("linear_road_batches").linear_road_batches),
}
"""The spout that each form is given lines by, and what builds its topology."""
LATEST_S = 5.0
Lines = np.ndarray[Any, Any]


class Given:
    """Brings arrays that there are already.

    Args:
        lines: these.
    """

    begun_s = 0.0
    """The CPU time at which it has been asked for the first one."""

    def __init__(self, lines: Sequence[Lines]) -> None:
        super().__init__()
        self._lines = lines

    def lines(self) -> Iterator[Lines]:
        """All lines."""
        Given.begun_s = time.process_time()
        yield from self._lines


class Paced:
    """Draws lines, and brings some seconds of them as fast as possible, and those that follow at their times.

    Args:
        xways: for how many expressways.
        warm_s: the seconds that pass as fast as possible.
        seconds: those that follow.
    """

    begun_s = begun_cpu_s = 0.0
    """The times at which these have begun, by the wall clock, and in CPU time."""
    rows = 0
    """The number of rows that they have brought."""

    def __init__(self, xways: int, warm_s: int, seconds: int) -> None:
        super().__init__()
        self._xways = xways
        self._warm_s = warm_s
        self._seconds = seconds
        self._lines: Iterator[Lines] = iter(())

    def lines(self) -> Iterator[Lines]:
        """Yield the lines that come next."""
        return self._lines

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Any]:
        """All lines, and None while nothing is due."""
        draw = generator.Generator(self._xways, 1, generator.ORIGINAL)
        brought: Any = super()
        self._lines = (draw.second() for _ in range(self._warm_s))
        yield from brought.blocks(partition, start_us)
        Paced.rows, Paced.begun_s, Paced.begun_cpu_s = 0, time.monotonic(), time.process_time()
        for second in range(self._seconds):
            lines = draw.second()
            self._lines = iter([lines])
            blocks = list(brought.blocks(partition, start_us))
            while time.monotonic() < Paced.begun_s + second:
                yield None
            yield from blocks
            yield Watermark((self._warm_s + second + 1) * 1_000_000)
            Paced.rows += len(lines)


class Latest(Sink):
    """Its result: by how many seconds answers were late, the latest and a median one, and how many came.

    The first answer of a call that counts stands for all of them: it is the latest, as they come in order.

    Args:
        warm_s: the second from which on they count.
    """

    def __init__(self, warm_s: int) -> None:
        super().__init__()
        self._warm_s = warm_s
        self._late_s: list[float] = []
        self._answers = 0

    def consume(self, rows: Sequence[Any]) -> None:
        """Note how late they are."""
        counted = [due_s for due_s in map(self._due_s, rows) if due_s >= 0]
        if counted:
            self._late_s.append(time.monotonic() - Paced.begun_s - counted[0])
            self._answers += len(counted)

    def _due_s(self, row: Sequence[str]) -> int:
        """The second of an answer, from the first that counts."""
        kind, first, second, *_ = row[0].split(",")
        return int(second if kind == "0" else first) - self._warm_s

    def result(self) -> tuple[float, float, int]:
        """All three."""
        return max(self._late_s), median(self._late_s), self._answers


def answered(form: str, cars: Any, given: Sequence[Any], sink: Any, state_gib: float) -> Any:
    """Run a form in an inline worker, and return the sink's figures."""
    bring, build = FORMS[form]
    spout = type(cars.__name__, (cars, bring), {})
    topology = build(spout(*given), sink, 1).build("linear-road")
    options = {"viper.worker": "inline", "viper.state.bytes": int(state_gib * 2**30)}
    return run(topology, conf=options).result("answers")


def spent(kind: str, args: argparse.Namespace) -> Mapping[str, Any]:
    """The rows and answers of the peak, and the CPU seconds that they took one of the programs."""
    draw = generator.Generator(args.xways[0], 1, generator.ORIGINAL)
    for _ in range(args.warm):
        draw.second()
    lines = [draw.second() for _ in range(args.seconds)]
    if kind == "plain":
        Given.begun_s = time.process_time()
        each = (tuple(line) for array in lines for line in array.tolist())
        answers = len(plainly_answered(each))
    else:
        answers = answered(kind, Given, (lines,), CountingSink, args.state_gib)
    return {"rows": sum(map(len, lines)), "answers": answers, "s": time.process_time() - Given.begun_s}


def peak(form: str, args: argparse.Namespace) -> Mapping[str, Any]:
    """Measure the peak of so many expressways on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    (xways,) = args.xways
    began_s = time.monotonic()
    given = xways, args.warm, args.seconds
    latest_s, median_s, answers = answered(form, Paced, given, Latest(args.warm), args.state_gib)
    return {
        "form": form,
        "xways": xways,
        "warm_s": args.warm,
        "seconds": args.seconds,
        "rows": Paced.rows,
        "answers": answers,
        "latest_s": round(latest_s, 2),
        "median_s": round(median_s, 2),
        "in_time": latest_s <= LATEST_S,
        "cpu_share": round((time.process_time() - Paced.begun_cpu_s) / args.seconds, 2),
        "warmed_in_s": round(Paced.begun_s - began_s),
    }


def apart(args: argparse.Namespace, *given: str) -> Any:
    """Run this program in a process of its own, and read its output."""
    numbers = ["--warm", str(args.warm), "--seconds", str(args.seconds), "--state-gib", str(args.state_gib)]
    command = [sys.executable, "-m", "benchmarks.linear_road", *given, *numbers]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def shares(args: argparse.Namespace) -> Iterator[Mapping[str, Any]]:
    """Rows per CPU second of all programs; ends the program if they do not answer as often."""
    found: dict[str, list[float]] = {kind: [] for kind in ("plain", *args.form)}
    answers = set()
    for _ in range(args.rounds):
        for kind, speeds in found.items():
            one = apart(args, "--once", kind, "--xways", str(args.xways[0]))
            speeds.append(one["rows"] / one["s"])
            answers.add((one["rows"], one["answers"]))
    if len(answers) != 1:
        raise SystemExit(f"rows and answers differ: {answers}")
    for kind, speeds in found.items():
        yield {
            "program": kind,
            "xways": args.xways[0],
            "rows": next(iter(answers))[0],
            "rows_per_cpu_s": round(max(speeds)),
            "slowest": round(min(speeds)),
            "share": round(max(speeds) / max(found["plain"]), 2),
        }


def peaks(args: argparse.Namespace) -> Iterator[Mapping[str, Any]]:
    """The peak of each number of expressways, until one is too many."""
    for form in args.form:
        for xways in args.xways or [{"tuples": 25, "batches": 50}[form]]:
            found = apart(args, "--peak-once", form, "--xways", str(xways))
            yield found
            if not found["in_time"]:
                break


def of_the_generator(minutes: int) -> Mapping[str, Any]:
    """Rows per minute of an expressway."""
    found = generator.rates(minutes, 4, 1, generator.ORIGINAL)
    return {
        "generator": asdict(generator.ORIGINAL),
        "minutes": minutes,
        "average_rows_per_minute": round(sum(found) / minutes),
        "peak_rows_per_minute": round(max(found)),
        "peak_rows_per_s": round(max(found) / 60),
    }


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=("shares", "peak"), help="measure one of both (both)")
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS), help="(both)")
    parser.add_argument("--rounds", type=int, default=3, help="of each program (3)")
    parser.add_argument("--xways", type=int, nargs="+", help="expressways (8; at the peak 25 and 50)")
    parser.add_argument("--warm", type=int, default=1800, help="seconds before those that count (1,800)")
    parser.add_argument("--seconds", type=int, default=60, help="that count (60)")
    parser.add_argument("--state-gib", type=float, default=4.0, help="room for state (4)")
    parser.add_argument("--once", choices=("plain", *FORMS), help="measure one program in this process")
    parser.add_argument("--peak-once", choices=FORMS, help="measure the peak of one form in this process")
    return parser.parse_args()


def main() -> None:
    """Measure, and print it as JSON, a line for each."""
    args = arguments()
    if args.once:
        print(json.dumps(spent(args.once, args)))
        return
    if args.peak_once:
        print(json.dumps(peak(args.peak_once, args)))
        return
    print(json.dumps(of_the_generator(max(1, (args.warm + args.seconds) // 60))), flush=True)
    if args.only != "peak":
        once = argparse.Namespace(**{**vars(args), "xways": args.xways or [8]})
        for line in shares(once):
            print(json.dumps(line), flush=True)
    if args.only != "shares":
        for line in peaks(args):
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
