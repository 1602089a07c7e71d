"""Memory over the length of a stream: it has to be the same for a million tuples and for a hundred million.

Rows of two integers go from a spout through two tasks to one sink, which keeps nothing. With the fast
sink the spout is the bottleneck, with the slow one all channels are full all the time. Looked at from
outside, many times a second: the memory of all processes together, where a page that several of them
share counts once. Its peak, the peak of the shared arena within it, and the median of the last quarter.

    python benchmarks/memory.py [--tuples N ...] [--place PLACE ...] [--sink fast|slow ...]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from typing import Any

PLACES: dict[str, dict[str, Any]] = {
    "inline": {"viper.worker": "inline"},
    "2 processes": {"viper.worker": "process", "topology.workers": 2},
}
SINKS = ("fast", "slow")
LOOK_PERIOD_S = 0.05
WIDTHS = (-11, -4, 11, 8, 9, 8, 6)


def once(place: str, sink: str, count: int) -> None:
    """Run it in this process."""
    from numbers_to_sink import numbers
    from running import run_with

    found = run_with(numbers(count, slow=sink == "slow"), PLACES[place]).result("sink")
    assert found == count, f"{found:,} of {count:,} tuples arrived"


def measure(place: str, sink: str, count: int) -> tuple[float, float, float, int]:
    """Peak, peak of what is shared, and late median in MB, and how often it was measured."""
    from processes import Memory, memory

    command = [sys.executable, __file__, "--once", place, "--sink", sink, "--tuples", str(count)]
    process = subprocess.Popen(command)
    seen: list[Memory] = []
    while process.poll() is None:
        found = memory(process.pid)
        if found.total_bytes:  # it has not ended meanwhile
            seen.append(found)
        try:
            process.wait(LOOK_PERIOD_S)
        except subprocess.TimeoutExpired:
            continue
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    peak = max(found.total_bytes for found in seen)
    shared = max(found.shared_bytes for found in seen)
    late = statistics.median(found.total_bytes for found in seen[-(len(seen) // 4 + 1) :])
    return peak / 1e6, shared / 1e6, late / 1e6, len(seen)


def main() -> None:
    """Measure, and print megabytes."""
    from running import print_row

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    sizes = [1_000_000, 10_000_000, 100_000_000]
    parser.add_argument("--tuples", type=int, nargs="+", default=sizes, help="(1, 10 and 100 million)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(all)")
    parser.add_argument("--sink", nargs="+", choices=SINKS, default=list(SINKS), help="(both)")
    parser.add_argument("--once", metavar="PLACE", help="run one in this process")
    args = parser.parse_args()
    if args.once:
        once(args.once, args.sink[0], args.tuples[0])
        return
    print_row(("place", "sink", "tuples", "peak MB", "shared MB", "late MB", "looks"), WIDTHS)
    for place in args.place:
        for sink in args.sink:
            for count in args.tuples:
                *megabytes, looks = measure(place, sink, count)
                cells = (f"{number:,.1f}" for number in megabytes)
                print_row((place, sink, count, *cells, looks), WIDTHS)


if __name__ == "__main__":
    main()
