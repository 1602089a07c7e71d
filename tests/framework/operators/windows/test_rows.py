"""Rows that are taken into windows at once give what tuples give one by one, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from framework import Spout, TopologyBuilder
from framework.frontends.streams import AggregateWindow
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates.numbers import Count, Mean, Sum
from framework.operators.windows.aggregates.rows import rows_adder
from framework.operators.windows.stretches import RowWindows
from framework.runtime.tasks.column_folder import ColumnFolder
from tests.framework.operators.windows.test_columns import EVERYTHING, FORMS, SCHEMA, Row, drawn
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import seeds_at_every_change


class Singly(Spout):
    """Emits one row after the other."""

    outputs = list(SCHEMA)
    config = {"viper.timestamp.field": "time", "viper.timestamp.unit": "us"}

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self._rows = list(rows)

    def tuples(self) -> Iterator[Any]:
        yield from self._rows


def found(
    rows: Sequence[Row], form: dict[str, Any], par: int, workers: Workers = INLINE, **options: Any
) -> Any:
    builder = TopologyBuilder()
    builder.set_spout("source", Singly, args=[rows])
    windows = AggregateWindow(EVERYTHING, list(SCHEMA), bounds=True, **form)
    builder.set_bolt("windows", windows, par).fields_grouping("source", ["user"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    report = workers.run(builder, viper__key__groups=8, viper__on__error="skip", **options)
    return report.result("sink"), report.components["windows"].errors


def one_by_one(rows: Sequence[Row], form: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patched:
        patched.setattr(ColumnFolder, "_adder", lambda self, *, of_columns: None)
        return found(rows, form, 1)


def from_two_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RowWindows, "fewest", 2)


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(60), 5), ids=str)
def test_rows_at_once_and_one_by_one_give_the_same(
    form: dict[str, Any], seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_two_on(monkeypatch)
    for seed in seeds:
        random = Random(seed)
        rows = drawn(random, odd=bool(seed % 2))  # odd ones have values that cannot be added
        if seed % 4 > 1:
            rows = [(random.choice((user, 1, 2.5)), *others) for user, *others in rows]  # type: ignore[misc]
        expected = one_by_one(rows, form, monkeypatch)
        assert repr(found(rows, form, 1)) == repr(expected), f"seed {seed}"
        options = {"viper__slice__tuples": random.choice((7, 100)), "viper__chains": False}
        assert repr(found(rows, form, 3, **options)) == repr(expected), f"seed {seed}"


@pytest.mark.few(2)
@every_kind
def test_rows_on_every_kind_of_worker(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = drawn(Random(6))
    assert repr(found(rows, FORMS[1], 2, workers)) == repr(one_by_one(rows, FORMS[1], monkeypatch))


def test_rows_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    take = RowWindows.take
    monkeypatch.setattr(RowWindows, "take", lambda *of: taken.append(take(*of)) or taken[-1])
    rows: list[Row] = [("a", number, 0.5, number // 100) for number in range(600)]
    found(rows, FORMS[0], 1)
    assert sum(taken) > 500


def test_a_last_time_that_is_an_earlier_one_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    add = RowWindows._add

    def add_wrongly(self: RowWindows, keys: Any, lasts: Any, time_us: int, of: Any) -> None:
        add(self, keys, [last - 20 for last in lasts], time_us, of)

    rows: list[Row] = [("a", 1, 0.5, number // 20) for number in range(600)]
    expected = one_by_one(rows, FORMS[1], monkeypatch)
    assert found(rows, FORMS[1], 1) == expected
    monkeypatch.setattr(RowWindows, "_add", add_wrongly)
    assert found(rows, FORMS[1], 1) != expected


def test_what_adds_rows() -> None:
    class Doubled(Mean):
        def add(self, acc: Any, value: Any) -> Any:
            return super().add(acc, 2 * value)

    assert rows_adder(Doubled("amount"), ["amount"], 1) is None
    assert rows_adder(Sum(), ["amount", "price"], 1) is None
    for aggregate, expected in ((Count(), 2), (Sum("price"), 1.5), (Mean("amount"), (2, 7))):
        add = rows_adder(aggregate, ["amount", "price"], 1)
        assert add is not None
        assert add(aggregate.create(), [("a", 3, 0.5), ("a", 4, 1.0)]) == expected
