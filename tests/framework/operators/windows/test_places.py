"""The output of tasks' windows has the positions of their ends, after all tuples of that time."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.operators.windows import BEHIND_TIME
from framework.operators.windows.spec import GAP_MS, LENGTH_COUNT, LENGTH_MS, SLIDE_COUNT, SLIDE_MS
from framework.runtime.order.positions.lineage import LAST
from tests.framework.operators.windows.windowed import Both, Numbered, Tell, drawn
from tests.framework.runtime.pieces import Row, run_built
from tests.framework.runtime.workers.running import Workers, every_kind

TUMBLING = {LENGTH_MS: 10, SLIDE_MS: 10}
FORMS = (TUMBLING, {LENGTH_MS: 25, SLIDE_MS: 10}, {LENGTH_COUNT: 3, SLIDE_MS: 5}, {GAP_MS: 4})


def test_the_end_of_time_is_that_of_positions() -> None:
    assert LAST.ts == BEHIND_TIME


def beside(seed: int, par: int, config: dict[str, Any] = TUMBLING) -> TopologyBuilder:
    """A sink with the tuples, and with two kinds of windows of them."""
    rows = drawn(Random(seed), 80)
    builder = TopologyBuilder()
    builder.set_spout("source", Numbered, args=[rows])
    builder.set_bolt("both", Both, par).shuffle_grouping("source")
    builder.set_bolt("windows", Tell, config=config).global_grouping("both")
    builder.set_bolt("others", Tell, config={LENGTH_MS: 5, SLIDE_MS: 5}).global_grouping("both")
    sink = builder.set_bolt("sink", CollectingSink)
    for name in ("both", "others", "windows"):
        sink.global_grouping(name)
    return builder


def beside_the_tuples(seed: int, par: int, **options: Any) -> list[Row]:
    found: list[Row] = run_built(beside(seed, par), **options).result("sink")
    return found


@pytest.mark.few(8)
@pytest.mark.parametrize("config", FORMS, ids=str)
@every_kind
def test_a_consumer_has_windows_and_tuples_in_the_order_of_time(
    config: dict[str, Any], workers: Workers
) -> None:
    serial = run_built(beside(3, 1, config)).result("sink")
    assert workers.run(beside(3, 3, config), viper__jumbo__size=4).result("sink") == serial
    times = [row[1] if len(row) == 5 else row[1] * 1000 for row in serial]
    assert times == sorted(times)
    for first, second in pairwise(serial):  # at one time: tuples, then windows
        same = _time(first) == _time(second)
        assert not (same and len(first) == 5 and len(second) == 2), (first, second)


def _time(row: Row) -> int:
    return row[1] if len(row) == 5 else row[1] * 1000


@every_kind
def test_windows_of_windows(workers: Workers) -> None:
    """An output at an end belongs to the window that ends then."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbered, args=[[(n, n) for n in range(1, 60)]])
    builder.set_bolt("first", Numbers5, config={LENGTH_MS: 5, SLIDE_MS: 5}).global_grouping("source")
    builder.set_bolt("second", Tell, config={LENGTH_MS: 20, SLIDE_MS: 20}).global_grouping("first")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    found = workers.run(builder).result("sink")
    assert [(end // 1000, numbers) for _, end, numbers, _, _ in found] == [
        (20, [5, 10, 15, 20]),
        (40, [25, 30, 35, 40]),
        (60, [45, 50, 55, 60]),
    ]


class Thrice(Tell):
    """Emits the end of each window three times, in milliseconds."""

    outputs = ["number"]

    def process_window(self, window: Any) -> None:
        for _ in range(3):
            self.emit([window.end // 1000])


class Again(Both):
    """Emits each number again."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values.number])


def beside_their_windows() -> TopologyBuilder:
    """A sink with what windows emit, and with windows of that, half of which end with one of them."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbered, args=[[(n, n) for n in range(1, 60)]])
    builder.set_bolt("first", Thrice, config={LENGTH_MS: 5, SLIDE_MS: 5}).global_grouping("source")
    builder.set_bolt("again", Again, 2).shuffle_grouping("first")
    builder.set_bolt("second", Tell, config=TUMBLING).global_grouping("again")
    builder.set_bolt("sink", CollectingSink).global_grouping("again").global_grouping("second")
    return builder


@pytest.mark.few(2)
@every_kind
def test_windows_stand_beside_those_that_they_are_made_of(workers: Workers) -> None:
    """Of one time, what has come a shorter way from a spout is the later one."""
    for seed in range(6):
        options = {"viper__jumbo__size": 1, "viper__slice__tuples": 1}
        if workers.kind == "inline":
            options |= {"viper__scheduling": "random", "viper__seed": seed}
        found = workers.run(beside_their_windows(), **options).result("sink")
        ends = [row[1] // 1000 if len(row) == 5 else -row[0] for row in found]
        told = [[5 - n, 5 - n, 5 - n, n, -n, -n, -n] for n in range(10, 61, 10)]
        assert ends == [end for window in told for end in window], seed


class Numbers5(Tell):
    """Emits the end of each window, in milliseconds."""

    outputs = ["number"]

    def process_window(self, window: Any) -> None:
        self.emit([window.end // 1000])


def test_a_window_that_a_tuple_completes_stands_at_the_tuple() -> None:
    found = run_built(beside(3, 1, {LENGTH_COUNT: 4, SLIDE_COUNT: 2})).result("sink")
    numbers = [row[0] if len(row) == 2 else row[2][-1] for row in found if len(row) == 2 or row[0] is None]
    assert numbers == sorted(numbers)


@every_kind
def test_several_tasks_have_windows_of_their_own(workers: Workers) -> None:
    def built() -> TopologyBuilder:
        builder = TopologyBuilder()
        builder.set_spout("source", Numbered, args=[drawn(Random(5), 80)])
        builder.set_bolt("windows", Tell, 3, config=TUMBLING).fields_grouping("source", "number")
        builder.set_bolt("sink", CollectingSink).global_grouping("windows")
        return builder

    serial = run_built(built()).result("sink")
    assert [row[1] for row in serial] == sorted(row[1] for row in serial)
    assert sorted(number for row in serial for number in row[2]) == list(range(80))
    assert workers.run(built(), viper__jumbo__size=3).result("sink") == serial
