"""The cost of bringing tuples to operators that derive several keys of each, by mode of input.

The operators are those of STRETCH: paircount with its distances L, M and H, and Operator 15, which has a key
for each instance. Another one has two keys a tuple, of which most instances own none. Windows put out
nothing, so the figures are those of the input, and of updates of state. The spout runs in one worker process,
all instances in another, each as a task of its own. CPU time is that of all executors together.

    python benchmarks/sharing.py [--rows N] [--instances 1,2,4,8] [--rounds N] [--operators L,M,H,15,two]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from running import print_row, run_with

from framework import TopologyBuilder

sys.path.insert(0, str(Path(__file__).parent.parent / "topologies"))

from stretch.queries import Forward, PairCounts
from stretch.spouts import Tweets

MODES: dict[str, dict[str, str]] = {
    "shared, instances": {},
    "shared, producer": {"viper.keys": "producer"},
    "copied, instances": {"viper.input": "copied"},
    "copied, producer": {"viper.input": "copied", "viper.keys": "producer"},
    "keyed": {"viper.input": "keyed"},
}
"""The modes, with who derives the keys."""
SECONDS = 50
"""Of event time: all rows are in the same windows."""


class Silent(PairCounts):
    """Paircount that puts nothing out."""

    def output(self, window: Any) -> Any:
        """Nothing."""
        return ()


class TwoKeys(Silent):
    """Has the first word and the user as keys."""

    def keys(self, tup: Any) -> list[str]:
        """The keys of a tweet."""
        return [tup.values.user, tup.values.text.split(" ", 1)[0]]


def operator(name: str, instances: int) -> Any:
    """The operator of a name, for so many instances."""
    if name == "15":
        return Forward(instances)
    return TwoKeys() if name == "two" else Silent({"L": 3, "M": 10, "H": None}[name])


def measured(name: str, instances: int, mode: dict[str, str], rows: int) -> tuple[float, float, float]:
    """CPU time of a row in microseconds, its bytes, and rows a second."""
    builder = TopologyBuilder()
    phases = [[SECONDS, rows / SECONDS]]
    builder.set_spout("tweets", Tweets, kwargs={"phases": phases})
    builder.set_bolt("operator", operator(name, instances), instances, config=mode).all_grouping("tweets")
    placement = {"tweets": 1, "operator": 2}
    options = {"viper.worker": "process", "topology.workers": 2, "viper.placement": placement}
    report = run_with(builder.build("sharing"), options)
    cpu_s = sum(executor.cpu_s for executor in report.statistics.executors)
    sent = sum(source.payload_bytes for channel in report.statistics.channels for source in channel.sources)
    return 1e6 * cpu_s / rows, sent / rows, rows / report.elapsed_s


def main() -> None:
    """Measure, and print a table for each operator."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=5000, help="tweets of a run")
    parser.add_argument("--instances", default="1,2,4,8", help="numbers of instances")
    parser.add_argument("--operators", default="L,M,H,15,two", help="which operators")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; the best is told")
    given = parser.parse_args()
    widths = (-8, -18, 9, 12, 12, 12)
    print_row(("operator", "input", "instances", "CPU us/row", "bytes/row", "rows/s"), widths)
    for name in given.operators.split(","):
        for instances in map(int, given.instances.split(",")):
            found: dict[str, list[tuple[float, float, float]]] = {mode: [] for mode in MODES}
            for _ in range(given.rounds):  # in turn, so that a busy machine slows all of them alike
                for mode, config in MODES.items():
                    found[mode].append(measured(name, instances, config, given.rows))
            for mode, results in found.items():
                cpu, sent, rate = min(results)
                print_row((name, mode, instances, f"{cpu:.1f}", f"{sent:.0f}", f"{rate:.0f}"), widths)


if __name__ == "__main__":
    main()
