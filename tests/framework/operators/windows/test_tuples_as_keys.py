"""A key of one field may be a tuple: it is one value, and not as many as it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from framework import APlus, Count, Spout, TopologyBuilder, Tuple
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates.numbers import Sum
from tests.framework.runtime.pieces import run_built

KEYS = [(1, "a"), (1, "b"), ((1, 2), 3), (1, "a"), (1,), ()]
ROUNDS = 6


class Pairs(Spout):
    """Emits numbers, a second after another, whose keys are tuples."""

    outputs = ["key", "part", "number", "time"]
    config = {"viper.timestamp.field": "time"}

    def tuples(self) -> Iterator[list[Any]]:
        for number, key in enumerate(KEYS * ROUNDS):
            yield [key, number % 2, number, number * 1000]


class Total(APlus):
    """Adds up the numbers of a key."""

    outputs = ["key", "total"]
    aggregate = Sum("number")


class TotalOfTwo(Total):
    """Likewise, of a key of two fields, one of which is a tuple."""

    outputs = ["key", "part", "total"]


class TotalOfMade(Total):
    """Likewise, of a key that the class makes."""

    def keys(self, tup: Tuple) -> list[Any]:
        return [tup.values.key]


class TotalOfMadePairs(TotalOfTwo):
    """Likewise, of a key of two values."""

    def keys(self, tup: Tuple) -> list[Any]:
        return [(tup.values.key, tup.values.part)]


def totals(bolt: Total, fields: list[str], par: int) -> dict[Any, int]:
    """The total of each key over all windows."""
    builder = TopologyBuilder()
    builder.set_spout("source", Pairs)
    declared = builder.set_bolt("windows", bolt, par)
    if fields:
        declared.fields_grouping("source", fields)
    else:
        declared.all_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found: dict[Any, int] = {}
    for *key, total in run_built(builder, viper__timestamp__unit="ms").result("sink"):
        found[tuple(key)] = found.get(tuple(key), 0) + total
    return found


def expected(*, of_two: bool) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for number, key in enumerate(KEYS * ROUNDS):
        named = (key, number % 2) if of_two else (key,)
        found[named] = found.get(named, 0) + number
    return found


@pytest.mark.parametrize("par", [1, 3])
@pytest.mark.parametrize("how", ["tumbling", "sessions", "by count"])
@pytest.mark.parametrize("cls", [Total, TotalOfTwo, TotalOfMade, TotalOfMadePairs])
def test_a_tuple_is_one_value(cls: type[Total], how: str, par: int) -> None:
    forms = {"tumbling": {"size": "10s"}, "sessions": {"gap": "1h"}, "by count": {"size": Count(1)}}
    bolt = cls(**forms[how])  # type: ignore[arg-type]
    fields = {Total: ["key"], TotalOfTwo: ["key", "part"]}.get(cls, [])
    assert totals(bolt, fields, par) == expected(of_two=issubclass(cls, TotalOfTwo))


def test_windows_that_overlap_have_each_tuple_twice() -> None:
    twice = {key: 2 * total for key, total in expected(of_two=False).items()}
    assert totals(Total("20s", "10s"), ["key"], 2) == twice
