"""Which of many cases run at every change."""

from __future__ import annotations

from tests.portions import at_every_change, seeds_at_every_change


def slow(params: list[object]) -> list[bool]:
    return [bool(getattr(param, "marks", ())) for param in params]


def test_those_behind_the_first_are_slow_and_none_is_left_out() -> None:
    params = at_every_change(["a", "b", "c"], 2)
    assert [param.values for param in params] == [("a",), ("b",), ("c",)]
    assert slow(params) == [False, False, True]


def test_a_tuple_has_the_values_of_several_parameters() -> None:
    params = at_every_change([(1, "a"), (2, "b")])
    assert [param.values for param in params] == [(1, "a"), (2, "b")]
    assert slow(params) == [False, True]


def test_seeds_are_two_ranges() -> None:
    params = seeds_at_every_change(range(8), 3)
    assert [param.values for param in params] == [(range(3),), (range(3, 8),)]
    assert slow(params) == [False, True]
