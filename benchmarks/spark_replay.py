"""Replaying a prepared dataset: how fast, in how much memory, how exactly at its recorded pace.

Rows have five columns: a timestamp, an integer, a float, a repetitive text and a distinct one.

speed   Rows per second from one stream, and from four that interleave row by row. As rows they go through a
        topology with one bolt that counts tuple by tuple, in one inline worker and on two processes. As
        columns they go into a batch bolt that counts record batches, of Parquet files and of Arrow files. The
        CPU time of the task's own thread and of all others is measured, too. Beside it the blocks alone, and
        Spark's own ways to Python over the Parquet files, `DataFrame.toLocalIterator` and
        `DataFrame.toArrow`. Measured in turn, each in a fresh process; ratios of medians are to the former.
memory  Peak memory of all processes together while one million and fifty million rows are replayed, as rows
        and as columns, of either format.
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
from typing import Any, NamedTuple

SIZES = (1_000_000, 50_000_000)
LOOK_PERIOD_S = 0.05
WARM_UP = 1000
INLINE = {"viper.worker": "inline"}
PROCESSES = {"viper.worker": "process", "topology.workers": 2}
Measured = tuple[int, float, float, float]
"""Rows, seconds, and seconds of CPU time of the main thread and of all others."""


def topology(path: str, options: dict[str, Any], *, typed: bool = False) -> Measured:
    from replaying import counting
    from running import run_with

    own_s, all_s = time.thread_time(), time.process_time()
    report = run_with(counting(path, typed=typed), options)
    own_s, all_s = time.thread_time() - own_s, time.process_time() - all_s
    return int(report.components["count"].metrics["tuples"]), report.elapsed_s, own_s, all_s - own_s


def blocks(path: str, *, typed: bool = False) -> Measured:
    from replaying import blocks

    own_s, all_s, started_s = time.thread_time(), time.process_time(), time.perf_counter()
    rows, elapsed_s = sum(blocks(path, typed=typed)), time.perf_counter() - started_s
    own_s, all_s = time.thread_time() - own_s, time.process_time() - all_s
    return rows, elapsed_s, own_s, all_s - own_s


def spark(path: str, count: Callable[[Any], int]) -> Measured:
    """The session and its JVM are there, and have run something, before the clock starts."""
    from spark_ingest.engine.session import make_session

    with make_session(
        "local[2]", {"spark.driver.memory": "4g", "spark.driver.maxResultSize": "0"}, "bench"
    ) as session:
        rows = session.read.parquet(f"{path}/*.parquet").drop("_time_us")
        count(rows.limit(1000))
        started = time.perf_counter()
        return count(rows), time.perf_counter() - started, 0.0, 0.0


class Paths(NamedTuple):
    """Datasets of the same rows."""

    one: str
    """Of one stream, as all below in Parquet files if nothing else is said."""
    four: str
    arrow_one: str
    arrow_four: str


KINDS: dict[str, Callable[[Paths], Measured]] = {
    "1 stream": lambda paths: topology(paths.one, INLINE),
    "4 streams": lambda paths: topology(paths.four, INLINE),
    "1 stream, columns": lambda paths: topology(paths.one, INLINE, typed=True),
    "4 streams, columns": lambda paths: topology(paths.four, INLINE, typed=True),
    "1 stream, Arrow": lambda paths: topology(paths.arrow_one, INLINE, typed=True),
    "4 streams, Arrow": lambda paths: topology(paths.arrow_four, INLINE, typed=True),
    "1 stream, 2 processes": lambda paths: topology(paths.one, PROCESSES),
    "4 streams, 2 processes": lambda paths: topology(paths.four, PROCESSES),
    "blocks alone": lambda paths: blocks(paths.one),
    "blocks alone, columns": lambda paths: blocks(paths.one, typed=True),
    "blocks alone, Arrow": lambda paths: blocks(paths.arrow_one, typed=True),
    "toLocalIterator": lambda paths: spark(paths.one, lambda rows: sum(1 for _ in rows.toLocalIterator())),
    "toArrow": lambda paths: spark(paths.one, lambda rows: int(rows.toArrow().num_rows)),
}
SLOW = "toLocalIterator"
"""The way that the others are compared with."""


def speed(folder: Path, rows: int, rounds: int, kinds: list[str]) -> None:
    from replaying import ARROW, PARQUET, write_stage
    from running import print_row

    paths = [
        str(write_stage(folder / f"{stored_as.name}-{streams}", rows, streams, stored_as=stored_as).path)
        for stored_as in (PARQUET, ARROW)
        for streams in (1, 4)
    ]
    measured: dict[str, list[Measured]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, found in measured.items():
            found.append(json.loads(fresh("--kind", kind, "--paths", *paths)))
            assert found[-1][0] == rows, f"{kind}: {found[-1][0]:,} of {rows:,} rows arrived"
    rates = {kind: [rows / elapsed_s for _, elapsed_s, _, _ in found] for kind, found in measured.items()}
    medians = {kind: statistics.median(found) for kind, found in rates.items()}
    head = ("", "rows/s", "least", "most", "ratio", "own ns", "other ns")
    print_row(head, widths := (-22, 11, 11, 11, 6, 6, 8))
    for kind, found in rates.items():
        ratio = f"{medians[kind] / medians[SLOW]:.2f}" if SLOW in medians else "-"
        numbers = (round(medians[kind]), round(min(found)), round(max(found)))
        cpu = (f"{1e9 / rows * min(one[place] for one in measured[kind]):.1f}" for place in (2, 3))
        print_row((kind, *numbers, ratio, *cpu), widths)


def memory(folder: Path, sizes: list[int]) -> None:
    from replaying import ARROW, PARQUET, write_stage
    from running import print_row

    print_row(("", "rows", "peak MB", "late MB", "rows/s"), widths := (-20, 11, 8, 8, 11))
    for stored_as, ways in ((PARQUET, ("", ", columns")), (ARROW, (", Arrow",))):
        for streams in (1, 4):
            for rows in sizes:
                made = folder / f"{stored_as.name}-{streams}x{rows}"
                path = str(write_stage(made, rows, streams, stored_as=stored_as).path)
                for way in ways:
                    kind = f"{streams} stream{'s' * (streams > 1)}{way}"
                    peak, late, measured = watched("--kind", kind, "--paths", *[path] * 4)
                    assert measured[0] == rows, f"{measured[0]:,} of {rows:,} rows arrived"
                    rate = round(measured[0] / measured[1])
                    print_row((kind, rows, f"{peak:.1f}", f"{late:.1f}", rate), widths)


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
    """Compute the microseconds after its time at which each row arrived."""
    from replaying import ACTIVATED, FIRST_US, paced
    from running import run_with

    report = run_with(paced(path), options)
    started_ns = report.components["rows"].metrics[ACTIVATED]
    return [(ns - started_ns) / 1e3 - (us - FIRST_US) for ns, us in report.result("sink")]


def fresh(*arguments: str) -> str:
    """Run this program with such arguments in a process of its own, and read its output."""
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
        print(json.dumps(KINDS[args.kind](Paths(*args.paths))))
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
