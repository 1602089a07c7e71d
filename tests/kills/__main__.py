"""Kill runs of every shape, again and again: ``python -m tests.kills [--kills N] [--seed N] [SHAPE ...]``.

Five campaigns, each over all shapes: workers are killed, with and without checkpoints; likewise while bolts
get other numbers of tasks; whole process groups are killed, and resumed from the last checkpoint; likewise
leaders alone, whose workers have to end by themselves; runs are suspended, and resumed with another
parallelism. In one more, for each evaluator, workers with transactions are killed faster than they recover,
five times as often.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from framework.model.config.keys import EVALUATORS
from tests.kills.runs import (
    Case,
    WrongError,
    check_killed,
    check_killed_as_a_whole,
    check_leader_killed,
    check_suspended,
)
from tests.kills.shapes import SHAPES

LONGEST_S = 400
"""Seconds after which one run, with all its deaths, counts as one that hangs."""
ROWS = {"words": 8000, "saturated": 600, "bursts": 120, "drawn": 600}
"""Rows of each source where workers are killed; 3,000 by default."""


def campaigns(kills: int, seed: int, shapes: list[str]) -> Iterator[tuple[str, str, Case]]:
    """All runs: a name of the campaign, that of the check, and the case."""
    for name in shapes:
        rows = ROWS.get(name, 3000)
        yield "workers", "killed", Case(name, seed, rows, kills)
    for name in shapes:
        few = max(kills // 5, 1)
        yield "one worker", "killed", Case(name, seed + 1, ROWS.get(name, 600), few, workers=1)
    for number, evaluator in enumerate(EVALUATORS if "transactions" in shapes else ()):
        by = (("viper__transactions__evaluator", evaluator), ("viper__transactions__threads", 2))
        yield "evaluators", "killed", Case(
            "transactions", seed + number, 1000, 5 * kills, options=by, is_swift=True
        )
    if "drawn" in shapes:
        for more in range(2, 12):
            yield "drawn", "killed", Case("drawn", seed + more, 600, max(kills // 5, 1))
    for name in shapes:
        few, rows = max(kills // 4, 1), ROWS.get(name, 3000) // 4
        yield "scaled", "killed", Case(name, seed, rows, few, scaled=True)
        yield "scaled with checkpoints", "killed", Case(name, seed, rows, few, scaled=True, checkpoints=True)
    for name in shapes:
        rows = ROWS.get(name, 1500) // 2
        few = max(kills // 5, 1)
        yield "with checkpoints", "killed", Case(name, seed, rows, few, checkpoints=True)
    for name in shapes:
        rows = {"bursts": 120, "words": 3000}.get(name, 800)
        few = max(kills // (10 if name == "words" else 40), 1)  # as each starts all processes anew
        yield "whole groups", "group", Case(name, seed, rows, few, checkpoints=True)
    for name in shapes:
        rows = 120 if name == "bursts" else 800
        yield "leaders", "leader", Case(name, seed, rows, max(kills // 40, 1), checkpoints=True)
    for name in shapes:
        if name == "saturated":  # whose order depends on the parallelism
            continue
        rows = 120 if name == "bursts" else 800
        yield "suspended", "suspended", Case(name, seed, rows, max(kills // 40, 1), checkpoints=True)


def deaths_of(case: Case, folder: Path) -> int:
    """As `check_killed`; returns the number of deaths."""
    return check_killed(case, folder).deaths


CHECKS = {
    "killed": deaths_of,
    "group": check_killed_as_a_whole,
    "leader": check_leader_killed,
    "suspended": check_suspended,
}


def main() -> int:
    """Exit code 1 if any run differs from an undisturbed one, fails, hangs, or leaves something behind."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(SHAPES)}; all by default")
    parser.add_argument("--kills", type=int, default=200, help="deaths in each run whose workers are killed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        return _one(*options.one)
    wrong = set(options.shapes) - set(SHAPES)
    if wrong:
        parser.error(f"no shapes {sorted(wrong)}; there are {list(SHAPES)}")
    found = list(campaigns(options.kills, options.seed, options.shapes or list(SHAPES)))
    print(f"KILLS={options.kills} SEED={options.seed}: {len(found)} runs", flush=True)
    began_s, totals, failures = time.monotonic(), dict[str, list[int]](), 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for (campaign, _, case), (kills, told) in zip(found, pool.map(_run, found), strict=True):
            totals.setdefault(campaign, []).append(kills)
            failures += bool(told)
            print(f"{campaign}: {case}: {told or f'{kills} deaths or suspensions'}", flush=True)
    for campaign, counts in totals.items():
        print(f"{campaign}: {len(counts)} runs, {sum(counts):,} in all")
    print(f"{failures} failures in {time.monotonic() - began_s:.0f} s")
    return 1 if failures else 0


def _run(found: tuple[str, str, Case]) -> tuple[int, str]:
    """Run a case in a process of its own; returns the number of deaths, and what is wrong."""
    _, check, case = found
    command = [sys.executable, "-W", "error", "-m", "tests.kills", "--one", check, json.dumps(asdict(case))]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        told, errors = running.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGKILL)
        running.communicate()
        return 0, f"hangs for {LONGEST_S} s"
    kills = int(told) if told.strip().isdecimal() else 0
    return kills, "" if running.returncode == 0 else f"exit code {running.returncode}: {errors[-2000:]}"


def _one(check: str, case: str) -> int:
    logging.disable(logging.ERROR)
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    try:
        kills = CHECKS[check](Case(**json.loads(case)), folder)
    except WrongError as error:
        print(f"{error}; its files are in {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    print(kills)
    return 1 if multiprocessing.active_children() else 0


if __name__ == "__main__":
    sys.exit(main())
