"""The CPU time of one turn of a task that has one tuple to process: microseconds, and instructions.

``spout -> bolt -> ... -> sink``, inline, with slices of one tuple, so that each task has one turn for it.
Runs with one bolt of a kind and with five are measured in turn. The difference of the two, divided by four
and by the tuples, is the cost of a turn.

    plain      emits what it receives
    state      counts by key in declared state, and emits that
    windows    counts by key and window of a minute (OPlus), and emits nothing
    source     all of a run with one plain bolt, without its start; its spout says after each tuple that the
               next one is there in 1 ms

With `--callgrind` instructions are counted instead, by valgrind. With `--tree` the code of other folders is
measured in turn, too.

    python benchmarks/turns.py [--kind KIND ...] [--tuples N] [--rounds N] [--callgrind] [--tree FOLDER ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

FEW, MANY = 1, 5
"""Bolts of a kind in the two runs that are compared."""
KINDS = ("plain", "state", "windows", "source")
WIDTHS = (-10, 10, 10, 10, -4)


def topology(kind: str, bolts: int, tuples: int) -> Any:
    """The spout and so many bolts of a kind, which are beside each other if they emit nothing."""
    from framework import Bolt, OPlus, Spout, TopologyBuilder, ValueState
    from framework.operators.sinks import CountingSink

    class Singly(Spout):
        outputs = ["key", "number"]

        def tuples(self) -> Iterator[Any]:
            from framework import after

            for number in range(tuples):
                yield number % 100, number
                if kind == "source":
                    yield after(0.001)

    class Plain(Bolt):
        outputs = ["key", "number"]
        config = {"viper.stateless": True}

        def process(self, tup: Any) -> None:
            self.emit(tup.values)

    class State(Bolt):
        outputs = ["key", "number"]
        seen = ValueState("int64", default=0)

        def process(self, tup: Any) -> None:
            self.seen.value += 1
            self.emit(tup.values)

    class Windows(OPlus):
        outputs = ["key", "count"]
        size = "60s"

        def create(self) -> int:
            return 0

        def update(self, window: Any, tup: Any) -> None:
            window.state += 1

        def output(self, window: Any) -> Iterator[Any]:
            yield window.key, window.state

    builder = TopologyBuilder()
    before = builder.set_spout("source", Singly) and "source"
    cls = {"plain": Plain, "state": State, "windows": Windows, "source": Plain}[kind]
    for number in range(bolts):
        name = f"bolt{number}"
        made = builder.set_bolt(name, cls)
        made.shuffle_grouping(before) if kind in ("plain", "source") else made.fields_grouping(before, "key")
        before = before if kind == "windows" else name
    builder.set_bolt("sink", CountingSink).global_grouping(before)
    return builder.build("turns")


def once(kind: str, bolts: int, tuples: int) -> float:
    """CPU seconds of a run in this process."""
    from running import run_with

    made = topology(kind, bolts, tuples)
    before_s = time.thread_time()
    options: dict[str, Any] = {"viper.worker": "inline", "viper.time": "ingest"}
    if kind != "source":  # which brings one tuple after the other anyway
        options["viper.slice.tuples"] = 1
    run_with(made, options)
    return time.thread_time() - before_s


def measure(kind: str, bolts: int, tuples: int, tree: str, *, counts: bool) -> float:
    """Seconds, or instructions, of a run in a process of its own."""
    from running import code_of

    command = [sys.executable, __file__, "--once", kind, str(bolts), "--tuples", str(tuples)]
    env = {**(code_of(tree) or os.environ), "PYTHONHASHSEED": "0"}
    if not counts:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env)
        return float(json.loads(done.stdout))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        subprocess.run([*valgrind, *command], check=True, env=env, capture_output=True)
        found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
        assert found is not None
        return float(found[1])


def turn(kind: str, tuples: int, tree: str, *, counts: bool) -> float:
    """Microseconds, or instructions, of one turn."""
    unit = 1 if counts else 1e6
    if kind == "source":
        few, many = (measure(kind, FEW, size, tree, counts=counts) for size in (tuples // 10, tuples))
        return unit * (many - few) / (tuples - tuples // 10)
    few, many = (measure(kind, bolts, tuples, tree, counts=counts) for bolts in (FEW, MANY))
    return unit * (many - few) / (MANY - FEW) / tuples


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print what a turn takes."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=list(KINDS), help="(all)")
    parser.add_argument("--tuples", type=int, default=20_000, help="tuples of each run (20,000)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each (3)")
    parser.add_argument("--callgrind", action="store_true", help="count instructions instead")
    parser.add_argument("--tree", nargs="+", default=[""], help="folders of code (that of this run)")
    parser.add_argument("--once", nargs=2, metavar=("KIND", "BOLTS"), help="run one in this process")
    args = parser.parse_args(arguments)
    if args.once:
        print(json.dumps(once(args.once[0], int(args.once[1]), args.tuples)))
        return
    from running import print_row

    print_row(("kind", "median", "least", "most", "code"), WIDTHS)
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(args.rounds):
        for kind in args.kind:
            for tree in args.tree:
                cost = turn(kind, args.tuples, tree, counts=args.callgrind)
                found.setdefault((kind, tree), []).append(cost)
    for (kind, tree), costs in found.items():
        digits = 0 if args.callgrind else 1
        shown = (f"{cost:,.{digits}f}" for cost in (median(costs), min(costs), max(costs)))
        print_row((kind, *shown, tree or "here"), WIDTHS)


if __name__ == "__main__":
    main()
