"""Operators with a given cost, selectivity, state and skew: throughput and latency, by pipeline and place.

They are the parametric operators of a paper on ordered data parallelism. It is by G. Prasaad, G. Ramalingam
and K. Rajan: "Scaling Ordered Stream Processing on Shared-Memory Multicores", 2018. Its section 7 varies "the
per-tuple processing cost, input tuple size, state size (for partitioned stateful) and selectivity".

    stateless  a stateless operator
    keyed      one with state by key
    pair       a stateless operator, and one with state by key behind it

Each tuple carries its cost, which each operator pays for it:

    python     CPU time of a thread in Python, which no other thread of the process has meanwhile
    native     CPU time in C, which leaves the interpreter to other threads
    wait       time of the clock, as a service takes it that is asked (`viper.blocking`)

Costs are alike, or lie between --cost and --spread times as much, of which each tenfold is as likely. One
tuple in --slow-every costs --slow. Keys are drawn alike (`uniform`), by Zipf's law (`zipf:1.1`), or from a
normal distribution around the middle of the keys, as in the paper. Of `normal:0.3` the deviation is 0.3 of
half of them. With --rate, tuples come on a schedule, and their latency counts from there. Without, they
come as fast as there is room, and it counts from their emit. Other configuration is given by --conf of the
run and --bolt-conf of the operators.

    python benchmarks/parametric.py --cost 10 100 --place inline "2 processes" --selectivity 2

`--help` lists all options.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import time
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, product
from math import log
from typing import Any

import yaml
from pacing import LatencySink
from running import print_row, run_with

from framework import Bolt, Spout, TopologyBuilder, ValueState
from framework.model.topology import Topology

FIELDS = ["number", "part", "key", "cost_us", "payload", "scheduled_ns"]
PIPELINES = ("stateless", "keyed", "pair")
KINDS = ("python", "native", "wait")
PLACES: Mapping[str, Mapping[str, Any]] = {
    "inline": {"viper.worker": "inline"},
    "2 threads": {"viper.worker": "thread", "topology.workers": 2},
    "2 processes": {"viper.worker": "process", "topology.workers": 2},
}
BLOCK = bytes(8_192)
"""Hashed for a native cost: in some 10 us, and Python's lock is given up for more than 2,047 bytes."""
WIDTHS = (-10, 8, -12, 9, 9, 11, 10, 10, 10)


@dataclass(frozen=True)
class Given:
    """The tuples that come, and what is done with them; the module says more of each."""

    rows: int
    cost_us: float = 100.0
    kind: str = "python"
    selectivity: float = 1.0
    spread: float = 1.0
    slow_every: int = 0
    slow_us: float = 0.0
    keys: int = 100
    skew: str = "uniform"
    payload: int = 0
    state: int = 0
    rate: float = 0.0
    seed: int = 1

    @property
    def mean_us(self) -> float:
        """The mean cost of a tuple in an operator."""
        even_us = self.cost_us * ((self.spread - 1) / log(self.spread) if self.spread != 1 else 1)
        share = 1 / self.slow_every if self.slow_every else 0.0
        return (1 - share) * even_us + share * self.slow_us


def key_law(skew: str, keys: int) -> Callable[[random.Random], int]:
    """The function that draws keys from 0 on.

    Args:
        skew: uniform, zipf:EXPONENT or normal:DEVIATION.
        keys: how many there are.

    Raises:
        ValueError: there is no such law, or its number is none.
    """
    name, _, text = skew.partition(":")
    if skew == "uniform":
        return lambda chance: chance.randrange(keys)
    if name == "zipf":
        weights = list(accumulate((rank + 1) ** -float(text) for rank in range(keys)))
        return lambda chance: bisect(weights, chance.random() * weights[-1])
    if name == "normal":
        deviation = float(text)

        def drawn(chance: random.Random) -> int:
            while not -1 <= (value := chance.gauss(0, deviation)) < 1:
                pass
            return int((value + 1) / 2 * keys)

        return drawn
    raise ValueError(f"skew {skew!r}: expected uniform, zipf:EXPONENT or normal:DEVIATION")


