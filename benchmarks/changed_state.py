"""The cost of noting which rows of state change, and of writing them for a checkpoint while they change.

One task counts keys in a `ValueState("int64")` by `add_all`, from Arrow columns of integers, of a few hot
keys and of all keys alike. It does so without checkpoints, with them, and while a snapshot of all rows is
pending; and key by key, as bolts do that have one tuple at a time. Rounds of the kinds alternate. Then the
task makes snapshots, of everything and of some of the keys. All figures are processor time.

    python benchmarks/changed_state.py [--keys N] [--rounds N]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from viper.arena import Arena
from viper.state import KeyedState, KeyedTable, Pool, StateCell, UndoLog, Writer, next_chunk

GROUPS = 256
HOT = 1000
SLICE = 4096
PIECE_BYTES = 1 << 16


class Task:
    """A task with one state of all key groups."""

    def __init__(self, keys: int, *, tracked: bool) -> None:
        size = 160 * keys + (1 << 27)
        fixed = KeyedState.size(1, GROUPS, tracked=tracked) + UndoLog.size()
        arena = Arena.private(Pool.size(size) + fixed)
        pool = Pool.create(arena, size)
        self.state = KeyedState.create(arena, ["q"], groups=GROUPS, first_owner=2, tracked=tracked)
        self.writer = Writer(arena, pool, UndoLog.create(arena, owner=1), self.state.owners)
        self.table: KeyedTable = self.state.table(self.writer, 0, "seen", groups=range(GROUPS))
        self.cell_scope = self.state.scope(self.writer)
        self.cell = StateCell(self.cell_scope, self.table, 0)
        self.number = 0
        self.count(np.arange(keys))

    def count(self, keys: np.ndarray) -> float:
        """Count keys, slice by slice; returns the seconds for each."""
        column = pa.array(keys)
        began_s = time.thread_time()
        for first in range(0, len(keys), SLICE):
            self.cell.add_all(column.slice(first, SLICE))
            self.writer.commit()
        return (time.thread_time() - began_s) / len(keys)

    def count_singly(self, keys: np.ndarray) -> float:
        """Likewise key by key."""
        keys_of_tuples = [(key,) for key in keys[: len(keys) // 4].tolist()]
        scope, add = self.cell_scope, self.cell.add
        began_s = time.thread_time()
        for number, key in enumerate(keys_of_tuples):
            scope.enter(key, (0,))
            add(1)
            if number % SLICE == 0:
                self.writer.commit()
        self.writer.commit()
        return (time.thread_time() - began_s) / len(keys_of_tuples)

    def begin(self, *, whole: bool) -> float:
        """Begin a snapshot; returns the seconds for that."""
        self.number += 1
        began_s = time.thread_time()
        self.table.cut(self.number, self.number - 1, whole)
        return time.thread_time() - began_s

    def write(self) -> tuple[int, float, float]:
        """Write it; returns bytes, seconds, and the seconds of the longest piece."""
        size, pieces_s = 0, []
        while True:
            began_s = time.thread_time()
            chunk = next_chunk(self.table, PIECE_BYTES)
            pieces_s.append(time.thread_time() - began_s)
            if chunk is None:
                return size, sum(pieces_s), max(pieces_s)
            size += len(chunk.data)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print it."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--keys", type=int, default=1_000_000, help="keys of the state (1,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    args = parser.parse_args(arguments)
    random = np.random.default_rng(1)
    draws = {
        "hot": random.integers(0, min(HOT, args.keys), 1_000_000),
        "uniform": random.integers(0, args.keys, 1_000_000),
    }
    plain, tracked = Task(args.keys, tracked=False), Task(args.keys, tracked=True)
    bytes_of_key = [task.state.bytes() / args.keys for task in (plain, tracked)]
    print(f"{args.keys:,} keys: {bytes_of_key[0]:.1f} bytes a key, {bytes_of_key[1]:.1f} with changes noted")
    for name, keys in draws.items():
        print_updates(name, keys, plain, tracked, args.rounds)
    print_snapshots(tracked, args.keys, random)


def print_updates(name: str, keys: np.ndarray, plain: Task, tracked: Task, rounds: int) -> None:
    """Print what an update costs."""
    for way in ("count", "count_singly"):
        found: dict[str, list[float]] = {"not noted": [], "noted": [], "pending": []}
        for _ in range(rounds):
            found["not noted"].append(getattr(plain, way)(keys))
            found["noted"].append(getattr(tracked, way)(keys))
            tracked.begin(whole=True)
            found["pending"].append(getattr(tracked, way)(keys))
            tracked.write()
        told = ", ".join(f"{kind} {1e9 * statistics.median(times):.0f}" for kind, times in found.items())
        print(f"  {name}, {'many keys a call' if way == 'count' else 'key by key'}: ns an update {told}")


def print_snapshots(task: Task, keys: int, random: np.random.Generator) -> None:
    """Print what snapshots take."""
    for share in (1.0, 0.1, 0.01, 0.0):
        if share:
            task.count(random.permutation(keys)[: int(share * keys)])
        begin_s = task.begin(whole=share == 1.0)
        size, write_s, longest_s = task.write()
        print(
            f"  {share:4.0%} changed: begun in {1e3 * begin_s:.2f} ms, {size:,} bytes "
            f"written in {1e3 * write_s:.1f} ms, longest piece {1e3 * longest_s:.2f} ms"
        )


if __name__ == "__main__":
    main()
