"""Declared state of batch bolts: row by row that of the row's key, and a call goes back as a whole."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import pytest

from framework import BatchBolt, Bolt, ListState, MapState, RowError, Rows, TopologyBuilder, ValueState
from framework.model.errors import StateError
from framework.operators.sinks import CollectingSink
from framework.testing import run_bolt
from tests.framework.runtime.keyed_rows import COUNT, InBatches, Pairs, Singly
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind


def topology(bolt: type[Bolt], par: int, *, typed: bool = False) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Pairs, args=[typed])
    builder.set_bolt("bolt", bolt, par).fields_grouping("source", "word")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return builder


@cache
def expected() -> list[Any]:
    """Run single tuples, and list the result."""
    found: list[Any] = INLINE.run(topology(Singly, 1)).result("sink")
    return found


@pytest.mark.few(4)
@every_kind
@pytest.mark.parametrize(("par", "typed"), [*itertools.product((1, 3), (False, True))])
def test_batches_remember_what_single_tuples_do(par: int, typed: bool, workers: Workers) -> None:
    options = {"viper__slice__tuples": 100, "viper__jumbo__size": 32}
    assert workers.run(topology(InBatches, par, typed=typed), **options).result("sink") == expected()
    assert len(expected()) == COUNT


class Sums(BatchBolt):
    """Emits the sum so far of each key; fails as it is told."""

    outputs = ["key", "typed", "any", "listed", "mapped"]
    exit_on_exception = False
    typed = ValueState("int64", default=0)
    any = ValueState(default=0)
    listed = ListState()
    mapped = MapState()

    def fails(self, number: int) -> bool:
        return False

    def process_rows(self, rows: Rows) -> None:
        made: list[Any] = []
        for index, (key, number) in enumerate(rows.keyed()):
            if self.fails(number):
                self.emit_rows(made, range(index))
                self.give_up(index)
            self.typed.value += number
            self.any.value += number
            self.listed.add(number)
            self.mapped.put(number % 4, number)
            made.append((key, self.typed.value, self.any.value, sum(self.listed), self.mapped.items()))
        self.emit_rows(made)

    def give_up(self, index: int) -> None:
        raise ValueError("planted")


class FailsWhole(Sums):
    """Fails the call that has 5 in it, after what it has changed."""

    def fails(self, number: int) -> bool:
        return number == 5


class FailsARow(FailsWhole):
    """Fails that row alone."""

    def give_up(self, index: int) -> None:
        raise RowError(index, ValueError("planted"))


ROWS = [("ab"[number % 2], number) for number in range(12)]


@pytest.mark.parametrize("most_rows", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("bolt", [FailsWhole, FailsARow])
def test_what_fails_leaves_nothing_behind(bolt: type[Sums], most_rows: int) -> None:
    done = run_bolt(bolt, ROWS, fields=["key", "number"], key=["key"], most_rows=most_rows)
    first = 5 - 5 % most_rows
    failed = [5] if bolt is FailsARow else range(first, first + most_rows)
    sums, maps = {"a": 0, "b": 0}, dict[str, dict[int, int]](a={}, b={})
    wanted = []
    for key, number in ROWS:
        if number not in failed:
            sums[key] += number
            maps[key][number % 4] = number
            wanted.append((key, sums[key], sums[key], sums[key], list(maps[key].items())))
    assert done.streams["default"] == wanted


def test_the_same_in_a_run() -> None:
    class Fails(FailsWhole):
        def fails(self, number: int) -> bool:
            return number == 777

    report = INLINE.run(topology(Fails, 2), viper__on__error="skip", viper__slice__tuples=50)
    last = {row[0]: row for row in report.result("sink")}
    lost = report.components["bolt"].failed
    assert 0 < lost <= 50
    assert all(typed == kept == listed for _, typed, kept, listed, _ in last.values())
    assert sum(row[1] for row in last.values()) < sum(range(COUNT))
    assert len(report.result("sink")) == COUNT - lost


def test_behind_the_rows_there_is_no_key() -> None:
    class Late(BatchBolt):
        outputs = ["sum"]
        total = ValueState("int64", default=0)

        def process_rows(self, rows: Rows) -> None:
            for _ in rows.keyed():
                self.total.value += 1
            self.total.value += 1

    with pytest.raises(LookupError, match="while a tuple is processed"):
        run_bolt(Late, ROWS, fields=["key", "number"], key=["key"])


def test_without_state_by_key_there_are_no_keys() -> None:
    class Stateless(BatchBolt):
        outputs = ["sum"]

        def process_rows(self, rows: Rows) -> None:
            list(rows.keyed())

    with pytest.raises(StateError, match="a batch bolt that declares state by key"):
        run_bolt(Stateless, ROWS, fields=["key", "number"])
