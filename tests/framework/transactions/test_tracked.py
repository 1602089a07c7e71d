"""A tuple with an id that fails after a group comes again, and has its transactions again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from framework import Bolt, ReliableSpout, SharedTable, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers

COUNT = 30
visits = SharedTable("visits", columns={"times": "int64"}, rows=100, default={})


class Visits(ReliableSpout):
    """Emits numbers, each with itself as its id, until all are acked."""

    outputs = ["number"]

    def tuples(self) -> Iterator[None]:
        for number in range(COUNT):
            self.emit([number], tup_id=number)
            yield None
        while self.unacked_tuples:
            yield None


class Notes(Bolt):
    """Counts how often each number comes."""

    outputs = ["number", "times"]
    tables = [visits]

    def process(self, tup: Any) -> None:
        with self.transaction(tup) as t:
            t.add(visits, tup.values.number, 1)
            t.read(visits, tup.values.number)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values.number, *result.values])


class Fails(Bolt):
    """Fails every fifth number when it comes for the first time."""

    outputs = ["number", "times"]

    def process(self, tup: Any) -> None:
        number, times = tup.values
        if number % 5 == 0 and times == 1:
            self.fail(tup)
        else:
            self.emit([number, times])


@pytest.mark.parametrize("workers", [INLINE, PROCESSES], ids=str)
@pytest.mark.parametrize("tasks", [1, 2])
def test_what_fails_behind_a_group_is_done_once_more(workers: Workers, tasks: int) -> None:
    builder = TopologyBuilder()
    builder.set_spout("visits", Visits)
    builder.set_bolt("notes", Notes, tasks).shuffle_grouping("visits")
    builder.set_bolt("fails", Fails, tasks).shuffle_grouping("notes")
    builder.set_bolt("sink", CollectingSink).global_grouping("fails")
    report = workers.run(builder)
    times = [(number, 2 if number % 5 == 0 else 1) for number in range(COUNT)]
    assert sorted(report.result("sink")) == times
    assert list(report.table("visits")) == times
