"""Spouts that bring columns, among single tuples, and what they are refused."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from framework import Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import PROCESSES, THREADS

NUMBER = Stream(schema={"number": "int64 not null"})
ONE = {"number": [1]}
BATCH = pa.record_batch(ONE)


class Brings(Spout):
    outputs = [NUMBER]

    def tuples(self) -> Any:
        yield [0]
        yield {"number": [1, 2]}
        yield [3]
        yield pa.table({"number": [4]})
        yield {"number": []}
        yield None
        yield pa.record_batch({"number": pa.array([5, 6], pa.int8())})


class Polls(Spout):
    outputs = [NUMBER]

    def __init__(self) -> None:
        super().__init__()
        self._calls = iter(Brings().tuples())

    def next_tuple(self) -> None:
        given = next(self._calls)
        if isinstance(given, list):
            self.emit(given)
        elif given is not None:
            self.emit_rows(given)


@pytest.mark.few(1)
@pytest.mark.parametrize("spout", [Brings, Polls])
def test_a_spout_brings_batches_and_tuples(spout: type[Spout]) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", spout, config={"viper.spout.bounded": True})
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    for workers in (THREADS, PROCESSES):
        assert workers.run(builder).result("sink") == [(number,) for number in range(7)]
    assert run_built(builder).components["source"].emitted == 7


class Sevens(Spout):
    outputs = [NUMBER]

    def tuples(self) -> Any:
        for first in range(0, 70, 7):
            yield {"number": range(first, first + 7)}


@pytest.mark.parametrize(("most", "brought"), [(1, 7), (7, 7), (8, 14), (100, 70)])
def test_as_many_batches_are_asked_for_as_it_takes(most: int, brought: int) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Sevens)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    found = run_built(builder, {"max_tuples": most}, viper__jumbo__linger__ms=10_000).result("sink")
    assert found == [(number,) for number in range(brought)]


@pytest.mark.parametrize(
    ("emit", "message"),
    [
        (lambda self: self.emit(ONE, tup_id=1), "emits dict with an id, a timestamp or a task"),
        (lambda self: self.emit(BATCH, timestamp=1), "emits RecordBatch with an id, a timestamp"),
        (lambda self: self.emit([1.5]), r"component 'source', stream 'default': field 'number' is 1\.5"),
        (
            lambda self: self.emit({"number": ["1"]}),
            "component 'source', stream 'default': field 'number' is '1'",
        ),
    ],
)
def test_what_a_spout_is_refused(emit: Any, message: str) -> None:
    cls = type("Refused", (Spout,), {"outputs": [NUMBER], "next_tuple": emit})
    builder = TopologyBuilder()
    builder.set_spout("source", cls)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    with pytest.raises(ComponentError, match=message):
        run_built(builder)
