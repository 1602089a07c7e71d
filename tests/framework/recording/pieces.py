"""A word count that is "run" by hand: real plans and positions, but no worker."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from framework import Bolt, Spout, Stream, TopologyBuilder
from framework.model.config import resolve
from framework.planning import Plan, make_plan
from framework.recording import Emission, Recorded, RecordingWriter, Rows, TaskRecorder
from viper.position import Position, Positions

Row = tuple[Any, ...]
SENTENCES = ("a b a", "b", "", "c a", "b c c", "a")


class Lines(Spout):
    outputs = ["line"]
    config = {"viper.spout.bounded": True}

    def next_tuple(self) -> None:
        raise AssertionError("nothing runs here")


class Split(Bolt):
    outputs = [Stream(["word"]), Stream(["length"], name="lengths")]


class Count(Bolt):
    outputs = ["word", "count"]


def plan_of(
    lines: int = 1, split: int = 1, count: int = 1, *, name: str = "wordcount", **others: type[Bolt]
) -> Plan:
    builder = TopologyBuilder()
    builder.set_spout("lines", Lines, lines)
    builder.set_bolt("split", Split, split).shuffle_grouping("lines")
    for other, cls in others.items():
        builder.set_bolt(other, cls).shuffle_grouping("lines")
    builder.set_bolt("count", Count, count).fields_grouping("split", ["word"])
    topology = builder.build(name)
    settings, _ = resolve(topology)
    return make_plan(topology, settings)


class HandRun:
    """The word count's tuples with the positions that a run would give them, recorded task by task.

    Args:
        path: of the recording.
        plan: from `plan_of`.
        change: may change, or leave out (None), what a component emits, given its id and the row.
    """

    def __init__(
        self, path: Path, plan: Plan, change: Callable[[str, Row], Row | None] = lambda _, row: row
    ) -> None:
        self.path = path
        self.plan = plan
        self._change = change
        self.writer = RecordingWriter(path, plan)
        self.recorders = {task.id: TaskRecorder(self.writer.folder, task) for task in plan.tasks}

    def run(self, sentences: Sequence[str] = SENTENCES, partitions: int = 2) -> HandRun:
        """Everything, in the one order that a serial run has."""
        counts: Counter[str] = Counter()
        for number, sentence in enumerate(sentences):
            at = self.spout(number % partitions, number // partitions + 1, (sentence,))
            outputs = [(0, (word,)) for word in sentence.split()] + [(1, (len(sentence),))]
            for nth, (tag, row) in enumerate(outputs):
                below = self.bolt("split", number, at, nth, row, tag)
                if tag == 0:
                    counts[row[0]] += 1
                    self.bolt("count", ord(row[0]), below, 0, (row[0], counts[row[0]]))
        return self

    def finish(self, reason: str = "exhausted", complete: bool = True) -> Path:
        for recorder in self.recorders.values():
            recorder.close()
        self.writer.finish(reason, complete=complete)
        return self.path

    def spout(self, partition: int, ts: int, row: Row) -> Position:
        level = self.plan.layout.components["lines"].level(copy=partition)
        positions = Positions()
        positions.extend_logical(ts, 1, level)
        self._record("lines", partition, row, None, positions)
        return positions[0]

    def bolt(self, component: str, key: int, parent: Position, nth: int, row: Row, tag: int = 0) -> Position:
        above, positions = Positions(), Positions()
        above.append(parent)
        level = self.plan.layout.components[component].level()
        positions.extend_children(above, 0, 1, array("I", [1]), nth, level)
        tags = array("H", [tag]).tobytes() if component == "split" else None
        self._record(component, key, row, tags, positions)
        return positions[0]

    def _record(self, component: str, key: int, row: Row, tags: bytes | None, positions: Positions) -> None:
        tasks = self.plan.tasks_of(component)
        changed = self._change(component, row)
        if changed is not None:
            self.recorders[tasks[key % len(tasks)].id].record(emission([changed], tags, positions))


def recorded_run(path: Path, plan: Plan, **options: Any) -> Path:
    """A whole recording."""
    return HandRun(path, plan, **options).run().finish()


def positioned(tuples: Iterator[Recorded]) -> list[tuple[Position, Row]]:
    return [(recorded.position, recorded.values) for recorded in tuples]


def position(ts: int, path: int = 0) -> Position:
    return Position(ts, path >> 64, path & (1 << 64) - 1)


def positions_of(*listed: Position) -> Positions:
    made = Positions()
    for one in listed:
        made.append(one)
    return made


def emission(rows: Sequence[tuple[Any, ...]], tags: bytes | None, positions: Positions) -> Emission:
    """Make an emission of a task: these rows at these positions."""
    return Emission(Rows(list(rows)), tags, positions)
