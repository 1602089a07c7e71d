"""A bolt that asks a service which answers slowly: how many times the rate of one question at a time.

    one by one  one task, which waits for each answer
    claims      --in-flight tasks with `viper.blocking` and `viper.sharing: claims`
    coroutines  one task with `async def process`, and --in-flight tuples in flight
    both        two tasks with coroutines and claims, and half of --in-flight in each

All ways ask in turns, and medians count. The rows have to come in the order of the questions each time. Only
--single questions are asked one by one, as that takes longest. Answers take --answer milliseconds; with
--spread 10 they take from that to ten times as long, of which each is as likely. With --answer 0 coroutines
wait for nothing, and the table shows what they cost.

    python benchmarks/asking.py --questions 3200 --place inline "2 processes"
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from parametric import PLACES
from running import print_row, run_with

from framework import Bolt, Spout, TopologyBuilder
from framework.operators.sinks import CollectingSink

WIDTHS = (-12, -12, 10, 12, 8)


class Questions(Spout):
    """Emits numbers, and the seconds that each answer takes.

    Args:
        count: of the numbers.
        answer_s: the least seconds.
        spread: the most seconds by the least.
    """

    outputs = ["number", "answer_s"]

    def __init__(self, count: int, answer_s: float, spread: float) -> None:
        super().__init__()
        self._count = count
        self._answer_s = answer_s
        self._spread = spread

    def tuples(self) -> Iterator[list[Any]]:
        """Yield all of them."""
        draw = random.Random(1)
        for number in range(self._count):
            yield [number, self._answer_s * draw.uniform(1, self._spread)]


class Asks(Bolt):
    """Waits for each answer in the thread of its task."""

    outputs = ["number", "began_s", "ended_s"]

    def process(self, tup: Any) -> None:
        """Ask, and emit."""
        began_s = time.monotonic()
        time.sleep(tup.values.answer_s)
        self.emit([tup.values.number, began_s, time.monotonic()])


class Awaits(Asks):
    """Awaits each answer."""

    async def process(self, tup: Any) -> None:  # type: ignore[override]
        """Ask, and emit."""
        began_s = time.monotonic()
        if tup.values.answer_s:
            await asyncio.sleep(tup.values.answer_s)
        self.emit([tup.values.number, began_s, time.monotonic()])


def ways(in_flight: int) -> dict[str, tuple[type[Bolt], int, dict[str, Any]]]:
    """Of each way the bolt, its tasks and its configuration."""
    claims = {"viper.sharing": "claims"}
    return {
        "one by one": (Asks, 1, {"viper.blocking": True}),
        "claims": (Asks, in_flight, {"viper.blocking": True, **claims}),
        "coroutines": (Awaits, 1, {"viper.async.in_flight": in_flight}),
        "both": (Awaits, 2, {"viper.async.in_flight": max(in_flight // 2, 1), **claims}),
    }


def rate(way: tuple[type[Bolt], int, dict[str, Any]], place: str, count: int, args: Any) -> float:
    """Questions a second, from the first one to the last answer.

    Raises:
        SystemExit: the rows are not in the order of the questions.
    """
    bolt, tasks, config = way
    builder = TopologyBuilder()
    builder.set_spout("questions", Questions, args=[count, args.answer / 1000, args.spread])
    declared = builder.set_bolt("asks", bolt, tasks, config={"viper.stateless": True, **config})
    declared.shuffle_grouping("questions")
    builder.set_bolt("sink", CollectingSink).global_grouping("asks")
    rows = run_with(builder.build("asking"), PLACES[place]).result("sink")
    if [row[0] for row in rows] != list(range(count)):
        raise SystemExit(f"{way}, {place}: the rows are not in the order of the questions")
    return float(count / (max(row[2] for row in rows) - min(row[1] for row in rows)))


def main() -> None:
    """Measure each way in each place, and print a table."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--questions", type=int, default=3200, help="of a run (3200)")
    parser.add_argument("--single", type=int, default=160, help="of a run one by one (160)")
    parser.add_argument("--answer", type=float, default=20.0, help="ms until an answer comes, at least (20)")
    parser.add_argument("--spread", type=float, default=1.0, help="the longest by the shortest (1)")
    parser.add_argument("--in-flight", type=int, default=32, help="questions on their way (32)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(all)")
    parser.add_argument("--rounds", type=int, default=3, help="of which medians count (3)")
    args = parser.parse_args()
    print_row(("place", "way", "questions", "a second", "times"), WIDTHS)
    for place in args.place:
        found = {way: list[float]() for way in ways(args.in_flight)}
        for _ in range(args.rounds):
            for way, parts in ways(args.in_flight).items():
                count = args.single if way == "one by one" else args.questions
                found[way].append(rate(parts, place, count, args))
        alone = median(found["one by one"])
        for way, rates in found.items():
            count = args.single if way == "one by one" else args.questions
            print_row((place, way, count, f"{median(rates):,.1f}", f"{median(rates) / alone:.1f}"), WIDTHS)


if __name__ == "__main__":
    main()
