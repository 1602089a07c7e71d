"""Components whose number of tasks changes while they run, at numbers that their spout has reached.

The spout asks for it by the folder of the run, as another process would. So nobody waits for a moment, and
what is asked for lies at the same place of the input in each run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from framework import Bolt, TopologyBuilder, scale
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from tests.framework.runtime.workers.killed import Numbers

Change = tuple[int, str, int | list[int]]
"""From a number of the spout's on, a component has so many tasks, or those of these indexes."""
MOST = 4


class Asking(Numbers):
    """As `Numbers`, and asks for the changes that the configuration names."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        if "marks" in storm_conf:
            super().initialize(storm_conf, context)
        self._folder = Path(storm_conf["control"])
        self._changes: Sequence[Change] = storm_conf["changes"]

    def tuples(self) -> Iterator[list[Any]]:
        for row in super().tuples():
            for number, component, tasks in self._changes:
                if number == row[0]:
                    scale(self._folder, {component: tasks})
            yield row


class Pieces(Bolt):
    """Emits none to three pairs for a number."""

    outputs = ["number", "nth"]
    config = {"viper.stateless": True, "viper.parallelism.max": MOST}

    def process(self, tup: Any) -> None:
        number = tup.values[0]
        for nth in range(number % 4):
            self.emit([number, nth])


class Tripled(Bolt):
    """Emits the triple of a number."""

    outputs = ["number", "nth"]
    config = {"viper.stateless": True, "viper.parallelism.max": MOST}

    def process(self, tup: Any) -> None:
        self.emit([3 * tup.values[0], tup.values[1]])


def built(count: int = 600, tasks: int = 2) -> TopologyBuilder:
    """A shuffle among one to four tasks, and a fields grouping among one to four others after it."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": count})
    builder.set_bolt("pieces", Pieces, tasks).shuffle_grouping("source")
    builder.set_bolt("tripled", Tripled, tasks).fields_grouping("pieces", "number")
    builder.set_bolt("sink", CollectingSink).global_grouping("tripled")
    return builder


def drawn(seed: int, changes: int, count: int = 600) -> list[Change]:
    """So many changes at places of the input that a seed draws."""
    draw = random.Random(seed)
    names = ("pieces", "tripled")
    return [(draw.randrange(count), draw.choice(names), some(draw, MOST)) for _ in range(changes)]


def some(draw: random.Random, most: int) -> int | list[int]:
    """So many tasks, or these."""
    count = draw.randint(1, most)
    return count if draw.random() < 0.3 else sorted(draw.sample(range(most), count))


def received(report: RunReport, component: str) -> list[int]:
    """Count the tuples that each task of a component has received, by index."""
    found = {
        int(task): reader.delivered
        for channel in report.statistics.channels
        for reader in channel.readers
        for name, _, task in [reader.task.rpartition(":")]
        if name == component
    }
    return [found[task] for task in sorted(found)]
