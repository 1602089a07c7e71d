"""The promises of `Sink` to those who write one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from framework import Grouping, Spout, Topology, run
from framework.model.errors import ComponentError
from framework.operators.sinks import Sink
from framework.testing import run_bolt

COUNT = 50


class Numbers(Spout):
    outputs = ["n"]
    config = {"viper.spout.bounded": True}

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.left = list(range(COUNT, 0, -1))
        self.failed: list[int] = []

    def next_tuple(self) -> None:
        if not self.left:
            raise StopIteration
        n = self.left.pop()
        self.emit([n], tup_id=n)

    def fail(self, tup_id: Any) -> None:
        self.failed.append(tup_id)
        self.report_metric("failed", sorted(self.failed))


class Diary(Sink):
    """Notes which of its methods are called, in which thread, and with how many rows."""

    config = {"raises.at": None}

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.calls = ["initialize"]
        self.threads = {threading.get_ident()}
        self.rows: list[Any] = []
        self.sizes: list[int] = []

    def consume(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.calls += ["consume"] if self.calls[-1] != "consume" else []
        self.threads.add(threading.get_ident())
        self.sizes.append(len(rows))
        self.rows += rows
        if self.storm_conf["raises.at"] in [n for (n,) in rows]:
            raise OSError("no room left")

    def close(self) -> None:
        self.calls.append("close")
        self.threads.add(threading.get_ident())

    def result(self) -> Any:
        return self.calls, len(self.threads), self.sizes, self.rows


class Written(Topology):
    numbers = Numbers.spec()
    diary = Diary.spec(inputs={numbers: Grouping.GLOBAL})


@pytest.mark.parametrize("kind", ["inline", "thread", "process"])
def test_rows_come_in_order_from_one_thread_and_no_call_is_empty(kind: str) -> None:
    conf = {"viper.slice.tuples": 7, "viper.jumbo.size": 3}
    report = run(Written, worker=kind, workers=1 if kind == "inline" else 2, conf=conf)
    calls, threads, sizes, rows = report.result("diary")
    assert calls == ["initialize", "consume", "close"]
    assert threads == 1
    assert set(sizes) <= set(range(1, 8))
    assert rows == [(n,) for n in range(1, COUNT + 1)]


def failing_at(n: int) -> type[Topology]:
    class Failing(Topology):
        numbers = Numbers.spec()
        diary = Diary.spec(inputs={numbers: Grouping.GLOBAL}, config={"raises.at": n})

    return Failing


def test_one_that_raises_ends_the_run() -> None:
    with pytest.raises(ComponentError, match=r"'diary', task 1, in consume: OSError: no room left"):
        run(failing_at(20))


def test_all_rows_of_a_call_that_raises_fail() -> None:
    conf = {"viper.on.error": "skip", "viper.slice.tuples": 7}
    report = run(failing_at(20), conf=conf)
    _, _, sizes, rows = report.result("diary")
    assert len(rows) == COUNT
    failed = report.components["numbers"].metrics["failed"]
    first = sum(size for size in sizes[: _call_with(20, sizes)])
    assert failed == list(range(first + 1, first + sizes[_call_with(20, sizes)] + 1))


def _call_with(number: int, sizes: Sequence[int]) -> int:
    """The index of the call that brought a row, counted from 1."""
    brought = 0
    for index, size in enumerate(sizes):
        brought += size
        if brought >= number:
            return index
    raise AssertionError(f"{number} rows have not come")


def test_a_test_may_bring_single_tuples() -> None:
    diary = run_bolt(Diary, [[1], [2]]).component
    assert (diary.rows, diary.sizes) == ([(1,), (2,)], [1, 1])
