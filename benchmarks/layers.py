"""Viper's evaluation: streams put into one order by the communication layer, or by operators.

The operators, ``pos_rep`` and ``new_seg``, are those of the paper, and so is the grid: 1, 2, 4 and 6
injectors, as many instances, and a sink for each instance. Line n comes from injector n mod their number, so
that the streams interleave as finely as they can. The layers are gates; merge bolts that call the merge of
the gates; and merge bolts in plain Python (``viper.merge.layer``). A merge bolt is placed before each task
that has several producing tasks.

Each measurement is a run in processes of its own, as fast as it goes. The layers take turns, round by round,
in another order each time, and ratios are those of one round. The first figure is how many rows were injected
a second, from the first row at a sink to the last. The second is CPU seconds of all threads of execution per
million of these rows. The third is the median time from when an injector had a row until a sink had it, of
one row in 512. Before all that, every layer's output, with the most injectors and instances, is compared with
that of a loop.

    python -m benchmarks.layers [--rows N] [--rounds N] [--counts 1,2,4,6] [--operators pos_rep,new_seg]
                                [--worker process] [--workers 2] [--figure FILE.svg]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.layers_figure import Cell, as_svg, machine
from framework import Block, PartitionedSpout, TopologyBuilder
from framework.model.config import resolve
from framework.operators.sinks import CollectingSink, Sink
from framework.planning import make_plan
from framework.runtime import run
from framework.runtime.report import RunReport

sys.path.insert(0, str(Path(__file__).parent.parent / "topologies"))

from linear_road.generator import Generator, Traffic
from linear_road.operators import FIELDS, NewSegments, PositionReports

OPERATORS: Mapping[str, type] = {"pos_rep": PositionReports, "new_seg": NewSegments}
LAYERS = ("communication", "operator", "operator-python")
LINES = 120_000
"""Lines that are drawn; the injectors bring them again and again, later each time. Every number of injectors
divides it, so that line n is the same for all."""
AT_ONCE = 512
"""Rows that an injector has at hand at a time; the first one says when that was."""
CHECKED = 5_000
"""Rows of the comparison."""


@lru_cache(maxsize=1)
def drawn() -> list[tuple[int, ...]]:
    """Lines of the generator, of its busy time, as the rows that are injected."""
    traffic = Traffic(vehicles=60.0, peak_s=60.0)
    generator, lines = Generator(1, 7, traffic), list[tuple[int, ...]]()
    while len(lines) < LINES:
        lines += [(*line[:9], 0) for line in generator.second().tolist()]
    return lines[:LINES]


class Injector(PartitionedSpout):
    """Brings lines that lie in memory.

    Args:
        injectors: among how many they are divided.
        rows: how many there are, all together.
        stamps: whether the first of some rows says when it was at hand.
    """

    outputs = [*FIELDS, "stamp"]

    def __init__(self, injectors: int, rows: int, stamps: bool) -> None:
        super().__init__()
        self._injectors, self._rows, self._stamps = injectors, rows, stamps

    @property
    def partitions(self) -> int:
        """One for each injector."""
        return self._injectors

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Draw them before the clock starts."""
        drawn()

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block]:
        """The lines of one injector, each at its number as its time."""
        numbers = range(partition, self._rows, self._injectors)
        mine = [drawn()[number] for number in range(partition, LINES, self._injectors)]
        for first in range(0, len(numbers), AT_ONCE):
            times = array("q", numbers[first : first + AT_ONCE])
            begin = first % len(mine)
            rows = mine[begin : begin + len(times)]
            rows += mine[: len(times) - len(rows)]
            if self._stamps:
                rows[0] = (*rows[0][:-1], time.monotonic_ns())
            yield Block(times, rows)


class Watching(Sink):
    """Counts rows, and takes note of how long those took that say when they came."""

    dies_with_process = True

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """None has come yet."""
        self._count = self._first_ns = self._last_ns = 0
        self._delays_ns: list[int] = []

    def consume(self, rows: Sequence[Any]) -> None:
        """Note some."""
        now_ns = time.monotonic_ns()
        self._first_ns = self._first_ns or now_ns
        self._last_ns = now_ns
        self._count += len(rows)
        self._delays_ns += [now_ns - row[-1] for row in rows if row[-1]]

    def result(self) -> tuple[int, int, int, list[int]]:
        """The number of rows, the times of the first and the last one, and the delays."""
        return self._count, self._first_ns, self._last_ns, self._delays_ns


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of a run."""

    operator: str
    layer: str
    injectors: int
    instances: int
    rows: int
    worker: str
    workers: int

    def run(self, sink: type[Sink], *, stamps: bool) -> RunReport:
        """Run it."""
        builder = TopologyBuilder()
        builder.set_config("viper.time", "event")
        builder.set_spout("injector", Injector(self.injectors, self.rows, stamps), self.injectors)
        operator = builder.set_bolt("operator", OPERATORS[self.operator], self.instances)
        if self.operator == "new_seg":
            operator.fields_grouping("injector", "vid")
        else:
            operator.shuffle_grouping("injector")
        if sink is Watching:
            builder.set_bolt("sink", sink, self.instances).shuffle_grouping("operator")
        else:
            builder.set_bolt("sink", sink).global_grouping("operator")
        topology = builder.build("layers")
        options = {
            "viper.worker": self.worker,
            "topology.workers": self.workers,
            "viper.merge.layer": self.layer,
        }
        settings, problems = resolve(topology, options=options)
        assert not problems, problems
        return run(make_plan(topology, settings), settings)


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one run."""

    rows_a_second: float
    cpu_s_a_million: float
    delay_ms: float
    counted: int


