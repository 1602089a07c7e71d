"""The cost of a ScaleGate as Python uses it: add and get_ready, per jumbo tuple and per tuple.

In one thread each source adds a jumbo tuple, then the reader takes all that is ready, and so on. With
disjoint jumbo tuples the sources take turns, so that each comes out in one run; with interleaved ones
they change after every tuple, the worst that can come. Payloads pass by reference; in the last column
the disjoint ones are encoded and decoded, as between processes. Medians of the rounds.

    python benchmarks/gate.py [--sources N ...] [--size N ...] [--tuples N] [--rounds N]
"""

from __future__ import annotations

import argparse
import statistics
import time
from array import array
from dataclasses import dataclass

from running import print_row

from viper.arena import Arena
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Row, Rows
from viper.position import Level, Positions, SourceClock

SLOTS = 64
PAYLOAD_BYTES = 4 << 20
SLICE = 4096
LEVEL = Level(offset=0, ordinal_bits=16, tag_bits=0, tag=0)
WIDTHS = (7, 6, 10, 13, 10, 13, 10)


@dataclass(slots=True)
class Cost:
    """Seconds in all."""

    add_s: float = 0.0
    get_ready_s: float = 0.0


def make_gate(sources: int, size: int, encoded: bool) -> ScaleGate:
    """A gate with one reader, which it treats as one of another process if payloads shall be encoded."""
    shape = {"slots": SLOTS, "tuples": 2 * max(size, SLICE), "payload_bytes": PAYLOAD_BYTES * encoded}
    arena = Arena.private(ScaleGate.size(sources, 1, **shape))
    gate = ScaleGate.create(arena, sources, 1, **shape)
    return ScaleGate.attach(arena, gate.offset) if encoded else gate


def positions_of(source: int, sources: int, size: int, jumbos: int, interleaved: bool) -> Positions:
    """The positions of all tuples of a source."""
    found = Positions()
    if interleaved:
        stamps = array("q", range(source, sources * size * jumbos, sources))
        found.extend_timed(stamps, SourceClock(), LEVEL)
    else:
        for number in range(jumbos):
            found.extend_logical((number * sources + source) * size, size, LEVEL)
    return found


def timed(sources: int, size: int, jumbos: int, *, interleaved: bool = False, encoded: bool = False) -> Cost:
    """Take so many jumbo tuples of each source through a gate."""
    gate = make_gate(sources, size, encoded)
    reader, ends = gate.reader(0), [gate.source(index) for index in range(sources)]
    positions = [positions_of(index, sources, size, jumbos, interleaved) for index in range(sources)]
    rows: list[Row] = [("word", 1)] * size
    into, cost, delivered = Positions(), Cost(), 0
    for number in range(jumbos + 1):
        began = time.perf_counter()
        for end, placed in zip(ends, positions, strict=True):
            if number == jumbos:
                end.close()
            elif not end.add(Jumbo(Rows(rows)), placed, number * size, size):
                raise AssertionError("the reader has taken everything, and yet there is no room")
        then = time.perf_counter()
        into.clear()
        while reader.get_ready(SLICE, into):
            delivered += len(into)
            into.clear()
        cost.add_s += then - began
        cost.get_ready_s += time.perf_counter() - then
    assert delivered == sources * size * jumbos, f"{delivered:,} tuples delivered"
    return cost


def measure(sources: int, size: int, tuples: int, rounds: int) -> tuple[float, ...]:
    """Nanoseconds: of add and of get_ready per jumbo tuple, and per tuple of all three kinds."""
    jumbos = max(tuples // (sources * size), 1)
    found = []
    for _ in range(rounds):
        disjoint = timed(sources, size, jumbos)
        others = (timed(sources, size, jumbos, interleaved=True), timed(sources, size, jumbos, encoded=True))
        per_tuple = [(cost.add_s + cost.get_ready_s) / size for cost in (disjoint, *others)]
        found.append((disjoint.add_s, disjoint.get_ready_s, *per_tuple))
    return tuple(1e9 * statistics.median(column) / (sources * jumbos) for column in zip(*found, strict=True))


def main() -> None:
    """Measure, and print nanoseconds."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--sources", type=int, nargs="+", default=[1, 2, 4, 16], help="(1, 2, 4 and 16)")
    sizes = [1, 16, 64, 256, 1024, 4096]
    parser.add_argument("--size", type=int, nargs="+", default=sizes, help="of jumbo tuples (1 to 4,096)")
    parser.add_argument("--tuples", type=int, default=200_000, help="in each measurement (200,000)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each (5)")
    args = parser.parse_args()
    print_row(("", "", "ns/jumbo", "ns/jumbo", "ns/tuple", "ns/tuple", "ns/tuple"), WIDTHS)
    print_row(("sources", "size", "add", "get_ready", "both", "interleaved", "encoded"), WIDTHS)
    for sources in args.sources:
        for size in args.size:
            *per_jumbo, both, interleaved, encoded = measure(sources, size, args.tuples, args.rounds)
            per_tuple = (f"{cost:,.1f}" for cost in (both, interleaved, encoded))
            print_row((sources, size, *map(round, per_jumbo), *per_tuple), WIDTHS)


if __name__ == "__main__":
    main()
