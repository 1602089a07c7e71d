"""TStream's four applications from end to end: events a second, tuple by tuple and in batches.

Tuple by tuple, one inline worker runs everything with one task for each component. In batches, this does as
well, or two worker processes with two tasks for each bolt. Events are drawn before a run begins, and their
answers are counted. Each run is in a fresh process, all of them in turn; what counts is the best of all
rounds. The numbers of transactions that were aborted must be the same in all rounds.

    python -m benchmarks.transactions.applications [--only NAME ...] [--rounds N] [--events N]
        [--gather N] [--parameters JSON] [--form tuples batches batches-apart]
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

from benchmarks.running import in_turn, printed_by, run_with
from framework.model.topology import Stream, Topology
from framework.operators.components import BatchBolt, Rows
from framework.operators.sinks import Sink

FOLDER = Path(__file__).parents[2] / "topologies"

SPOUTS = {
    "grep_sum": "GrepSum",
    "streaming_ledger": "StreamingLedger",
    "online_bidding": "OnlineBidding",
    "toll_processing": "TollProcessing",
}
_OF_BATCHES: Mapping[str, Any] = {"viper.channel.tuples": 65_536}
"""A channel has room for several blocks of columns."""
FORMS: Mapping[str, tuple[bool, int, Mapping[str, Any]]] = {
    "tuples": (False, 1, {"viper.worker": "inline"}),
    "batches": (True, 1, {"viper.worker": "inline", **_OF_BATCHES}),
    "batches-apart": (True, 2, {"viper.worker": "process", "topology.workers": 2, **_OF_BATCHES}),
}
"""The forms: true for batches, the tasks of each bolt, and the workers."""
BOLTS = ("grep", "sum", "parser", "deposit", "transfer", "ledger", "auth", "trade", "speed", "count", "toll")
ACCEPTED: Mapping[str, int] = {"streaming_ledger": 1, "online_bidding": 2}
"""The index in an answer of the field that says whether its transaction was done."""


class Counts(Sink):
    """Its result: how many answers there were, how many said that nothing was done, and their rate."""

    def __init__(self) -> None:
        super().__init__()
        self._answers = self._refused = self._first = 0
        self._began_s = self._ended_s = 0.0

    def count(self, answers: int, refused: int) -> None:
        """So many more have come at once."""
        self._ended_s = time.monotonic()
        if not self._answers:
            self._first, self._began_s = answers, self._ended_s
        self._answers += answers
        self._refused += refused

    def result(self) -> Mapping[str, Any]:
        """All of it. The rate is that between the first answers and the last. The time before is the start of
        a run, with imports of pyarrow and Pandas that take as long as half a million events."""
        took_s = self._ended_s - self._began_s
        rate = (self._answers - self._first) / took_s if took_s else 0.0
        return {"answers": self._answers, "refused": self._refused, "answers_per_s": rate}


class Answers(Counts):
    """Counts answers row by row.

    Args:
        accepted: where they say whether something was done; None if they do not.
    """

    def __init__(self, accepted: int | None = None) -> None:
        super().__init__()
        self._accepted = accepted

    def consume(self, rows: Sequence[Any]) -> None:
        """Count them."""
        at = self._accepted
        self.count(len(rows), 0 if at is None else sum(not row[at] for row in rows))


class Counter(BatchBolt):
    """Counts answers in columns, as the bolts have made them: rows of Python would be most of the work.

    Args:
        is_told: whether a column says that something was done.
    """

    outputs: ClassVar = [Stream(schema={"answers": "int64 not null", "refused": "int64 not null"})]
    config: ClassVar = {"viper.stateless": True}

    def __init__(self, is_told: bool) -> None:
        super().__init__()
        self._is_told = is_told

    def process_rows(self, rows: Rows) -> None:
        """Emit how many there are, and how many of them were refused."""
        accepted = sum(rows.numpy("accepted").tolist()) if self._is_told else len(rows)
        self.emit_rows([(len(rows), len(rows) - accepted)], of=[len(rows) - 1])


class Sums(Counts):
    """Adds up what several `Counter` have counted."""

    def consume(self, rows: Sequence[Any]) -> None:
        """Add it up."""
        self.count(sum(row[0] for row in rows), sum(row[1] for row in rows))


def built(name: str, batches: bool, tasks: int, args: argparse.Namespace) -> Topology:
    """An application, with as many tasks for each of its bolts, and something that counts its answers."""
    sys.path.insert(0, str(FOLDER))
    build = getattr(importlib.import_module("transactions_builder"), name)
    bring = importlib.import_module("transactions.batches" if batches else "transactions.spouts")
    spout = getattr(bring, SPOUTS[name])(args.events, parameters=args.parameters, held=True)
    # Another number of tasks than one is meant for bolts only: one task brings everything.
    of_each = {"events": 1, **dict.fromkeys(BOLTS, tasks)}
    from benchmarks.transactions import applications  # as other processes import it, and not as __main__

    if not batches:
        builder = build(spout, applications.Answers(ACCEPTED.get(name)), of_each, batches)
        return cast(Topology, builder.build(name))
    builder = build(spout, applications.Counter(name in ACCEPTED), of_each, batches)
    builder.set_bolt("sums", applications.Sums()).global_grouping("answers")
    return cast(Topology, builder.build(name))


def once(name: str, form: str, args: argparse.Namespace) -> Mapping[str, Any]:
    """Measure a run in this process."""
    batches, tasks, given = FORMS[form]
    options = dict(given)
    if args.gather is not None:
        options["viper.transactions.gather"] = args.gather
    report = run_with(built(name, batches, tasks, args), options)
    found: Mapping[str, Any] = report.result("sums" if batches else "answers")
    rate = found["answers_per_s"] or found["answers"] / report.elapsed_s  # where all have come at once
    return {**found, "answers_per_s": rate}


def apart(name: str, form: str, args: argparse.Namespace) -> Mapping[str, Any]:
    """Measure a run in a process of its own."""
    given = ["--events", str(args.events), "--parameters", json.dumps(args.parameters)]
    if args.gather is not None:
        given += ["--gather", str(args.gather)]
    module = "benchmarks.transactions.applications"
    found: Mapping[str, Any] = printed_by(module, "--once", name, form, *given)
    return found


def measured(args: argparse.Namespace) -> Iterator[Mapping[str, Any]]:
    """The rates of each application in each form; ends the program if rounds differ in what they answer."""
    found = in_turn(args.only, args.form, args.rounds, lambda name, form: apart(name, form, args))
    for name in args.only:
        outcomes = {(run["answers"], run["refused"]) for form in args.form for run in found[name, form]}
        if len(outcomes) != 1:
            raise SystemExit(f"{name}: runs differ in their answers, or in how many were refused: {outcomes}")
        for form in args.form:
            runs = found[name, form]
            # Each event has one answer, but those of Online Bidding without a token.
            rates = [run["answers_per_s"] * args.events / run["answers"] for run in runs]
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
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SPOUTS, default=list(SPOUTS), help="applications (all)")
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS), help="(all)")
    parser.add_argument("--rounds", type=int, default=3, help="of each (3)")
    parser.add_argument("--events", type=int, default=1_000_000, help="of a run (1,000,000)")
    parser.add_argument("--gather", type=int, help="tuples gathered (512; in batches 16,384)")
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
