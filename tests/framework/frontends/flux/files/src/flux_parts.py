"""Parts that the example topologies are made of."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from framework import Bolt, Grouping, Spout, Stream, Topology
from framework.frontends.builder import TopologyBuilder


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


class Words(Spout):
    outputs = ["word"]

    def tuples(self) -> Any:
        yield ["word"]


class Split(Bolt):
    outputs = ["word", Stream(["line"], name="rejects"), Stream(["word"], name="to_one", direct=True)]
    par = 3
    config = {"topology.tick.tuple.freq.secs": 5}

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])


class Sink(Bolt):
    def process(self, tup: Any) -> None:
        pass


class Table:
    def __init__(self, rows: Sequence[str] = (), limit: int = 10) -> None:
        self.rows = rows
        self.limit = limit
        self.level: Level | None = None
        self.notes: list[str] = []
        self.depth = 0

    @staticmethod
    def of(*rows: str) -> Table:
        return Table(rows)

    def set_level(self, level: Level) -> None:
        self.level = level

    def note(self, text: str, level: Level = Level.LOW) -> None:
        self.notes.append(f"{level.name}: {text}")


class Lookup(Bolt):
    outputs = ["row"]

    def __init__(self, table: Table, others: Sequence[Table] = (), level: Level = Level.LOW) -> None:
        super().__init__()
        self.table = table
        self.others = others
        self.level = level

    def process(self, tup: Any) -> None:
        self.emit([self.table.rows[0]])


class FirstTask:
    def __init__(self, count: int = 1) -> None:
        self.count = count

    def prepare(self, context: Any, component: str, stream: str, target_tasks: Sequence[int]) -> None:
        self.tasks = target_tasks[: self.count]

    def choose_tasks(self, values: Sequence[Any]) -> Sequence[int]:
        return self.tasks


class WordTopology(Topology):
    words = Words.spec()
    sink = Sink.spec(inputs={words: Grouping.SHUFFLE})


class Source:
    def __init__(self, spout_id: str = "words") -> None:
        self.spout_id = spout_id

    def getTopology(self, conf: dict[str, Any]) -> TopologyBuilder:
        builder = TopologyBuilder()
        builder.set_spout(self.spout_id, Words, conf.get("spouts", 1))
        builder.set_bolt("sink", Sink).shuffle_grouping(self.spout_id)
        builder.set_config("topology.workers", 1)
        builder.set_config("from.code", True)
        return builder

    def broken(self, conf: dict[str, Any]) -> None:
        raise RuntimeError("no topology today")


class PythonicSource:
    def __init__(self, spout_id: str) -> None:
        self.spout_id = spout_id

    def get_topology(self, conf: dict[str, Any]) -> TopologyBuilder:
        return Source(self.spout_id).getTopology(conf)


def make_topology(conf: dict[str, Any]) -> Any:
    return Source().getTopology(conf)
