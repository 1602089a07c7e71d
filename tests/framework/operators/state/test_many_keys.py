"""Batch bolts that change the state of many keys in one call: the same as if each tuple came alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from framework import BatchBolt, Bolt, Spout, Stream, TopologyBuilder, ValueState
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from tests.framework.operators.state.gathering import Numbered
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers, every_kind
from tests.portions import at_every_change

COUNT = 150
NUMBERED: list[tuple[Any, int]] = [(key, number) for key, number in Numbered(COUNT).tuples()]


class CountsBatches(BatchBolt):
    """Counts keys and sums up numbers, all rows of a batch in one call for each."""

    outputs = ["key", "held"]
    seen = ValueState("int64", default=0)
    total = ValueState("float64", default=0.5)

    def process_rows(self, rows: Any) -> None:
        keys = rows.column("key")
        seen = self.seen.add_all(keys)
        totals = self.total.add_all(keys, [number / 3 for number in rows.column("number")])
        assert self.seen.get_all(keys[-1:]) == seen[-1:].tolist()
        self.emit_rows(list(zip(keys, zip(seen, totals, strict=True), strict=True)))


def counted(numbers: Iterable[tuple[Any, int]]) -> list[tuple[Any, Any]]:
    """Compute the output of `CountsBatches` for keys and numbers."""
    kept: dict[Any, tuple[int, float]] = {}
    made = []
    for key, number in numbers:
        seen, total = kept.get(key, (0, 0.5))
        kept[key] = seen + 1, total + number / 3
        made.append((key, kept[key]))
    return made


class CountsColumns(BatchBolt):
    """Counts keys that come as columns."""

    outputs = [Stream(schema={"key": "string", "count": "int64"})]
    seen = ValueState("int64", default=0)

    def process_rows(self, rows: Any) -> None:
        keys = rows.array("key")
        self.emit_rows({"key": keys, "count": np.asarray(self.seen.add_all(keys))})


class Texts(Spout):
    """Emits keys that are texts, on a typed stream."""

    outputs = [Stream(schema={"key": "string", "number": "int64"})]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            yield [f"key {number * 7919 % 11}", number]


def topology(spout: type[Spout], bolt: type[Bolt], par: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("numbers", spout, kwargs={"count": COUNT})
    builder.set_bolt("bolt", bolt, par).fields_grouping("numbers", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return builder


def output(report: RunReport) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = report.result("sink")
    return found


@every_kind
@pytest.mark.parametrize("par", at_every_change([3, 1]))
def test_lists_of_keys(par: int, workers: Workers) -> None:
    assert output(workers.run(topology(Numbered, CountsBatches, par))) == counted(NUMBERED)


@pytest.mark.parametrize("workers", at_every_change([INLINE, THREADS, PROCESSES], 2), ids=str)
def test_columns_of_keys(workers: Workers) -> None:
    expected = [(key, seen) for key, (seen, _) in counted((k, n) for k, n in Texts(COUNT).tuples())]
    assert output(workers.run(topology(Texts, CountsColumns, 3))) == expected


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_size_of_batches_does_not_matter(size: int) -> None:
    options = {"viper__slice__tuples": size, "viper__jumbo__size": size}
    assert output(run_built(topology(Numbered, CountsBatches, 2), **options)) == counted(NUMBERED)
