"""Columns of another process, copied and borrowed: CPU time of a batch bolt's call with the take before it.

Another process adds batches of random numbers to a gate. This one takes them, with a copy and without one in
turn, 20 batches each, and computes with each what a bolt might: the sum of one column, or a filter over all.
The table has the least and the median of this thread's microseconds for a batch, and what borrowing saves of
the median.

    python benchmarks/borrowing.py [--batches N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from running import print_row

from framework.model.topology import Stream
from framework.operators.components.rows import Origin, Rows
from viper.arena import Arena, ArenaHandle
from viper.columns.payload import Columns
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.position import LEAST, Positions
from viper.reader import Reader

SHAPES: Final = ((3, 16_384), (30, 2_048), (30, 16_384))
"""Columns and rows of a batch: of 30 columns a jumbo tuple has 2,048 rows, and more in a larger channel."""
DIFFERENT: Final = 12
"""Batches that differ; with fewer their source's caches would have them all."""
IN_A_ROW: Final = 20
LEAST_KEPT: Final = pa.scalar(1.0)
WIDTHS: Final = (-8, 7, 6, 13, 14, 15, 16, 5)


def filtered(rows: Rows) -> None:
    """Keep 99 % of the rows."""
    rows.where(pc.greater_equal(rows.array("f0"), LEAST_KEPT))


def summed(rows: Rows) -> None:
    """Add up one column."""
    rows.numpy("f0").sum()


def produce(handle: ArenaHandle, offset: int, shape: tuple[int, int], count: int) -> None:
    """Add so many batches, as fast as there is room."""
    fields, rows = shape
    random, source = np.random.default_rng(1), ScaleGate.attach(Arena.attach(handle), offset).source(0)
    names = [f"f{index}" for index in range(fields)]
    jumbos = [
        Jumbo(Columns(pa.record_batch({name: random.random(rows) * 100 for name in names})))
        for _ in range(DIFFERENT)
    ]
    positions = Positions()
    for _ in range(rows):
        positions.append(LEAST)
    for index in range(count):
        while not source.add(jumbos[index % DIFFERENT], positions, 0, rows):
            os.sched_yield()


def timed(reader: Reader, origin: Origin, size: int, compute: Callable[[Rows], None], borrows: bool) -> float:
    """Microseconds of this thread for the next batch."""
    while reader.waiting_tuples() < size:
        os.sched_yield()
    began = time.thread_time_ns()
    ((_, jumbo, first, count),) = reader.get_ready(size, Positions(), borrows=borrows)
    rows = Rows.received(jumbo.payload.slice(first, count), origin, (), 0)
    compute(rows)
    del jumbo, rows
    assert reader.give_back() is None
    return (time.thread_time_ns() - began) / 1e3


def measure(shape: tuple[int, int], compute: Callable[[Rows], None], count: int) -> list[list[float]]:
    """The microseconds of each batch, copied and borrowed."""
    fields, rows = shape
    store = 16 * fields * rows * 8
    gate = {"slots": 64, "tuples": 16 * rows, "payload_bytes": store}
    arena = Arena.shared(2 * ScaleGate.size(1, 1, **gate))
    offset = ScaleGate.create(arena, 1, **gate).offset
    names = tuple(f"f{index}" for index in range(fields))
    origin = Origin("source", "default", names, Stream(schema=dict.fromkeys(names, "float64")).schema)
    reader = ScaleGate.attach(arena, offset).reader(0)
    found: list[list[float]] = [[], []]
    child: Any = get_context("spawn").Process(target=produce, args=(arena.handle(), offset, shape, count))
    child.start()
    for number in range(count):
        borrows = number // IN_A_ROW % 2
        found[borrows].append(timed(reader, origin, rows, compute, bool(borrows)))
    child.join()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--batches", type=int, default=4_000)
    count = parser.parse_args().batches
    ways = ("copied, least", "copied, median", "borrowed, least", "borrowed, median")
    print_row(("bolt", "columns", "rows", *ways, "saved"), WIDTHS)
    for compute in (summed, filtered):
        for shape in SHAPES:
            copied, borrowed = measure(shape, compute, count)
            medians = statistics.median(copied), statistics.median(borrowed)
            saved = f"{1 - medians[1] / medians[0]:.0%}"
            cells = (min(copied), medians[0], min(borrowed), medians[1])
            print_row((compute.__name__, *shape, *(f"{cell:,.0f}" for cell in cells), saved), WIDTHS)


if __name__ == "__main__":
    main()
