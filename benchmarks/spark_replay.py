"""Replaying a prepared dataset: how fast, in how much memory, how exactly at its recorded pace.

Rows have five columns: a timestamp, an integer, a float, a repetitive text and a distinct one.

speed   Rows per second from one stream, and from four that interleave row by row, through a topology with one
        bolt that counts tuple by tuple, in one inline worker and on two processes; and as columns, into a
        batch bolt that counts record batches. Beside it the blocks alone, and Spark's own ways to Python over
        the same files, `DataFrame.toLocalIterator` and `DataFrame.toArrow`. Measured in turn, each in a fresh
        process; ratios of medians are to the former.
memory  Peak memory of all processes together while one million and fifty million rows are replayed.
pace    How late rows come, at a thousand events a second, at the recorded pace.

    python benchmarks/spark_replay.py [--part speed|memory|pace ...] [--rows N] [--rounds N] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = (1_000_000, 50_000_000)
LOOK_PERIOD_S = 0.05
WARM_UP = 1000
INLINE = {"viper.worker": "inline"}
PROCESSES = {"viper.worker": "process", "topology.workers": 2}
Measured = tuple[int, float]
"""Rows and seconds."""


def topology(path: str, options: dict[str, Any], *, typed: bool = False) -> Measured:
    from replaying import counting
    from running import run_with

    report = run_with(counting(path, typed=typed), options)
    return int(report.components["count"].metrics["tuples"]), report.elapsed_s


def blocks(path: str, *, typed: bool = False) -> Measured:
    from replaying import blocks

    started = time.perf_counter()
    return sum(blocks(path, typed=typed)), time.perf_counter() - started


def spark(path: str, count: Callable[[Any], int]) -> Measured:
    """The session and its JVM are there, and have run something, before the clock starts."""
    from spark_ingest.engine.session import make_session

    with make_session(
        "local[2]", {"spark.driver.memory": "4g", "spark.driver.maxResultSize": "0"}, "bench"
    ) as session:
        rows = session.read.parquet(f"{path}/*.parquet").drop("_time_us")
        count(rows.limit(1000))
        started = time.perf_counter()
        return count(rows), time.perf_counter() - started


KINDS: dict[str, Callable[[str, str], Measured]] = {
    "1 stream": lambda one, four: topology(one, INLINE),
    "4 streams": lambda one, four: topology(four, INLINE),
    "1 stream, columns": lambda one, four: topology(one, INLINE, typed=True),
    "4 streams, columns": lambda one, four: topology(four, INLINE, typed=True),
    "1 stream, 2 processes": lambda one, four: topology(one, PROCESSES),
    "4 streams, 2 processes": lambda one, four: topology(four, PROCESSES),
    "blocks alone": lambda one, four: blocks(one),
    "blocks alone, columns": lambda one, four: blocks(one, typed=True),
    "toLocalIterator": lambda one, four: spark(one, lambda rows: sum(1 for _ in rows.toLocalIterator())),
    "toArrow": lambda one, four: spark(one, lambda rows: int(rows.toArrow().num_rows)),
}
SLOW = "toLocalIterator"
"""What the others are compared with."""


def speed(folder: Path, rows: int, rounds: int, kinds: list[str]) -> None:
    from replaying import write_stage
    from running import print_row

    paths = [str(write_stage(folder / f"{streams}", rows, streams).path) for streams in (1, 4)]
    rates: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, measured in rates.items():
            found, seconds = json.loads(fresh("--kind", kind, "--paths", *paths))
            assert found == rows, f"{kind}: {found:,} of {rows:,} rows arrived"
            measured.append(found / seconds)
    medians = {kind: statistics.median(measured) for kind, measured in rates.items()}
    print_row(("", "rows/s", "least", "most", "ratio"), widths := (-22, 11, 11, 11, 6))
    for kind, measured in rates.items():
        ratio = f"{medians[kind] / medians[SLOW]:.2f}" if SLOW in medians else "-"
        numbers = (round(medians[kind]), round(min(measured)), round(max(measured)))
        print_row((kind, *numbers, ratio), widths)


def memory(folder: Path, sizes: list[int]) -> None:
    from replaying import write_stage
    from running import print_row

    print_row(("", "rows", "peak MB", "late MB", "rows/s"), widths := (-10, 11, 8, 8, 11))
    for streams in (1, 4):
        for rows in sizes:
            path = str(write_stage(folder / f"{streams}x{rows}", rows, streams).path)
            peak, late, measured = watched(
                "--kind", f"{streams} streams"[: 9 - (streams == 1)], "--paths", path, path
            )
            assert measured[0] == rows, f"{measured[0]:,} of {rows:,} rows arrived"
            rate = round(measured[0] / measured[1])
            print_row((f"{streams} streams", rows, f"{peak:.1f}", f"{late:.1f}", rate), widths)


def watched(*arguments: str) -> tuple[float, float, Measured]:
    """Peak and late median of megabytes, and what a fresh process has measured."""
    from processes import memory as memory_of

    process = subprocess.Popen([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True)
    seen: list[int] = []
    while process.poll() is None:
        seen += filter(None, [memory_of(process.pid).total_bytes])
        try:
            process.wait(LOOK_PERIOD_S)
        except subprocess.TimeoutExpired:
            continue
    output = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"{arguments} ended with status {process.returncode}")
    return max(seen) / 1e6, statistics.median(seen[-(len(seen) // 4 + 1) :]) / 1e6, json.loads(output)


def pace(folder: Path, seconds: int) -> None:
    from replaying import write_stage
    from running import print_row

    print_row(("", "p50 us", "p99 us", "max us", "early", "rows"), widths := (-22, 8, 8, 8, 6, 8))
    for streams in (1, 4):
        path = str(write_stage(folder / f"paced{streams}", 1000 * seconds, streams).path)
        for name, options in (("inline", INLINE), ("2 processes", PROCESSES)):
            late_us = json.loads(fresh("--late", json.dumps(options), "--paths", path))[WARM_UP:]
            ordered = sorted(late_us)
            found = (round(ordered[int(share * len(ordered))]) for share in (0.5, 0.99))
            early = sum(late < 0 for late in ordered)
            print_row((f"{streams} streams, {name}", *found, round(ordered[-1]), early, len(ordered)), widths)


def lateness(path: str, options: dict[str, Any]) -> list[float]:
    """How many microseconds after its time each row arrived."""
    from replaying import ACTIVATED, FIRST_US, paced
    from running import run_with

    report = run_with(paced(path), options)
    started_ns = report.components["rows"].metrics[ACTIVATED]
    return [(ns - started_ns) / 1e3 - (us - FIRST_US) for ns, us in report.result("sink")]


def fresh(*arguments: str) -> str:
    """What this program prints with such arguments, in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Measure, and print."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parts = ("speed", "memory", "pace")
    parser.add_argument("--part", nargs="+", choices=parts, default=parts, help="(all)")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows for speed (2,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="kinds for speed (all)"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, help="rows for memory (1 and 50 million)"
    )
    parser.add_argument("--seconds", type=int, default=20, help="length of a paced replay (20)")
    parser.add_argument("--folder", type=Path, help="where datasets are written, and stay (a temporary one)")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind in this process")
    parser.add_argument("--late", help="replay at the recorded pace in this process, with such options")
    parser.add_argument("--paths", nargs="+", help="datasets for --kind and --late")
    args = parser.parse_args()
    if args.kind:
        print(json.dumps(KINDS[args.kind](args.paths[0], args.paths[-1])))
    elif args.late:
        print(json.dumps(lateness(args.paths[0], json.loads(args.late))))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            measure(args, args.folder or Path(temporary))


def measure(args: argparse.Namespace, folder: Path) -> None:
    """The parts that are asked for."""
    if "speed" in args.part:
        speed(folder, args.rows, args.rounds, args.kinds)
    if "memory" in args.part:
        memory(folder, args.sizes)
    if "pace" in args.part:
        pace(folder, args.seconds)


if __name__ == "__main__":
    main()
