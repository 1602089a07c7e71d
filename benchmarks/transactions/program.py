"""The program in C that measures evaluators of transactions: builds it, asks what it can do, runs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.transactions.points import APPLICATIONS, PARTITIONS, Point

FOLDER = Path(__file__).parent
PROGRAM = FOLDER / "build" / "evaluators"
TIMEOUT_S = 300
WARM_UP = 50
"""Evaluations before those that are measured, at least; by then the default has found its way."""


class Evaluators:
    """The program, which is built if its sources have changed."""

    def __init__(self) -> None:
        subprocess.run(["make", "-s", "-C", str(FOLDER), "build/evaluators"], check=True)
        self.knows_costs = _ran(["--cost", "0", *_briefly("grep_sum")]).returncode == 0
        """True if operations can be made dearer."""

    def measure(self, point: Point, threads: int, rounds: int, transactions: int) -> list[Mapping[str, Any]]:
        """Run the program at a point: it prints how long its paths are, then each evaluator's figures.

        Args:
            point: the application and its parameters.
            threads: the most that evaluators have.
            rounds: of each evaluator, after a warm-up.
            transactions: of a round.

        Raises:
            ValueError: operations are to be dearer, and the program cannot do that.
            CalledProcessError: it has failed, such as by results that differ.
        """
        if point.cost and not self.knows_costs:
            raise ValueError(f"operations dearer by {point.cost} ns: the program has no option --cost")
        options = [
            ("load", APPLICATIONS[point.application][0]),
            ("skew", point.skew),
            ("partitions", PARTITIONS),
            ("crossing", point.share),
            ("length", point.length),
            ("reads", point.reads),
            ("batch", point.batch),
            ("gather", point.batch),
            ("threads", threads),
            ("rounds", rounds),
            ("warm-up", -(-WARM_UP * point.batch // transactions)),
            ("transactions", transactions),
            *([("cost", point.cost)] if point.cost else []),
        ]
        ran = _ran([text for name, value in options for text in (f"--{name}", str(value))])
        ran.check_returncode()
        return [json.loads(line) for line in ran.stdout.splitlines()]


def _briefly(application: str) -> list[str]:
    load = str(APPLICATIONS[application][0])
    return ["--load", load, "--rounds", "1", "--transactions", "100", "--evaluator", "0"]


def _ran(options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [str(PROGRAM), *options, "--json"]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