def measure(setting: Setting) -> Measured:
    """Run once, here."""
    report = setting.run(Watching, stamps=True)
    found = report.results["sink"]
    seconds = (max(last for _, _, last, _ in found) - min(first for _, first, *_ in found if first)) / 1e9
    delays_ns = [delay for *_, delays in found for delay in delays]
    cpu_s = sum(executor.cpu_s for executor in report.statistics.executors)
    return Measured(
        rows_a_second=setting.rows / seconds,
        cpu_s_a_million=1e6 * cpu_s / setting.rows,
        delay_ms=statistics.median(delays_ns) / 1e6,
        counted=sum(count for count, *_ in found),
    )


def measured_apart(setting: Setting) -> Measured:
    """Likewise, in processes in which nothing is warm from another run."""
    command = [sys.executable, "-m", "benchmarks.layers", "--one", json.dumps(asdict(setting))]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Measured(**json.loads(said.stdout))


def expected(operator: str) -> list[tuple[int, ...]]:
    """Compute the output for the rows of the comparison, by a loop."""
    lines, places = drawn()[:CHECKED], dict[int, tuple[int, int]]()
    found = []
    for line in lines:
        place = line[4], line[7]
        if line[0] == 0 and (operator == "pos_rep" or places.get(line[2]) != place):
            places[line[2]] = place
            found.append(line)
    return found


def check(operator: str, worker: str, workers: int, counts: Sequence[int]) -> None:
    """End the program if any layer puts out anything else than a loop does."""
    right = expected(operator)
    for layer in LAYERS:
        setting = Setting(operator, layer, max(counts), max(counts), CHECKED, worker, workers)
        found = [tuple(row) for row in setting.run(CollectingSink, stamps=False).result("sink")]
        if found != right:
            sys.exit(f"{setting}: {len(found)} rows, expected {len(right)}, or not in this order")


def cell(setting: Setting, rounds: int, chance: random.Random) -> Cell:
    """Measure a cell with every layer, in turns."""
    runs: dict[str, list[Measured]] = {layer: [] for layer in LAYERS}
    for _ in range(rounds):
        for layer in chance.sample(LAYERS, len(LAYERS)):
            runs[layer].append(measured_apart(replace(setting, layer=layer)))
    if len({one.counted for found in runs.values() for one in found}) != 1:
        sys.exit(f"{setting}: the layers have counted different numbers of rows")
    values = {
        layer: {
            name: [getattr(one, name) for one in found]
            for name in ("rows_a_second", "cpu_s_a_million", "delay_ms")
        }
        for layer, found in runs.items()
    }
    return Cell(setting.operator, setting.injectors, setting.instances, values)


def main() -> None:
    """Measure the grid, print a line of JSON for each cell, and draw the figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=6_000_000, help="of a run; 2 to 15 seconds by default")
    parser.add_argument("--rounds", type=int, default=5, help="how often each layer is measured")
    parser.add_argument("--counts", default="1,2,4,6", help="numbers of injectors, and of instances")
    parser.add_argument("--operators", default="pos_rep,new_seg")
    parser.add_argument("--worker", default="process", choices=("inline", "thread", "process"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--figure", type=Path, help="draw it here, from these cells and those of --cells")
    parser.add_argument("--cells", type=Path, help="cells that were measured before, as they were printed")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(asdict(measure(Setting(**json.loads(given.one))))))
        return
    lines = given.cells.read_text().splitlines() if given.cells else []
    cells = [Cell.parsed(line) for line in lines]
    counts, chance = [int(count) for count in given.counts.split(",")], random.Random(1)
    for operator in given.operators.split(",") if not cells else ():
        check(operator, given.worker, given.workers, counts)
        for injectors in counts:
            for instances in counts:
                of_cell = (operator, LAYERS[0], injectors, instances, given.rows, given.worker, given.workers)
                cells.append(cell(Setting(*of_cell), given.rounds, chance))
                print(cells[-1].as_json(), flush=True)
    if given.figure:
        given.figure.write_text(as_svg(cells, machine()), encoding="utf-8")


if __name__ == "__main__":
    main()
