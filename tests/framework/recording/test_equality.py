"""The values that count as the same."""

from __future__ import annotations

import collections
import copy
import datetime
import decimal
import enum
import math
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.recording.comparing import same

NAN = float("nan")


class Plain:
    """Has no __eq__ of its own."""

    def __init__(self, value: object) -> None:
        self.value = value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


@dataclass
class Point:
    x: float
    tags: list[object] = field(default_factory=list)


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Node:
    """Refers to itself."""

    def __init__(self, value: object) -> None:
        self.value = value
        self.me = self


def kind_of(value: object) -> str:
    """Name a value in the names of tests, which its repr cannot do: sets have theirs in any order."""
    return type(value).__name__


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 1, 10**30, 1.5, -0.0, math.inf, 1j, complex(NAN, 1), "é", b"\0", bytearray(b"x")),
        *((), (1, "a", None), [1, [2, (3,)]], {"a": [1], 2: {3}}, {1, "a"}, frozenset({1.5})),
        *(datetime.date(2020, 1, 1), datetime.timedelta(1), decimal.Decimal("1.50"), re.compile("a+")),
        *(collections.Counter("aab"), collections.deque([1, 2], 3), collections.defaultdict(list, {1: [2]})),
        *(
            Plain([1]),
            Slotted({2}),
            Point(NAN, [NAN]),
            Colour.RED,
            Plain(Plain(NAN)),
            int,
            same,
            len,
            Node(1),
        ),
    ],
    ids=kind_of,
)
def test_a_copy_is_the_same(value: Any) -> None:
    assert same(value, copy.deepcopy(value))
    assert same([value, {"k": value}], [copy.deepcopy(value), {"k": copy.deepcopy(value)}])


def test_nan_is_the_same_as_any_nan() -> None:
    assert same([NAN], [-float("nan")])
    assert not same([NAN], [0.0])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        *((1, 1.0), (1, True), (0.0, -0.0), ("a", b"a"), (1, 2), (1.0, 1.0000000000000002), (1j, 2j)),
        *(((1,), [1]), ((1, 2), (1,)), ([1, 2], [2, 1]), ((1, (2,)), (1, (2.0,)))),
        *(({1: 2}, {1.0: 2}), ({1: 2}, {1: 2.0}), ({1: 2}, {1: 2, 3: 4}), ({1}, {True}), ({1, 2}, {1, 3})),
        *((decimal.Decimal("1.0"), decimal.Decimal("1.00")), (Colour.RED, Colour.GREEN)),
        *(
            (Plain(1), Plain(2)),
            (Slotted(1), Slotted(1.0)),
            (Point(1.0), Point(1.0, [2])),
            (Node(1), Node(2)),
        ),
        *((collections.deque([1], 3), collections.deque([1], 4)), (collections.deque([1]), [1])),
        *(
            (collections.Counter("a"), collections.Counter("aa")),
            (Plain(1), Slotted(1)),
            (int, float),
            (len, min),
        ),
        *((re.compile("a"), re.compile("a", re.I)), (None, 0), (None, False), (same, copy.copy)),
    ],
    ids=kind_of,
)
def test_what_would_be_written_otherwise_is_not_the_same(a: Any, b: Any) -> None:
    assert not same(a, b)
    assert not same(b, a)


def test_dicts_and_sets_have_no_order() -> None:
    assert same({1: "a", 2: "b"}, {2: "b", 1: "a"})
    assert same({8, 0}, {0, 8})


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(a=values, b=values)
def test_it_is_as_strict_as_what_is_printed(a: Any, b: Any) -> None:
    assert same(a, copy.deepcopy(a))
    if not _holds_dict(a):  # whose order is printed, but does not count
        assert same(a, b) == (repr(a) == repr(b))


def _holds_dict(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_dict, value))
    return isinstance(value, dict)
