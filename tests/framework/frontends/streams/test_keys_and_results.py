"""Keys of steps by key are those of groupings, and what functions return is checked where they return it."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from typing import Any

import pytest

from framework import StreamBuilder
from framework.frontends.streams import CountWindow, Session, Sliding, Tumbling
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates import Aggregates, ApproximateDistinct, Distinct
from tests.framework.given import Given, Row
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers

KEYS = [
    [1, 2],
    (1, 2),
    b"a",
    bytearray(b"a"),
    {1},
    frozenset([1]),
    {"a": [1]},
    {"a": (1,)},
    (1, [2]),
    [1, (2,)],
    1,
    True,
    1.0,
    -0.0,
    0,
]
"""Pairs and more of keys that are one."""
FORMS = [Tumbling("10s"), Sliding("4s", "2s"), Session("9s"), CountWindow(2)]


def ran(
    step: Any, rows: list[Row], workers: Workers = INLINE, fields: str = "k at v", **options: Any
) -> list[Row]:
    builder = StreamBuilder()
    spout = Given(rows, fields, "at" if " at" in fields else None)
    step(builder.new_stream(spout).key_by("k")).to(CollectingSink(), name="sink")
    return list(run_built(builder, **workers.options, **options).result("sink"))


def last(before: Any, *values: Any) -> Any:
    return values[-1]


@pytest.mark.parametrize("workers", [INLINE, PROCESSES], ids=str)
@pytest.mark.parametrize("par", [1, 3])
def test_every_step_by_key_takes_the_same_keys(par: int, workers: Workers) -> None:
    rows = [(key, index, 1) for index, key in enumerate(KEYS)]
    counted = [row[-1] for row in ran(lambda keyed: keyed.count_by_key(par=par), rows, workers)]
    assert counted == [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3, 1, 2]
    ones = [(key, 1) for key in KEYS]
    reduced = ran(
        lambda keyed: keyed.reduce_by_key(operator.add, par=par),
        ones,
        workers,
        "k v",
        viper__timestamp__field=None,
    )
    assert [row[-1] for row in reduced] == counted
    windows = ran(lambda keyed: keyed.window(Tumbling("99s")).count(par=par), rows, workers)
    assert sorted(row[-1] for row in windows) == [2, 2, 2, 2, 2, 2, 3]


@pytest.mark.parametrize("key", [math.nan, (1, math.nan), print], ids=repr)
@pytest.mark.parametrize("par", [1, 3])
def test_every_step_by_key_refuses_the_same(par: int, key: Any) -> None:
    for step in (
        lambda keyed: keyed.count_by_key(par=par),
        lambda keyed: keyed.reduce_by_key(last, par=par),
        lambda keyed: keyed.window(Tumbling("9s")).count(par=par),
    ):
        with pytest.raises(ComponentError, match="is no key"):
            ran(step, [(key, 1, 1)])


NANS: list[Any] = [
    math.nan,
    float("nan"),
    (1, math.nan),
    [math.nan],
    {1: math.nan},
    frozenset([math.nan]),
    complex(math.nan, 1),
    Decimal("nan"),
    Decimal("snan"),
]


@pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("par", [1, 3])
def test_nan_is_no_key_whichever_object_it_is(par: int, workers: Workers) -> None:
    """A dictionary finds the same object again, but no other NaN, as which it comes to another process."""
    rows = [(key, 1) for key in [*NANS, "other", *NANS, math.nan, math.nan, "other"]]
    for step in (
        lambda keyed: keyed.count_by_key(par=par),
        lambda keyed: keyed.reduce_by_key(operator.add, par=par),
        lambda keyed: keyed.aggregate_by_key(0, operator.add, par=par),
    ):
        assert ran(step, rows, workers, "k v", viper__on__error="skip") == [("other", 1), ("other", 2)]
    rows = [(key, 1) for key in [math.nan, float("nan"), (1, math.nan), complex(math.nan, 1), 2.5, math.nan]]
    alone = ran(
        lambda keyed: keyed.map(lambda key, _: key).key_by("value").count_by_key(par=par),
        rows,
        workers,
        "k v",
        viper__on__error="skip",
    )
    assert alone == [(2.5, 1)]


@pytest.mark.parametrize("returned", [None, 5, "xy", (1,), [1, 2, 3]], ids=repr)
@pytest.mark.parametrize("step", ["window", "key"])
def test_what_is_no_row_is_an_error_of_the_function(step: str, returned: Any) -> None:
    rows = [("a", 0, 1), ("a", 1, 2), ("a", 2, 3)]
    said = r"the function has returned .*: expected a tuple of 2 values, \['at', 'v'\]"
    with pytest.raises(ComponentError, match=said):
        if step == "key":
            ran(lambda keyed: keyed.reduce_by_key(lambda before, value: returned), rows)
        ran(lambda keyed: keyed.window(Tumbling("9s")).reduce(lambda before, value: returned), rows)


@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_a_list_is_a_row(form: Any) -> None:
    rows = [("a", 0, 1), ("a", 1, 2), ("a", 2, 3), ("a", 3, 4)]
    as_tuples = ran(lambda keyed: keyed.window(form).reduce(lambda before, value: value), rows)
    assert ran(lambda keyed: keyed.window(form).reduce(lambda before, value: list(value)), rows) == as_tuples


@pytest.mark.parametrize("returned", [None, 5])
def test_a_window_comes_to_a_list(returned: Any) -> None:
    with pytest.raises(ComponentError, match=r"has returned .* for a window: expected a list"):
        ran(
            lambda keyed: keyed.window(Tumbling("9s")).process(lambda window, values: returned), [("a", 0, 1)]
        )


def extended(before: list[int], value: list[int]) -> list[int]:
    before.extend(value)
    return before


@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_a_function_may_change_its_first_argument(form: Any) -> None:
    rows = [("a", index, [index]) for index in range(7)]

    def of(function: Any) -> list[Row]:
        builder = StreamBuilder()
        stream = builder.new_stream(Given(rows, "k at v", "at"))
        stream.to(CollectingSink(), name="seen")
        keyed = stream.map(lambda k, at, v: (k, v), fields=["k", "v"]).key_by("k")
        keyed.window(form).reduce(function).to(CollectingSink(), name="sink")
        report = run_built(builder)
        assert report.result("seen") == rows
        return list(report.result("sink"))

    assert of(extended) == of(operator.add)


@pytest.mark.parametrize("workers", [INLINE, PROCESSES], ids=str)
def test_nan_is_one_value_also_within_others(workers: Workers) -> None:
    values = [math.nan, float("nan"), (1, math.nan), (1, float("nan")), [1, 2], (1, 2), None]
    rows = [("a", index, value) for index, value in enumerate(values)]
    aggregates = Aggregates(exactly=Distinct("v"), nearly=ApproximateDistinct("v"))
    found = ran(lambda keyed: keyed.window(Tumbling("9s")).aggregate(aggregates), rows, workers)
    assert found == [("a", 4, 4)]
