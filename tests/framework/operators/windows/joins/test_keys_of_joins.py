"""Keys of joins are those of groupings and of state; None and NaN have no partner, as SQL has it for NULL."""

from __future__ import annotations

import datetime as dt
import enum
import math
import sqlite3
from contextlib import closing
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from framework import JoinBolt, StreamBuilder, TopologyBuilder
from framework.frontends.streams import Tumbling
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.operators.windows.joins import Band, Condition, Equal, How, Within
from tests.framework.given import Given, Row
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers
from viper.state import token_of


class Colour(enum.Enum):
    """A key of a class of its own."""

    RED = 1


class Text(str):
    """A text of a class of its own."""

    __slots__ = ()


LEFT: list[Any] = [
    *(math.nan, None, 1, [1, 2], (1, math.nan), (None, 1), "a", b"a", {1}, dt.date(2024, 1, 1)),
    *(
        Decimal("1.0"),
        {"a": [1]},
        Colour.RED,
        -0.0,
        Decimal("nan"),
        2**70,
        np.int64(9),
        (1, [2]),
        np.float32(0.1),
    ),
    *(frozenset([math.nan]), dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "b"),
]
RIGHT: list[Any] = [
    *(
        float("nan"),
        None,
        True,
        (1, 2),
        (1, float("nan")),
        (None, 1),
        Text("a"),
        bytearray(b"a"),
        frozenset([1]),
    ),
    *(
        np.datetime64("2024-01-01"),
        1.0,
        {"a": (1,)},
        Colour.RED,
        0,
        Decimal("nan"),
        float(2**70),
        9,
        [1, (2,)],
    ),
    *(0.1, frozenset([math.nan]), dt.datetime(2024, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))), "c"),
]


def keys_of(keys: list[Any], name: str) -> Given:
    """A spout that brings keys, each with its index as its time in seconds."""
    return Given([(key, index) for index, key in enumerate(keys)], f"{name} at", "at")


def is_out(key: Any) -> bool:
    """True if a key has no partner: None, and NaN also within."""
    if isinstance(key, tuple | list | frozenset):
        return any(part is not None and is_out(part) for part in key)
    return key is None or key != key


def expected_pairs() -> set[tuple[int, int]]:
    """The indexes of those that are one key of state."""
    tokens = [[None if is_out(key) else token_of(key) for key in keys] for keys in (LEFT, RIGHT)]
    return {
        (one, other)
        for one, left in enumerate(tokens[0])
        for other, right in enumerate(tokens[1])
        if left is not None and left == right
    }


def joined(how: How, par: int, *, index: bool, workers: Workers = INLINE) -> list[Row]:
    bolt = JoinBolt(
        "left", "right", Equal(left="k", right="l") & Within("99s"), ["k", "at", "l", "then"],
        how=how, index=["k"] if index else [],
    )  # fmt: skip
    builder = TopologyBuilder()
    builder.set_spout("left", keys_of(LEFT, "k"))
    builder.set_spout("right", keys_of(RIGHT, "l"))
    builder.set_bolt("join", bolt, par).fields_grouping("left", "k").fields_grouping("right", "l")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    return list(workers.run(builder).result("sink"))


def test_which_keys_are_partners() -> None:
    pairs = {(row[1], row[3]) for row in joined("inner", 1, index=True)}
    assert pairs == expected_pairs()
    assert {(3, 3), (6, 6), (7, 7), (8, 8), (9, 9), (11, 11), (15, 15), (17, 17), (20, 20)} <= pairs


def test_those_without_a_partner_are_put_out() -> None:
    rows = joined("full", 1, index=True)
    pairs = expected_pairs()
    for side, keys in enumerate((LEFT, RIGHT)):
        alone = sorted(row[1 + 2 * side] for row in rows if row[3 - 2 * side] is None)
        assert alone == [index for index in range(len(keys)) if index not in {pair[side] for pair in pairs}]


