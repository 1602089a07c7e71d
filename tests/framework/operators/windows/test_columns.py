"""Columns that are taken into windows at once give what tuples give one by one, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from framework import Spout, TopologyBuilder
from framework.frontends.streams import AggregateWindow
from framework.model.topology import Stream
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates.columns import OneByOneError, column_adder
from framework.operators.windows.aggregates.numbers import Mean, Sum
from framework.operators.windows.columns import ColumnWindows
from framework.runtime.tasks.column_folder import ColumnFolder
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import seeds_at_every_change

SCHEMA = {"user": "string", "amount": "int64", "price": "float64", "time": "int64 not null"}
EVERYTHING = {
    "n": ["count"],
    "total": ["sum", "amount"],
    "paid": ["sum", "price"],
    "mean": ["mean", "price"],
    "least": ["min", "price"],
    "most": ["max", "amount"],
    "spread": ["variance", "amount"],
}
FORMS: tuple[dict[str, Any], ...] = (
    {"size": 100},
    {"size": 60, "advance": 10},
    {"size": 50, "advance": 20},
    {"size": 10, "advance": 30},
    {"gap": 5},
)

Row = tuple[str | None, int | None, float | None, int]


class Batches(Spout):
    """Emits rows as columns, so many at once."""

    outputs = [Stream(schema=SCHEMA)]
    config = {"viper.timestamp.field": "time", "viper.timestamp.unit": "us"}

    def __init__(self, rows: Sequence[Row], at_once: int) -> None:
        super().__init__()
        self._rows = list(rows)
        self._at_once = at_once

    def next_tuple(self) -> None:
        if not self._rows:
            raise StopIteration
        rows, self._rows = self._rows[: self._at_once], self._rows[self._at_once :]
        values = zip(*rows, strict=True)
        self.emit_rows({name: list(column) for name, column in zip(SCHEMA, values, strict=True)})


def drawn(random: Random, *, odd: bool = False) -> list[Row]:
    """Rows of few keys or of many; odd ones have values that no column of numbers is added with."""
    time, rows = random.choice((-1000, 0, 1_700_000_000)), []
    keys = random.choice((1, 5, 400))
    prices = (0.1, -2.5, 1e17, 3.0, -0.0, 0.0, float("inf")) if odd else (0.1, -2.5, 1e17, 3.0, 0.0)
    amounts = (7, -3, 2**62) if odd else (7, -3, 12, 2**30)
    holes = odd and random.randrange(2)
    for _ in range(random.randrange(1, 900)):
        user = None if odd and not random.randrange(50) else f"user{random.randrange(keys)}"
        rows.append((user, random.choice(amounts[:3]), random.choice(prices), time))
        if holes and not random.randrange(3):
            rows[-1] = random.choice(((user, None, *rows[-1][2:]), (*rows[-1][:2], None, time)))
        time += random.choice((0, 0, 0, 0, 1))
    return rows


def found(
    rows: Sequence[Row], form: dict[str, Any], par: int, workers: Workers = INLINE, **options: Any
) -> Any:
    builder = TopologyBuilder()
    builder.set_spout("source", Batches, args=[rows, 300])
    windows = AggregateWindow(EVERYTHING, list(SCHEMA), bounds=True, **form)
    builder.set_bolt("windows", windows, par).fields_grouping("source", ["user"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    return workers.run(builder, viper__key__groups=8, **options).result("sink")


def one_by_one(rows: Sequence[Row], form: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patched:
        patched.setattr(ColumnFolder, "_adder", lambda self, *, of_columns: None)
        return found(rows, form, 1)


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(60), 5), ids=str)
def test_columns_and_tuples_give_the_same(
    form: dict[str, Any], seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ColumnWindows, "fewest", 2)
    for seed in seeds:
        random = Random(seed)
        rows = drawn(random, odd=bool(seed % 2))
        expected = one_by_one(rows, form, monkeypatch)
        assert repr(found(rows, form, 1)) == repr(expected), f"seed {seed}"
        options = {"viper__slice__tuples": random.choice((7, 100)), "viper__chains": False}
        assert repr(found(rows, form, 3, **options)) == repr(expected), f"seed {seed}"


@pytest.mark.few(2)
@every_kind
def test_columns_on_every_kind_of_worker(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = drawn(Random(6))
    assert repr(found(rows, FORMS[1], 2, workers)) == repr(one_by_one(rows, FORMS[1], monkeypatch))


def test_columns_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    take = ColumnWindows.take
    monkeypatch.setattr(ColumnWindows, "take", lambda *of: taken.append(take(*of)) or taken[-1])
    rows: list[Row] = [("a", number, 0.5, number // 100) for number in range(600)]
    found(rows, FORMS[0], 1)
    assert sum(taken) > 500


def test_a_group_that_is_mixed_up_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    grouped = ColumnWindows._grouped

    def mixed_up(self: ColumnWindows, numbers: Any) -> Any:
        groups, firsts, lasts = grouped(self, numbers)
        return groups[::-1], firsts, lasts

    monkeypatch.setattr(ColumnWindows, "_grouped", mixed_up)
    with pytest.raises(AssertionError):
        test_columns_and_tuples_give_the_same(FORMS[0], range(0, 10, 2), monkeypatch)


def test_what_has_no_room_in_64_bits_is_added_one_by_one() -> None:
    add = column_adder(Sum("amount"))
    assert add is not None
    import numpy as np

    with pytest.raises(OneByOneError):
        add([0], np.zeros(4, np.int64), lambda name: np.full(4, 2**61))
    assert add([2**80], np.zeros(4, np.int64), lambda name: np.full(4, 5)) == [2**80 + 20]


def test_derived_aggregates_add_as_they_say() -> None:
    class Doubled(Mean):
        def add(self, acc: Any, value: Any) -> Any:
            return super().add(acc, 2 * value)

    assert column_adder(Doubled("amount")) is None
