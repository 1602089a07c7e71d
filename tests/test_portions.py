"""The choice of cases that run at every change."""

from __future__ import annotations

from tests.portions import at_every_change, few_of, seeds_at_every_change


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


def test_few_cases_have_as_many_values_as_can_be() -> None:
    cases = [{"kind": kind, "shape": shape} for shape in range(4) for kind in range(3)]
    assert few_of(cases, 1) == {0}
    assert few_of(cases, 3) == {0, 4, 8}
    assert few_of(cases, 4) == {0, 4, 8, 9}, "the last shape, though each kind has been seen"


def test_there_may_be_fewer_cases_than_are_asked_for() -> None:
    assert few_of([{"kind": 0}, {"kind": 1}], 5) == {0, 1}
