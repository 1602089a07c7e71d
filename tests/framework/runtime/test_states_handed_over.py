"""State of every kind by key, and windows of every form, are handed over, and are in checkpoints then."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Count, OPlus, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.operators.state import (
    AggregatingState,
    ListState,
    MapState,
    ReducingState,
    TableState,
    ValueState,
)
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.runtime.handing_over import MOST, TIMED, Asking, Change, Each, Fan, drawn
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.test_handing_over import rows, run
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from viper.hashing import task_of_group


class Remembering(Bolt):
    """Says with each row what its key has in state of every kind."""

    outputs = ["number", "key", "told"]
    config = {"viper.parallelism.max": MOST}

    columns = TableState({"sum": "float64", "text": "string"})
    recent = ValueState("int64", default=0, ttl=20e-6)
    recent_words = ListState("string", ttl=30e-6)
    value = ValueState(default=["default"])
    list = ListState()
    map = MapState()
    folded = ReducingState("int64", operator.add)
    gathered = AggregatingState(create=set, add=lambda acc, value: acc | {value}, result=sorted)

    def process(self, tup: Any) -> None:
        number, key = tup.values[:2]
        self.recent.value += 1
        self.recent_words.add(str(number))
        self.columns.sum += number / 2
        self.columns.text += "x"
        self.value.value.append(number)
        for each in self.list.get():
            each.append(number)
        self.list.update([*self.list.get()[-3:], []])
        self.map.put(number % 3, [*self.map.get(number % 3, []), number][-3:])
        self.folded.add(number)
        self.gathered.add(number % 7)
        told = [
            (self.columns.sum, self.columns.text),
            (self.recent.value, list(self.recent_words)),
            (self.value.value, self.list.get(), self.map.items()),
            (self.folded.value, self.gathered.value),
        ]
        self.emit([number, key, repr(told)])


class Living(Bolt):
    """Likewise of state that lives in its process until a checkpoint."""

    outputs = ["number", "key", "told"]
    config = {"viper.parallelism.max": MOST}

    value = ValueState(default=["default"], durable="checkpoint")
    list = ListState(durable="checkpoint")
    map = MapState(durable="checkpoint")

    def process(self, tup: Any) -> None:
        number, key = tup.values[:2]
        self.value.value.append(number)
        self.list.add([number])
        self.map.put(number % 3, [*self.map.get(number % 3, []), number][-3:])
        self.emit([number, key, repr([self.value.value, self.list.get(), self.map.items()])])


FORMS: dict[str, dict[str, Any]] = {
    "sliding": {"size": 30, "advance": 10},
    "sessions": {"gap": 4},
    "counted": {"size": Count(3)},
}


def topology(second: Any, tasks: int = 2, count: int = 200) -> TopologyBuilder:
    """Two bolts whose tasks change: one that remembers, and windows or one more of those."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": count}, config=TIMED)
    builder.set_bolt("fan", Fan, 2).shuffle_grouping("source")
    builder.set_bolt("first", Remembering, tasks).fields_grouping("fan", "key")
    if isinstance(second, OPlus):
        builder.set_bolt("second", second, tasks).all_grouping("source")
    else:
        builder.set_bolt("second", second, tasks).fields_grouping("fan", "key")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("first")
    sink.global_grouping("second")
    return builder


def made(name: str) -> Any:
    return Living if name == "living" else Each(**FORMS[name])


SECOND = ["living", *FORMS]


@pytest.mark.few(1)
@every_kind
@pytest.mark.parametrize("second", SECOND)
def test_the_output_stays_the_same(workers: Workers, second: str, tmp_path: Path) -> None:
    expected = rows(run(topology(made(second)), INLINE, tmp_path))
    assert len(expected) > 300
    found = rows(run(topology(made(second)), workers, tmp_path, drawn(SECOND.index(second), 8)))
    assert found == expected


@pytest.mark.few(2)
@every_kind
def test_statistics_tell_who_has_a_key_group_now(workers: Workers, tmp_path: Path) -> None:
    changes = [Change(100, {"first": MOST, "second": 1}, 0)]
    report = run(topology(Living), workers, tmp_path, changes)
    plan, _ = plan_of(topology(Living))
    assert len(report.statistics.groups) > 5
    for found in report.statistics.groups:
        index = task_of_group(found.group, MOST if found.component == "first" else 1, 256)
        assert found.task == f"{found.component}:{plan.tasks_of(found.component)[index].id}"


@pytest.mark.few(1)
@every_kind
@pytest.mark.parametrize("second", ["living", "sliding"])
def test_every_checkpoint_can_be_gone_on_from(workers: Workers, second: str, tmp_path: Path) -> None:
    """Checkpoints made before tasks have changed, between two changes, and after them can all be resumed."""
    expected = rows(run(topology(made(second)), INLINE, tmp_path / "whole"))
    folder = tmp_path / "checkpoints"
    often = {"viper__checkpoint__secs": 0.001, "viper__checkpoint__keep": 1000}
    assert rows(run(topology(made(second)), workers, folder, drawn(1, 6), **often)) == expected
    found = CheckpointFolder(folder).ids
    assert len(found) > 3
    for number in found[:: max(1, len(found) // 6)]:
        start = {"start": folder / f"checkpoint-{number:06}"}
        again = rows(run(topology(made(second), tasks=3), INLINE, tmp_path / "again", start=start))
        assert again == expected[len(expected) - len(again) :], number
