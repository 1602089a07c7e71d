"""Lists and maps of any values, and state that is forgotten by time, in checkpoints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from framework import Bolt, ListState, MapState, TableState, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.durability.checkpoints import found_at
from framework.runtime.durability.checkpoints.states import rows_of, states_in
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import run_built

COUNT = 300


class Gather(Bolt):
    """Emits what it has gathered of a key."""

    outputs = ["key", "told"]
    things = ListState()
    objects = MapState()
    lately = TableState({"times": "int64", "name": "string"}, ttl=0.00001)

    def process(self, tup: Any) -> None:
        partition, number, key = tup.values
        if len(self.things) == 5:
            self.things.clear()
        self.things.add([number])
        self.things.get()[0].append(partition)
        self.objects.put(partition, [*self.objects.get(partition, []), number][-3:])
        self.objects.get(partition)[0] += 1
        self.lately.times += 1
        self.lately.name = partition
        self.emit([key, repr([self.things.get(), self.objects.items(), self.lately.times])])


def built(spout: Partitions, sources: int, bolts: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("gather", Gather, bolts).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("gather")
    return builder


def test_they_go_on_with_a_run_that_was_suspended(tmp_path: Path) -> None:
    whole = run_built(built(Partitions(4, COUNT, 1), 1, 1)).result("sink")
    first = run_suspended(built(Suspending(4, COUNT, 1, os.getpid(), 150), 1, 1), tmp_path).result("sink")
    second = run_built(built(Partitions(4, COUNT, 1), 2, 3), {"start": tmp_path}).result("sink")
    assert 0 < len(first) < len(whole)
    assert first + second == whole
    forgotten = [told for _, told in whole if told.endswith(" 1]")]
    assert len(forgotten) > len({key for key, _ in whole})


def test_rows_of_a_checkpoint_are_what_was_gathered(tmp_path: Path) -> None:
    first = run_suspended(built(Suspending(4, COUNT, 1, os.getpid(), 150), 1, 1), tmp_path)
    checkpoint = found_at(tmp_path)
    states = {state.state: state for state in states_in(checkpoint.content["states"])}
    told = dict(first.result("sink"))
    for name in ("things", "objects"):
        rows = dict(rows_of(checkpoint, states[name]))
        assert rows.keys() == told.keys()
        for key, held in rows.items():
            assert repr([*held.items()] if isinstance(held, dict) else held) in told[key]
    for key, columns in rows_of(checkpoint, states["lately"]):
        assert columns.keys() == {"times", "name"} and told[key].endswith(f" {columns['times']}]")
