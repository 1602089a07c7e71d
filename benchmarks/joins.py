"""Comparisons of a join a second: scans of stored columns in C and in NumPy, and candidates of an index.

The streams are those of the benchmark of ScaleJoin: x of 32-bit ints and y of 32-bit floats, both even from 1
to 10,000. Pairs match whose values lie no further apart than 10. So many rows are stored of one stream;
tuples of the other one are matched with them. The figures are CPU time of one thread, best of all rounds; the
matches of all ways are the same, or it ends with an error.

    python benchmarks/joins.py [--stored N] [--tuples N] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from framework.operators.windows.joins import Band, Origin, Search, Within
from framework.operators.windows.joins.matching import Matcher
from framework.operators.windows.joins.rows import Stored, StoredRows
from viper.schema import Schema

CONDITION = Band(10, left="x", right="a") & Band(10, left="y", right="b") & Within("5m")
ORIGINS = (
    Origin(("x", "y"), Schema.of(["int32", "float32"], ["x", "y"])),
    Origin(("a", "b"), Schema.of(["int32", "float32"], ["a", "b"])),
)
WAYS: dict[str, Search] = {
    "scan in C": Search(CONDITION),
    "scan in NumPy": Search(CONDITION, scan="numpy"),
    "index by x": Search(CONDITION, ("x",)),
    "index by x and y": Search(CONDITION, ("x", "y")),
}


def drawn(count: int, seed: int) -> list[tuple[int, float]]:
    """Values of so many tuples."""
    random = np.random.default_rng(seed)
    x = random.integers(1, 10_001, count)
    y = random.uniform(1, 10_000, count).astype(np.float32)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def measured(search: Search, stored: int, tuples: int, rounds: int) -> dict[str, Any]:
    """Measure one way: its time, and the matches that it finds."""
    sides = StoredRows(), StoredRows()
    for number, values in enumerate(drawn(stored, seed=1)):
        sides[1].add(Stored(number, 0, values))
    matcher = Matcher(search, ORIGINS, sides)
    incoming, best_s, found = drawn(tuples, seed=2), float("inf"), 0
    for _ in range(rounds):
        sides[1].compared = 0
        begun = time.thread_time()
        found = sum(len(matcher.matches(0, values)) for values in incoming)
        best_s = min(best_s, time.thread_time() - begun)
    seen = sides[1].compared
    told = {"tuples_per_s": round(tuples / best_s), "matches": found}
    return told | ({"candidates": seen} if search.index else {"comparisons_per_s": round(seen / best_s)})


def main() -> None:
    """Measure all ways, and print what they take as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--stored", type=int, default=300_000, help="rows that are stored")
    parser.add_argument("--tuples", type=int, default=300, help="tuples that are matched with them")
    parser.add_argument("--rounds", type=int, default=5, help="how often each way is measured")
    given = parser.parse_args()
    sizes = given.stored, given.tuples, given.rounds
    results = {name: measured(search, *sizes) for name, search in WAYS.items()}
    if len({result["matches"] for result in results.values()}) != 1:
        raise SystemExit(f"the ways find different matches: {results}")
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
