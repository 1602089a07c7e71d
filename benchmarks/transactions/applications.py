"""TStream's four applications from end to end: events a second, tuple by tuple and in batches.

Tuple by tuple, one inline worker runs everything with one task for each component. In batches, two worker
processes do, with two tasks for each bolt. Events are drawn before a run begins, and a sink counts the
answers. Each run is in a fresh process, all of them in turn; what counts is the best of all rounds. The
numbers of transactions that were aborted must be the same in all rounds.

    python -m benchmarks.transactions.applications [--only NAME ...] [--rounds N] [--events N]
        [--gather N] [--parameters JSON] [--form tuples batches]
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.running import run_with
from framework.sinks import Sink

FOLDER = Path(__file__).parents[2] / "topologies"

SPOUTS = {
    "grep_sum": "GrepSum",
    "streaming_ledger": "StreamingLedger",
    "online_bidding": "OnlineBidding",
    "toll_processing": "TollProcessing",
}
FORMS: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "tuples": (1, {"viper.worker": "inline"}),
    "batches": (2, {"viper.worker": "process", "topology.workers": 2}),
}
"""The tasks of each bolt, and the workers."""
BOLTS = ("grep", "sum", "parser", "deposit", "transfer", "ledger", "auth", "trade", "speed", "count", "toll")
ACCEPTED: Mapping[str, int] = {"streaming_ledger": 1, "online_bidding": 2}
"""Where an answer says whether its transaction was done."""


class Answers(Sink):
    """Its result: how many answers there are, and how many of them say that nothing was done.

    Args:
        accepted: where they say so; None if they do not.
    """

    def __init__(self, accepted: int | None = None) -> None:
        super().__init__()
        self._accepted = accepted
        self._answers = self._refused = 0

    def consume(self, rows: Sequence[Any]) -> None:
        """Count them."""
        self._answers += len(rows)
        if self._accepted is not None:
            self._refused += sum(not row[self._accepted] for row in rows)

    def result(self) -> tuple[int, int]:
        """Both."""
        return self._answers, self._refused


def once(name: str, form: str, args: argparse.Namespace) -> Mapping[str, Any]:
    """What came of a run in this process."""
    sys.path.insert(0, str(FOLDER))
    build = getattr(importlib.import_module("transactions_builder"), name)
    batches = form == "batches"
    bring = importlib.import_module("transactions.batches" if batches else "transactions.spouts")
    spout = getattr(bring, SPOUTS[name])(args.events, parameters=args.parameters, held=True)
    tasks, options = FORMS[form]
    # Another number of tasks than one is meant for bolts only: one task brings everything.
    of_each = {"events": 1, **dict.fromkeys(BOLTS, tasks)}
    from benchmarks.transactions import applications  # as other processes import it, and not as __main__

    sink = applications.Answers(ACCEPTED.get(name))
    options = {**options, "viper.transactions.gather": args.gather}
    report = run_with(build(spout, sink, of_each, batches).build(name), options)
    answers, refused = report.result("answers")
    return {"events": args.events, "answers": answers, "refused": refused, "s": report.elapsed_s}


def apart(name: str, form: str, args: argparse.Namespace) -> Mapping[str, Any]:
    """What came of a run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.transactions.applications", "--once", name, form]
    command += ["--events", str(args.events), "--gather", str(args.gather)]
    command += ["--parameters", json.dumps(args.parameters)]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=FOLDER.parent)
    found: Mapping[str, Any] = json.loads(ran.stdout)
    return found


def measured(args: argparse.Namespace) -> Iterator[Mapping[str, Any]]:
    """The rates of each application in each form; ends the program if rounds differ in what they answer."""
    kinds = list(product(args.only, args.form))
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {kind: [] for kind in kinds}
    for _ in range(args.rounds):
        for (name, form), runs in found.items():
            runs.append(apart(name, form, args))
    for name in args.only:
        outcomes = {(run["answers"], run["refused"]) for form in args.form for run in found[name, form]}
        if len(outcomes) != 1:
            raise SystemExit(f"{name}: runs differ in their answers, or in how many were refused: {outcomes}")
        for form in args.form:
            rates = [run["events"] / run["s"] for run in found[name, form]]
            answers, refused = next(iter(outcomes))
            yield {
                "application": name,
                "form": form,
                "events": args.events,
                "answers": answers,
                "refused": refused,
                "events_per_s": round(max(rates)),
                "slowest": round(min(rates)),
            }


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SPOUTS, default=list(SPOUTS), help="applications (all)")
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS), help="(both)")
    parser.add_argument("--rounds", type=int, default=3, help="of each (3)")
    parser.add_argument("--events", type=int, default=500_000, help="of a run (500,000)")
    parser.add_argument("--gather", type=int, default=512, help="tuples gathered and then evaluated (512)")
    parser.add_argument(
        "--parameters",
        type=json.loads,
        default={},
        help="JSON: of the applications, in the place of the paper's",
    )
    parser.add_argument("--once", nargs=2, metavar=("NAME", "FORM"), help="measure one in this process")
    return parser.parse_args()


def main() -> None:
    """Measure, and print it as JSON, a line for each."""
    args = arguments()
    if args.once:
        print(json.dumps(once(*args.once, args)))
        return
    for line in measured(args):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
