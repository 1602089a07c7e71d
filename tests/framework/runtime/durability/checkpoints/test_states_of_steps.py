"""The state of steps by key and of Storm's stateful bolts resumes with a run that was suspended."""

from __future__ import annotations

import os
from operator import add
from pathlib import Path
from typing import Any

import pytest

from framework import KeyValueState, StatefulBolt, StreamBuilder, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.coordination.stop import StopReason
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import run_built

COUNT = 600
SINKS = ("counts", "sums", "gathered", "stateful")


class Remembers(StatefulBolt):
    """Emits each key with its count and with all keys, in the order in which they came."""

    outputs = ["key", "count", "keys"]

    def init_state(self, state: KeyValueState) -> None:
        self._state = state

    def process(self, tup: Any) -> None:
        key = tup.values[0]
        self._state.put(key, self._state.get(key, 0) + 1)
        self.emit([key, self._state.get(key), tuple(found for found, _ in self._state)])


def remainder(partition: str, number: int, *others: Any) -> int:
    return number % 7


def last_two(before: list[Any], partition: str, number: int, *others: Any) -> list[Any]:
    before.append((partition, number))
    return before[-2:]


def steps(spout: Partitions, par: int) -> TopologyBuilder:
    builder = StreamBuilder()
    keyed = builder.new_stream(spout, name="source", par=par).key_by(remainder, field="rest")
    made = {
        "counts": keyed.count_by_key(par=par),
        "sums": keyed.map(lambda rest, partition, number, *others: (rest, number), fields=["rest", "n"])
        .key_by("rest")
        .reduce_by_key(add, par=par),
        "gathered": keyed.aggregate_by_key(list, last_two, tuple, par=par),
        "stateful": keyed.to(Remembers).stream(),
    }
    for name, stream in made.items():
        stream.to(CollectingSink, name=name)
    return builder._assembly.builder


@pytest.mark.few(1)
@pytest.mark.parametrize("place", [7, 290, 430])
def test_steps_and_stateful_bolts_go_on(tmp_path: Path, place: int) -> None:
    whole = run_built(steps(Suspending(4, COUNT, 3), 1))
    first = run_suspended(steps(Suspending(4, COUNT, 3, os.getpid(), place), 2), tmp_path)
    assert first.reason is StopReason.SUSPENDED
    assert 0 < len(first.result("counts")) < len(whole.result("counts"))
    for par in (1, 3):
        second = run_built(steps(Suspending(4, COUNT, 3), par), {"start": tmp_path})
        for sink in SINKS:
            assert first.result(sink) + second.result(sink) == whole.result(sink), (sink, par)