@pytest.mark.parametrize("how", ["inner", "full"])
def test_neither_tasks_nor_an_index_nor_processes_make_a_difference(how: How) -> None:
    expected = repr(joined(how, 1, index=True))
    for par, index, workers in (
        (3, True, INLINE),
        (1, False, INLINE),
        (3, False, INLINE),
        (3, True, PROCESSES),
    ):
        assert repr(joined(how, par, index=index, workers=workers)) == expected, (par, index, workers)


@pytest.mark.parametrize("index", [True, False])
def test_what_is_no_key_is_refused(index: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.framework.operators.windows.joins.test_keys_of_joins.LEFT", [print])
    monkeypatch.setattr("tests.framework.operators.windows.joins.test_keys_of_joins.RIGHT", [print, print])
    with pytest.raises(ComponentError, match="is no key for a grouping"):
        joined("inner", 1, index=index)


@pytest.mark.parametrize("par", [1, 3])
@pytest.mark.parametrize("workers", [INLINE, PROCESSES], ids=str)
def test_joins_in_windows_have_the_same_partners(par: int, workers: Workers) -> None:
    builder = StreamBuilder()
    left = builder.new_stream(keys_of(LEFT, "k")).key_by("k")
    right = builder.new_stream(keys_of(RIGHT, "l")).key_by("l")
    left.join(right, window=Tumbling("99s"), par=par).to(CollectingSink(), name="sink")
    rows = run_built(builder, **workers.options).result("sink")
    assert {(row[1], row[3]) for row in rows} == expected_pairs()


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 39), reason="its SQLite has no full joins")
@pytest.mark.parametrize("how", ["inner", "left", "right", "full"])
def test_numbers_and_nulls_as_sql_joins_them(how: How) -> None:
    left, right = [1, None, 2, 2, 5, None, math.nan], [2.0, None, 1.0, 7.0, math.nan]
    condition = Equal(left="k", right="l") & Within("99s")
    builder = TopologyBuilder()
    builder.set_spout("left", keys_of(left, "k"))
    builder.set_spout("right", keys_of(right, "l"))
    bolt = JoinBolt("left", "right", condition, ["k", "at", "l", "then"], how=how, index=["k"])
    builder.set_bolt("join", bolt, 3).fields_grouping("left", "k").fields_grouping("right", "l")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    with closing(sqlite3.connect(":memory:")) as connection:
        for name, keys in (("l", left), ("r", right)):
            connection.execute(f"create table {name} (k, at)")
            connection.executemany(f"insert into {name} values (?, ?)", zip(keys, range(9), strict=False))
        expected = connection.execute(f"select l.at, r.at from l {how} join r on l.k = r.k").fetchall()
    found = [(row[1], row[3]) for row in run_built(builder).result("sink")]
    assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize(
    ("keys", "band"),
    [([Decimal("0.1"), Decimal("0.7"), Decimal("nan"), Decimal("inf")], 0.5), ([1, math.inf], 2)],
)
def test_an_index_finds_the_numbers_of_a_band(keys: list[Any], band: float) -> None:
    def found(index: list[str], condition: Condition) -> list[Row]:
        builder = TopologyBuilder()
        builder.set_spout("left", keys_of(keys, "k"))
        builder.set_spout("right", keys_of([*keys, None], "l"))
        bolt = JoinBolt("left", "right", condition, ["k", "at", "l", "then"], index=index)
        builder.set_bolt("join", bolt).global_grouping("left").global_grouping("right")
        builder.set_bolt("sink", CollectingSink).global_grouping("join")
        return list(run_built(builder).result("sink"))

    condition = Band(band, left="k", right="l") & Within("99s")
    pairs = [(row[1], row[3]) for row in found(["k"], condition)]
    assert pairs == [(row[1], row[3]) for row in found([], condition)]
    finite = [index for index, key in enumerate(keys) if math.isfinite(key)]
    assert sorted(pairs) == [(i, j) for i in finite for j in finite if abs(keys[i] - keys[j]) <= band]