def drawn(given: Given) -> Iterator[tuple[int, float]]:
    """The key and the cost of each tuple, without end."""
    chance, law, number = random.Random(given.seed), key_law(given.skew, given.keys), 0
    while True:
        number += 1
        is_slow = given.slow_every and number % given.slow_every == 0
        yield law(chance), given.slow_us if is_slow else given.cost_us * given.spread ** chance.random()


def pay(kind: str, cost_us: float) -> None:
    """Spend the cost of a tuple."""
    if kind == "wait":
        time.sleep(cost_us / 1e6)
        return
    end_ns = time.thread_time_ns() + int(cost_us * 1_000)
    if kind == "native":
        while time.thread_time_ns() < end_ns:
            hashlib.blake2b(BLOCK)
        return
    while time.thread_time_ns() < end_ns:
        pass


class Tuples(Spout):
    """Emits tuples with their costs, on a schedule or as fast as there is room."""

    outputs = FIELDS

    def __init__(self, given: Given) -> None:
        super().__init__()
        self._given = given

    def tuples(self) -> Iterator[tuple[Any, ...] | None]:
        """Yield all that are due, and None while nothing is."""
        given, payload = self._given, bytes(self._given.payload)
        begin_ns = time.monotonic_ns()
        for number, (key, cost_us) in zip(range(given.rows), drawn(given), strict=False):
            due_ns = begin_ns + int(number / given.rate * 1e9) if given.rate else time.monotonic_ns()
            while time.monotonic_ns() < due_ns:
                yield None
            yield number, 0, key, cost_us, payload, due_ns


class Operator(Bolt):
    """Pays the cost of each tuple, and emits it so many times.

    A selectivity of 0.5 emits every other tuple, and one of 2.5 two and three copies by turns.
    """

    outputs = FIELDS

    def __init__(self, given: Given, selectivity: float) -> None:
        super().__init__()
        self._kind = given.kind
        self._selectivity = selectivity

    def process(self, tup: Any) -> None:
        """Pay, and emit."""
        number, part, key, cost_us, payload, scheduled_ns = tup.values
        pay(self._kind, cost_us)
        outputs = int((number + 1) * self._selectivity) - int(number * self._selectivity)
        for copy in range(outputs):
            self.emit((number, part + copy, key, cost_us, payload, scheduled_ns))


class Stateless(Operator):
    """The operator without state."""

    config = {"viper.stateless": True}


class Keyed(Operator):
    """The operator with state by key: it numbers the tuples of a key, and writes so many bytes for each."""

    seen = ValueState("int64", default=0)
    content = ValueState("binary", default=b"")

    def __init__(self, given: Given, selectivity: float) -> None:
        super().__init__(given, selectivity)
        self._size = given.state

    def process(self, tup: Any) -> None:
        """Count, write, pay, and emit."""
        count = self.seen.add(1)
        if self._size:
            self.content.value = count.to_bytes(8, "little") + bytes(max(self._size - 8, 0))
        super().process(tup)


def pipeline(name: str, given: Given, tasks: int, sink: Any, bolt_conf: Mapping[str, Any]) -> Topology:
    """The topology of a pipeline.

    Args:
        name: one of `PIPELINES`; the selectivity of a pair is that of its first operator.
        given: its tuples and operators.
        tasks: of each operator.
        sink: takes what comes out.
        bolt_conf: configuration of the operators.
    """
    builder = TopologyBuilder()
    builder.set_spout("tuples", Tuples, args=[given])
    before, selectivity = "tuples", given.selectivity
    config = {"viper.blocking": True, **bolt_conf} if given.kind == "wait" else dict(bolt_conf)
    if name != "keyed":
        bolt = builder.set_bolt("stateless", Stateless, tasks, args=[given, selectivity], config=config)
        bolt.shuffle_grouping(before)
        before, selectivity = "stateless", 1.0
    if name != "stateless":
        bolt = builder.set_bolt("keyed", Keyed, tasks, args=[given, selectivity], config=config)
        bolt.fields_grouping(before, "key")
        before = "keyed"
    builder.set_bolt("sink", sink).global_grouping(before)
    return builder.build(f"parametric-{name}")


