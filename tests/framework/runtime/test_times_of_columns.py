"""The event time of columns: what they count, ticks between them, and those that are out of order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from framework import BatchBolt, Rows, Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers

everywhere = pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)


class Timed(Spout):
    """Brings (time, number) in batches of so many."""

    config = {"viper.timestamp.field": "time"}

    @property
    def outputs(self) -> Any:  # type: ignore[override]
        fields = {"time": self._kind, "number": "int64"}
        return [Stream(schema=fields), Stream(schema=fields, name="tardy")]

    def __init__(self, kind: str, times: list[int | None], size: int) -> None:
        super().__init__()
        self._kind, self._times, self._size = kind, times, size

    def tuples(self) -> Iterator[Any]:
        for first in range(0, len(self._times), self._size):
            times = self._times[first : first + self._size]
            if self._size == 1:
                yield [times[0], first]
            else:
                yield {"time": times, "number": range(first, first + len(times))}


class Ticked(BatchBolt):
    """Passes rows on with their times, and says at each tick how many there have been."""

    outputs = ["time", "number"]
    config = {"topology.tick.tuple.freq.secs": 1}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._count = 0

    def process_rows(self, rows: Rows) -> None:
        self._count += len(rows)
        self.emit_rows([[time, row[1]] for time, row in zip(rows.times(), rows, strict=True)])

    def process_tick(self, tup: Any) -> None:
        self.emit([None, self._count])


def timed(kind: str, times: Sequence[int | None], size: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Timed, args=[kind, list(times), size])
    builder.set_bolt("ticked", Ticked).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("ticked")
    return builder


PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@pytest.mark.few(2)
@everywhere
@pytest.mark.parametrize("unit", PER_SECOND)
def test_the_type_says_what_times_count(unit: str, workers: Workers) -> None:
    times = [number // 3 * PER_SECOND[unit] for number in range(-20, 20)]
    found = workers.run(timed(f"timestamp[{unit}]", times, 7)).result("sink")
    assert [row for row in found if row[0] is not None] == [
        (time * 1_000_000 // PER_SECOND[unit], number) for number, time in enumerate(times)
    ]
    assert found == run_built(timed(f"timestamp[{unit}]", times, 1)).result("sink")
    assert found == run_built(timed("int64", times, 7), viper__timestamp__unit=unit).result("sink")
    assert sum(row[0] is None for row in found) > 10


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    ("kind", "times", "message"),
    [
        ("timestamp[us]", [1, None, 3], "timestamp None is no time"),
        ("timestamp[us]", [5, 4, 6], r"\(4, 1\) at 4 us, after a tuple at 5 us"),
        ("timestamp[s]", [2**62], "out of range when it counts s"),
        ("timestamp[us]", [2**62], "out of range when it counts us"),
        ("timestamp[ns]", [-(2**63), -(2**63)], None),
    ],
)
def test_a_row_without_a_time_that_holds(
    size: int, kind: str, times: list[int | None], message: str | None
) -> None:
    if message is None:
        found = run_built(timed(kind, times, size), topology__tick__tuple__freq__secs=10**9).result("sink")
        assert [row[0] for row in found if row[0] is not None] == [-(2**63) // 1000] * len(times)
        return
    with pytest.raises(ComponentError, match=message):
        run_built(timed(kind, times, size))


@pytest.mark.parametrize("size", [1, 4])
def test_columns_that_are_a_little_out_of_order(size: int) -> None:
    """Within the slack they are sorted; those that are later go to another stream."""
    builder = timed("timestamp[ms]", [5, 3, 9, 4, 8, 20, 1, 21], size)
    builder.set_bolt("late", CollectingSink).global_grouping("source", "tardy")
    late = {"viper__timestamp__slack": 6, "viper__timestamp__late": "tardy"}
    report = run_built(builder, **late)
    rows = [(1, 3000), (3, 4000), (0, 5000), (4, 8000), (2, 9000), (5, 20000), (7, 21000)]
    assert [row for row in report.result("sink") if row[0] is not None] == [(time, n) for n, time in rows]
    assert report.result("late") == [(1, 6)]
