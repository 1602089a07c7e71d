"""Rows that are held as their only values: in all that is done with a payload they are as rows of tuples."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest

from viper.codec import Decoder, decode, encode
from viper.jumbo import Jumbo
from viper.payload import BareRows, Rows, interleaved, worth_joining
from viper.rows import pick

VALUES: list[Any] = [1, "two", 3.5, None, b"five", (6, "six"), True, "eight"]


def both(values: list[Any]) -> tuple[BareRows, Rows]:
    """The same rows in both forms."""
    return BareRows(list(values)), Rows([(value,) for value in values], sealed=True)


def test_their_tuples_are_made_once() -> None:
    bare, rows = both(VALUES)
    assert bare.rows == rows.rows == list(bare)
    assert bare.rows is bare.rows
    assert repr(bare) == "BareRows(8)"


@pytest.mark.parametrize("seed", range(30))
def test_they_are_as_rows(seed: int) -> None:
    print(f"seed={seed}")
    chance = random.Random(seed)
    values = [chance.choice(VALUES) for _ in range(chance.randrange(1, 30))]
    count = len(values)
    first = chance.randrange(count)
    size = chance.randrange(count - first + 1)
    targets = array("H", [chance.randrange(3) for _ in range(count)])
    member = [chance.randrange(2) for _ in range(count)]
    order = array("I", chance.sample(range(count), count))
    others = both([chance.choice(VALUES) for _ in range(count)])
    chosen = array("H", [0] * (count - first) + [1] * count)
    chance.shuffle(chosen)
    found = []
    for payload, other in zip(both(values), others, strict=True):
        mixed = [
            interleaved([payload, second], [first, 0], chosen) for second in (other, Rows(list(other.rows)))
        ]
        parts = [
            payload,
            payload.slice(first, size),
            payload.slice(0, count),
            payload.take(member),
            payload.ordered(order),
            *payload.partition(targets, 3),
            payload.joined(other),
            payload.joined(Rows([(1,)])),
            payload.joined(),
            payload.own(),
            payload.lent_out(),
            *mixed,
        ]
        found.append(
            [(list(part.rows), len(part), part.mutable, part.encoded()) for part in parts]
        )
        assert not any(isinstance(part, BareRows) for part in parts) or payload.sealed
    assert found[0] == found[1]


@pytest.mark.parametrize(("arity", "fits"), [(1, True), (-1, True), (0, False), (2, False)])
def test_they_have_one_value_each(arity: int, fits: bool) -> None:
    for payload in both(VALUES):
        assert payload.have(arity) is fits


def test_the_only_value_of_each_goes_to_other_processes() -> None:
    for tags in (None, array("H", [1] * len(VALUES))):
        bare, rows = (encode(Jumbo(payload, tags)) for payload in both(VALUES))
        assert bare == rows
        assert decode(bare, Decoder()).payload.rows == [(value,) for value in VALUES]


def test_some_are_worth_joining() -> None:
    bare, rows = both(VALUES)
    assert worth_joining([bare, bare, rows]) == 2
    assert worth_joining([rows, bare]) == 1


ROWS: list[tuple[Any, ...]] = [(1, "a", None), (2, "b", [3])]


@pytest.mark.parametrize(
    ("indexes", "expected"),
    [
        ((2, 0), [(None, 1), ([3], 2)]),
        ((1,), ["a", "b"]),
        ((0, 0, 1, 2), [(1, 1, "a", None), (2, 2, "b", [3])]),
    ],
)
def test_values_are_picked(indexes: tuple[int, ...], expected: list[Any]) -> None:
    made = pick(ROWS, indexes)
    assert made == expected
    assert pick([], indexes) == []
    assert ROWS == [(1, "a", None), (2, "b", [3])]


@pytest.mark.parametrize(("rows", "indexes"), [(ROWS, (0, 3)), (ROWS, (3,)), (ROWS, (-1,)), ([[1]], (0,))])
def test_a_value_that_is_not_there(rows: list[Any], indexes: tuple[int, ...]) -> None:
    with pytest.raises(IndexError, match="has no value at index"):
        pick(rows, indexes)


def test_nothing_to_pick() -> None:
    with pytest.raises(ValueError, match="no index"):
        pick(ROWS, ())
    with pytest.raises(TypeError):
        pick(ROWS, ("a",))  # type: ignore[arg-type]
