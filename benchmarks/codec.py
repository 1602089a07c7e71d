"""The codec of jumbo tuples that cross between processes, against plain marshal and pickle.

For several kinds of rows: nanoseconds per row for encoding jumbo tuples and for decoding them, and bytes
per row. The decoder is always the same one, as a reader's is, and so knows texts again. The three take
turns in one process; medians of the rounds. A dash: marshal does not take such values.

    python benchmarks/codec.py [--size N] [--jumbos N] [--rounds N] [--kind KIND ...]
"""

from __future__ import annotations

import argparse
import marshal
import pickle
import statistics
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

from rows_to_code import KINDS, Row
from running import print_row

from viper import codec
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.rows import Decoder

Coder = tuple[Callable[[list[Row]], bytes], Callable[[bytes], Any]]
WIDTHS = (-19, -7, 10, 10, 9)


def coders() -> dict[str, Coder]:
    """List the encoders and decoders of rows, by the name that is printed."""
    decoder = Decoder()

    def decode(data: bytes) -> list[Row]:
        return codec.decode(memoryview(data), decoder).payload.rows

    return {
        "viper": (lambda rows: codec.encode(Jumbo(Rows(rows))), decode),
        "marshal": (marshal.dumps, marshal.loads),
        "pickle": (lambda rows: pickle.dumps(rows, 5), pickle.loads),
    }


def jumbos(kind: str, size: int, number: int) -> list[list[Row]]:
    """The rows of so many jumbo tuples."""
    rows = KINDS[kind](size * number)
    return [list(islice(rows, size)) for _ in range(number)]


def timed(coder: Coder, batches: list[list[Row]]) -> tuple[float, float, int]:
    """Seconds for encoding and for decoding all, and bytes.

    Raises:
        ValueError: marshal does not take a value.
    """
    encode, decode = coder
    began = time.perf_counter()
    encoded = [encode(rows) for rows in batches]
    then = time.perf_counter()
    for data in encoded:
        decode(data)
    ended = time.perf_counter()
    return then - began, ended - then, sum(map(len, encoded))


def measure(kind: str, size: int, number: int, rounds: int) -> dict[str, tuple[float, ...]]:
    """For each coder the medians of nanoseconds per row, encoding and decoding, and bytes per row."""
    batches = jumbos(kind, size, number)
    found: dict[str, list[tuple[float, float, int]]] = {}
    able = {name: coder for name, coder in coders().items() if carries(coder, batches)}
    for _ in range(rounds):
        for name, coder in able.items():
            found.setdefault(name, []).append(timed(coder, batches))
    medians = {name: map(statistics.median, zip(*times, strict=True)) for name, times in found.items()}
    scales = (1e9, 1e9, 1)
    return {
        name: tuple(scale * value / (size * number) for scale, value in zip(scales, values, strict=True))
        for name, values in medians.items()
    }


def carries(coder: Coder, batches: list[list[Row]]) -> bool:
    """True if rows come out as they went in; False if they cannot go in."""
    encode, decode = coder
    try:
        data = encode(batches[0])
    except ValueError:
        return False
    assert decode(data) == batches[0]
    return True


def main() -> None:
    """Measure, and print nanoseconds and bytes per row."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--size", type=int, default=1024, help="rows in a jumbo tuple (1,024)")
    parser.add_argument("--jumbos", type=int, default=200, help="jumbo tuples in a round (200)")
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each (9)")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=list(KINDS), help="of rows (all)")
    args = parser.parse_args()
    print_row(("rows", "codec", "encode ns", "decode ns", "bytes"), WIDTHS)
    for kind in args.kind:
        found = measure(kind, args.size, args.jumbos, args.rounds)
        for name in coders():
            cells = tuple(round(value) for value in found[name]) if name in found else ("-", "-", "-")
            print_row((kind, name, *cells), WIDTHS)


if __name__ == "__main__":
    main()
