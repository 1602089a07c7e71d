"""Tasks chosen by key: version 2 of the stable hash, in C, beside version 1, which Python made with blake2b.

For several kinds of keys: nanoseconds per row for the tasks of batches of rows

    v1        version 1, which remembered in a dict the tasks of up to 65,536 keys that it had seen
    rows      version 2, of rows as tuples of Python values
    columns   version 2, of the same rows as Arrow arrays; a dash where pyarrow is not installed

and how many times as fast as version 1 the last two are. Keys come again, but for those that are called
new. A second table has nanoseconds per row for dividing rows among so many tasks: the indexes of the rows in
the order of their tasks.

All take turns in one process; figures are medians of the CPU time of the thread.

    python benchmarks/hashing.py [--size N] [--batches N] [--rounds N] [--kind KIND ...]
"""

from __future__ import annotations

import argparse
import datetime
import numbers
import random
import statistics
import time
from array import array
from collections.abc import Callable, Iterator
from hashlib import blake2b
from importlib.util import find_spec
from operator import itemgetter
from typing import Any

from rows_to_code import Row, texts
from running import print_row

from framework.model.topology import Grouping
from framework.planning.routing import make_router
from viper.hashing import split

TASKS = 7
"""No power of two, so that its remainders are those of a division."""
PARTS = (2, 4, 16, 64)
REMEMBERED = 1 << 16
WIDTHS = (-14, 9, 9, 9, 11, 14)
DAY = datetime.date(2020, 1, 1)


def spread(count: int) -> Iterator[int]:
    """Numbers of which none comes again, and which do not ascend."""
    return iter(random.Random(1).sample(range(10 * count), count))


KINDS: dict[str, Callable[[int], Iterator[Row]]] = {
    "word": lambda count: ((word,) for word in texts(count)),
    "word, int": lambda count: ((word, number % 10) for number, word in enumerate(texts(count))),
    "name": lambda count: ((f"customer number {number % 5000}",) for number in range(count)),
    "int": lambda count: ((number % 1000,) for number in spread(count)),
    "int, new": lambda count: ((number,) for number in spread(count)),
    "float, new": lambda count: ((number / 7,) for number in spread(count)),
    "date": lambda count: ((DAY + datetime.timedelta(days=number % 1000),) for number in spread(count)),
}
"""The keys, by the name that is printed."""

Batch = tuple[list[Row], "list[Any] | None"]
"""The same keys as rows and, where there is pyarrow, as columns."""


class Version1(dict[Any, int]):
    """Version 1 of the stable hash, for the kinds of keys above: the tasks of keys."""

    def __missing__(self, key: Any) -> int:
        found = self[key] = int.from_bytes(_digest(key), "little") % TASKS
        return found

    def targets(self, rows: list[Row], key: Callable[[Row], Any]) -> array[int]:
        """The task of each row."""
        if len(self) > REMEMBERED:
            self.clear()
        return array("H", map(self.__getitem__, map(key, rows)))


def _digest(key: Any) -> bytes:
    if isinstance(key, str):
        return _mixed(key.encode("utf-8", "surrogatepass"))
    if isinstance(key, numbers.Number):
        return _mixed(b"number " + hash(key).to_bytes(8, "little", signed=True))
    if isinstance(key, tuple):
        return _mixed(b"sequence " + b"".join(map(_digest, key)))
    return _mixed(f"date {key.isoformat()}".encode())


def _mixed(data: bytes) -> bytes:
    return blake2b(data, digest_size=8, usedforsecurity=False).digest()


def batches_of(kind: str, size: int, number: int) -> list[Batch]:
    """Rows and columns of a kind."""
    rows = KINDS[kind](size * number)
    cut = [[next(rows) for _ in range(size)] for _ in range(number)]
    return [(batch, as_columns(batch)) for batch in cut]


def as_columns(rows: list[Row]) -> list[Any] | None:
    """Rows as Arrow arrays; None without pyarrow."""
    if find_spec("pyarrow") is None:
        return None
    import pyarrow

    return [pyarrow.array(list(values)) for values in zip(*rows, strict=True)]


def cpu_ns(work: Callable[[], object]) -> int:
    """CPU time of this thread for some work, in nanoseconds."""
    began = time.thread_time_ns()
    work()
    return time.thread_time_ns() - began


def measure(kind: str, size: int, number: int, rounds: int) -> dict[str, float]:
    """Medians of nanoseconds per row, by column of the table."""
    batches = batches_of(kind, size, number)
    fields = [str(index) for index in range(len(batches[0][0][0]))]
    router = make_router(Grouping.fields(*fields), fields, TASKS, 0)
    before, key = Version1(), itemgetter(*range(len(fields)))
    ways: dict[str, Callable[[], object]] = {
        "v1": lambda: [before.targets(rows, key) for rows, _ in batches],
        "rows": lambda: [router.targets(rows) for rows, _ in batches],
    }
    if batches[0][1] is not None:
        ways["columns"] = lambda: [router.targets_of_columns(columns or [], size) for _, columns in batches]
        assert [router.targets(rows) for rows, _ in batches] == ways["columns"]()
    ways["v1"]()
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, work in ways.items():
            times[way].append(cpu_ns(work) / (size * number))
    return {way: statistics.median(found) for way, found in times.items()}


def measure_split(parts: int, size: int, number: int, rounds: int) -> float:
    """Median of nanoseconds per row for the order of rows by task."""
    rows = [(value,) for value in spread(size)]
    fields = ["key"]
    targets = make_router(Grouping.fields("key"), fields, parts, 0).targets(rows)
    times = [cpu_ns(lambda: [split(targets, parts) for _ in range(number)]) for _ in range(rounds)]
    return statistics.median(times) / (size * number)


def main() -> None:
    """Measure, and print nanoseconds per row and ratios."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--size", type=int, default=4096, help="rows in a batch (4,096)")
    parser.add_argument("--batches", type=int, default=50, help="batches in a round (50)")
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each (9)")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=list(KINDS), help="of keys (all)")
    args = parser.parse_args()
    print_row(("key", "v1", "rows", "columns", "rows, ratio", "columns, ratio"), WIDTHS)
    for kind in args.kind:
        found = measure(kind, args.size, args.batches, args.rounds)
        cells = [f"{found[way]:.1f}" if way in found else "-" for way in ("v1", "rows", "columns")]
        ratios = [f"{found['v1'] / found[way]:.1f}" if way in found else "-" for way in ("rows", "columns")]
        print_row((kind, *cells, *ratios), WIDTHS)
    print_row(("tasks", "split"), WIDTHS[:2])
    for parts in PARTS:
        ns = measure_split(parts, args.size, args.batches, args.rounds)
        print_row((f"{parts}", f"{ns:.2f}"), WIDTHS[:2])


if __name__ == "__main__":
    main()
