"""The time of an event to its callback, at half of the highest rate, tuple by tuple.

Streaming Ledger and Grep & Sum run in one inline worker with one task of each component, and on two processes
with two tasks of each bolt. Events are drawn before the run, and come on a schedule, whatever becomes of
them. Each carries, in place of its number, the time at which it was due, and the sink notes how long ago that
was. So an event that is held up by others counts for as long as it should have been there. The highest rate
is that of the same run without a schedule, the best of as many rounds.

Transactions are evaluated as soon as all members of the group have come further, with at most so many tuples
gathered before (`viper.transactions.gather`). A task that has read all its input does not wait for more. The
strict punctuation of TStream's paper is measured beside it: nothing is evaluated before 500 events have come.
As the runtime has none, the spout keeps events until 500 are due, and brings them at once.

    python -m benchmarks.transactions.latency [-o FILE] [--rounds N] [--seconds S] [--events N]
        [--gather N ...] [--only APPLICATION ...] [--place PLACE ...]
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.running import run_with
from benchmarks.transactions.delays import Delays, percentiles, save, table
from framework import Spout
from framework.operators.sinks import Sink

REPOSITORY = Path(__file__).parents[2]
PLACES: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "inline": (1, {"viper.worker": "inline"}),
    "two processes": (2, {"viper.worker": "process", "topology.workers": 2}),
}
"""The tasks of each bolt, and the workers."""
DRAWS = {"streaming_ledger": "StreamingLedger", "grep_sum": "GrepSum"}
BOLTS = ("grep", "sum", "parser", "deposit", "transfer")
PUNCTUATION = 500
"""Events of the paper's batches."""
DRAWN = 50_000
"""Different events; then they come again."""
WARM_UP = 0.2
"""The share of events at the beginning that do not count."""


class Due(Spout):
    """Brings events when they are due, with the time at which that was in place of their number.

    Args:
        events: as tuples, which are repeated.
        count: how many there are in all.
        rate: how many are due in a second; 0: all of them at once.
        together: how many are brought at once, when the last of them is due.
    """

    def __init__(self, events: Sequence[tuple[Any, ...]], count: int, rate: float, together: int) -> None:
        super().__init__()
        self._events = events
        self._count = count
        self._period_ns = 1e9 / rate if rate else 0.0
        self._together = together

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Have the garbage collector leave the events alone: no stream holds them, and they are many."""
        gc.freeze()

    def tuples(self) -> Iterator[tuple[Any, ...] | None]:
        """Yield the events that are due by now, and None."""
        events, period_ns, together = self._events, self._period_ns, self._together
        start_ns = time.monotonic_ns()
        for number in range(self._count):
            if number % together == 0:
                last = min(number + together, self._count) - 1
                while time.monotonic_ns() < start_ns + int(last * period_ns):
                    yield None
            due_ns = start_ns + int(number * period_ns) if period_ns else time.monotonic_ns()
            yield (due_ns, *events[number % len(events)][1:])


class LedgerEvents(Due):
    """The events of the Streaming Ledger."""

    outputs = ["event", "transfers", "account", "asset", "to_account", "to_asset", "amount", "assets"]


class GrepEvents(Due):
    """The events of Grep & Sum."""

    outputs = ["event", "reads", "keys", "values"]


class Since(Sink):
    """Its result: nanoseconds from when each event was due to its answer, and when that was, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._late_ns, self._at_ns = array("q"), array("q")

    def consume(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Note them."""
        now_ns = time.monotonic_ns()
        self._late_ns.extend(now_ns - row[0] for row in rows)
        self._at_ns.extend([now_ns] * len(rows))

    def result(self) -> tuple[array[int], array[int]]:
        """Both."""
        return self._late_ns, self._at_ns


def once(application: str, place: str, args: argparse.Namespace) -> Mapping[str, float]:
    """One run in this process: its rate, and percentiles of the delays in milliseconds."""
    sys.path.insert(0, str(REPOSITORY / "topologies"))
    build = getattr(importlib.import_module("transactions_builder"), application)
    draws = getattr(importlib.import_module("transactions.generators"), DRAWS[application])
    from benchmarks.transactions import latency  # as other processes import it, and not as __main__

    count = args.events
    events = list(draws(seed=1).tuples(min(count, DRAWN)))
    spout = {"StreamingLedger": latency.LedgerEvents, "GrepSum": latency.GrepEvents}[DRAWS[application]]
    tasks, options = PLACES[place]
    of_each = {"events": 1, **dict.fromkeys(BOLTS, tasks)}
    builder = build(spout(events, count, args.rate, args.together), latency.Since, of_each)
    options = {**options, "viper.time": "logical", "viper.transactions.gather": args.gather[0]}
    report = run_with(builder.build(application), options)
    late_ns, at_ns = report.result("answers")
    if len(late_ns) != count:
        raise SystemExit(f"{len(late_ns):,} answers to {count:,} events")
    counted = late_ns[int(WARM_UP * count) :]
    return {"rate": count / (at_ns[-1] - at_ns[0]) * 1e9, **percentiles(counted)}


def apart(application: str, place: str, **numbers: float) -> Mapping[str, float]:
    """One run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.transactions.latency", "--once", application, place]
    for name, number in numbers.items():
        command += [f"--{name}", str(number)]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
    found: Mapping[str, float] = json.loads(ran.stdout)
    return found


def ways_of(args: argparse.Namespace) -> dict[str, dict[str, int]]:
    """List the ways to decide when transactions are evaluated, by their names in the table."""
    found = {f"at once, gathers {most}": {"gather": most, "together": 1} for most in args.gather}
    return {**found, f"punctuation of {PUNCTUATION}": {"gather": PUNCTUATION, "together": PUNCTUATION}}


def measured(args: argparse.Namespace) -> Iterator[Delays]:
    """Of each application and place all ways, in turn."""
    ways = ways_of(args)
    for application, place in product(args.only, args.place):
        free = [apart(application, place, events=args.events) for _ in range(args.rounds)]
        highest = max(run["rate"] for run in free)
        rate = highest / 2
        found = {way: Delays(application, place, way, highest, rate) for way in ways}
        for _, (way, delays) in product(range(args.rounds), found.items()):
            count = round(rate * args.seconds)
            run = apart(application, place, events=count, rate=rate, **ways[way])
            for name in run.keys() - {"rate"}:
                delays.ms.setdefault(name, []).append(run[name])
        yield from found.values()


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("build/latency.json"), help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of each (3)")
    parser.add_argument("--seconds", type=float, default=5, help="of each run on a schedule (5)")
    parser.add_argument("--events", type=int, default=200_000, help="that show the highest rate (200,000)")
    parser.add_argument("--gather", nargs="+", type=int, default=[32, 512], help="at the most (32 and 512)")
    parser.add_argument("--only", nargs="+", choices=DRAWS, default=list(DRAWS), help="(both)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(both)")
    parser.add_argument("--rate", type=float, default=0, help="with --once: events a second")
    parser.add_argument("--together", type=int, default=1, help="with --once: events that come at once")
    parser.add_argument(
        "--once", nargs=2, metavar=("APPLICATION", "PLACE"), help="measure one in this process"
    )
    return parser.parse_args()


def main() -> None:
    """Measure, print a table, and write the file."""
    args = arguments()
    if args.once:
        application, place = args.once
        print(json.dumps(once(application, place, args)))
        return
    found = list(measured(args))
    save(args.output, found)
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