class Latencies(LatencySink):
    """As its base, and its result may be of no tuples."""

    def __init__(self) -> None:
        super().__init__(0)

    def result(self) -> dict[str, float]:
        """By the name that is printed."""
        return super().result() if self._latencies_ns else {}


def measured(name: str, place: str, given: Given, args: argparse.Namespace) -> Sequence[Any]:
    """The line of a run."""
    topology = pipeline(name, given, args.tasks, Latencies, values_of(args.bolt_conf))
    report = run_with(topology, {**PLACES[place], **values_of(args.conf)})
    cpu_s = sum(executor.cpu_s for executor in report.statistics.executors)
    found = report.result("sink")
    late = [round(found[each]) if found else "-" for each in ("p50", "p99", "max")]
    rate, cpu_us = round(given.rows / report.elapsed_s), f"{cpu_s * 1e6 / given.rows:,.1f}"
    return (name, round(given.cost_us), place, given.rows, rate, cpu_us, *late)


def values_of(pairs: Sequence[str]) -> dict[str, Any]:
    """Read configuration from texts KEY=VALUE, whose values are those of YAML."""
    return {key: yaml.safe_load(text) for key, _, text in (pair.partition("=") for pair in pairs)}


def main() -> None:
    """Measure each pipeline at each cost in each place, and print a table."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--pipeline", nargs="+", choices=PIPELINES, default=list(PIPELINES), help="(all)")
    parser.add_argument("--cost", nargs="+", type=float, default=[10.0, 100.0, 1e3, 1e4], help="us a tuple")
    parser.add_argument("--kind", choices=KINDS, default="python", help="of cost (python)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(all)")
    parser.add_argument("--tasks", type=int, default=2, help="of each operator (2)")
    parser.add_argument("--selectivity", type=float, default=1.0, help="outputs for an input (1)")
    parser.add_argument("--spread", type=float, default=1.0, help="highest cost by the lowest (1)")
    parser.add_argument("--slow-every", type=int, default=0, help="tuples; 0 for no slow ones (0)")
    parser.add_argument("--slow", type=float, default=100_000.0, help="us of a slow tuple")
    parser.add_argument("--keys", type=int, default=100, help="how many there are (100)")
    parser.add_argument("--skew", default="uniform", help="uniform, zipf:EXPONENT or normal:DEVIATION")
    parser.add_argument("--payload", type=int, default=0, help="bytes of a tuple (0)")
    parser.add_argument("--state", type=int, default=0, help="bytes of a key (0)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of work in the first operator, about (1)")
    parser.add_argument("--rate", type=float, default=0.0, help="tuples a second; 0 for all at once")
    parser.add_argument("--seed", type=int, default=1, help="of keys and costs (1)")
    parser.add_argument("--conf", nargs="*", default=[], metavar="KEY=VALUE")
    parser.add_argument("--bolt-conf", nargs="*", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    print_row(
        ("pipeline", "cost us", "place", "tuples", "tuples/s", "CPU us", "p50 us", "p99 us", "max us"), WIDTHS
    )
    for name, cost_us, place in product(args.pipeline, args.cost, args.place):
        kinds = {"kind": args.kind, "selectivity": args.selectivity, "spread": args.spread}
        slow = {"slow_every": args.slow_every, "slow_us": args.slow, "keys": args.keys, "skew": args.skew}
        sizes = {"payload": args.payload, "state": args.state, "rate": args.rate, "seed": args.seed}
        given = Given(0, cost_us, **kinds, **slow, **sizes)
        given = replace(given, rows=max(int(args.seconds * 1e6 / given.mean_us), 20))
        print_row(measured(name, place, given, args), WIDTHS)


if __name__ == "__main__":
    main()
