"""Functions that are called with the values of row after row."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from viper.rows import are_ends, call_choosing, call_each, call_flat

ROWS: list[tuple[Any, ...]] = [(3,), (1,), (0,), (2,)]


class Text(str):
    """A text that may have attributes."""


def given(bare: bool) -> list[Any]:
    """The rows, or their values."""
    return [value for (value,) in ROWS] if bare else ROWS


def raising(at: int, error: BaseException, otherwise: Callable[[int], Any]) -> Callable[[int], Any]:
    """A function that raises for one value."""

    def function(value: int) -> Any:
        if value == at:
            raise error
        return otherwise(value)

    return function


@pytest.mark.parametrize("bare", [True, False])
def test_each_result_is_appended(bare: bool) -> None:
    made: list[Any] = []
    assert call_each(lambda value: 2 * value, given(bare), made, bare) == (None, True)
    assert made == [6, 2, 0, 4]


def test_a_method_in_c_is_called_too() -> None:
    made: list[Any] = []
    (ends, raised), plain = call_flat(str.split, [("a b",), ("",), ("c",)], made)
    assert made == ["a", "b", "c"]
    assert (list(array("I", ends)), raised, plain) == ([2, 2, 3], None, True)
    bare: list[Any] = []
    assert call_flat(str.split, ["a b", "", "c"], bare, True) == ((ends, None), True)
    assert bare == made


@pytest.mark.parametrize(
    ("answer", "plain"),
    [(1, True), ((1, ("a", None)), True), ([1], False), ((1, []), False), (Decimal(1), False)],
)
@pytest.mark.parametrize("at", [0, 3])
def test_results_are_told_apart_by_whether_all_are_plain(answer: Any, plain: bool, at: int) -> None:
    def function(value: int) -> Any:
        return answer if value == at else b"plain"

    assert call_each(function, ROWS, []) == (None, plain)
    (_, raised), told = call_flat(lambda value: [function(value)] * value, ROWS, [])
    assert (raised, told) == (None, plain or at == 0)  # for 0 there is none


@pytest.mark.parametrize(
    "items",
    [["a", "b"], [1, None, b""], [(1, "a"), (2, ("b",))], ["a", [1]], [(1, []), "a"], [Text("a"), "b"], []],
    ids=repr,
)
def test_a_list_is_taken_as_its_items_are_one_by_one(items: list[Any]) -> None:
    found = []
    for answer in (items, tuple(items), iter(items)):
        made: list[Any] = ["before"]
        (ends, raised), plain = call_flat(lambda value, answer=answer: answer, ROWS[:1], made)
        found.append((made, [type(item) for item in made], list(array("I", ends)), raised, plain))
        assert not any(a is b for a, b in zip(made[1:], items, strict=True) if type(b) in (list, Text))
    assert found[0] == found[1] == found[2]
    assert found[0][0] == ["before", *items]


def test_a_list_of_tuples_that_are_nested_deeply() -> None:
    deep: Any = ()
    for _ in range(100_000):
        deep = (deep,)
    made: list[Any] = []
    (_, raised), plain = call_flat(lambda value: ["a", deep], ROWS[:1], made)
    assert (made, type(raised), plain) == ([], RecursionError, False)


def test_what_can_be_changed_is_copied_at_once() -> None:
    shared: list[int] = []
    made: list[Any] = []
    call_each(lambda value: shared.append(value) or shared, ROWS, made)
    assert made == [[3], [3, 1], [3, 1, 0], [3, 1, 0, 2]]
    made.clear()
    call_flat(lambda value: [shared], ROWS[:1], made)
    assert made == [shared]
    assert made[0] is not shared


def test_rows_are_chosen_as_they_are() -> None:
    made: list[Any] = []
    ends, raised = call_choosing(lambda value: value, ROWS, made)
    assert made == [(3,), (1,), (2,)]
    assert [row is given for row, given in zip(made, [ROWS[0], ROWS[1], ROWS[3]], strict=True)] == [True] * 3
    assert (list(array("I", ends)), raised) == ([1, 2, 2, 3], None)


def test_an_exception_ends_the_calls_and_keeps_what_came_before() -> None:
    error = ValueError("no")
    made: list[Any] = []
    assert call_each(raising(0, error, lambda value: value), ROWS, made)[0] is error
    assert made == [3, 1]
    assert error.__traceback__ is not None
    for bare in (True, False):
        function = raising(0, error, lambda value: [value])
        made = []
        (ends, raised), _ = call_flat(function, given(bare), made, bare)
        assert (made, list(array("I", ends)), raised) == ([3, 1], [1, 2], error)
        made = []
        ends, raised = call_choosing(function, given(bare), made, bare)
        assert (made, list(array("I", ends)), raised) == (given(bare)[:2], [1, 2], error)


def test_what_a_row_has_brought_before_it_failed_is_taken_back() -> None:
    def items(value: int) -> Any:
        yield from range(value)
        if value == 1:
            raise ValueError

    made: list[Any] = []
    (ends, raised), _ = call_flat(items, ROWS, made)
    assert (made, list(array("I", ends))) == ([0, 1, 2], [3])
    assert isinstance(raised, ValueError)


@pytest.mark.parametrize("answer", [5, None])
def test_an_answer_that_has_no_items(answer: Any) -> None:
    assert isinstance(call_flat(lambda value: answer, ROWS, [])[0][1], TypeError)


def test_an_answer_that_is_neither_true_nor_false() -> None:
    class Neither:
        def __bool__(self) -> bool:
            raise ValueError

    assert isinstance(call_choosing(lambda value: Neither(), ROWS, [])[1], ValueError)


@pytest.mark.parametrize("call", [call_each, call_flat, call_choosing])
def test_what_is_no_exception_is_raised(call: Any) -> None:
    function = raising(0, KeyboardInterrupt(), lambda value: [value])
    with pytest.raises(KeyboardInterrupt):
        call(function, ROWS, [])


@pytest.mark.parametrize("call", [call_each, call_flat, call_choosing])
def test_rows_that_go_while_they_are_read(call: Any) -> None:
    rows = list(ROWS)
    call(lambda value: rows.clear() or [value], rows, [])
    assert rows == []


def test_a_row_that_is_no_tuple() -> None:
    assert isinstance(call_each(len, [["a"]], [])[0], TypeError)


@pytest.mark.parametrize(
    ("ends", "size", "expected"),
    [([], 0, True), ([], 1, False), ([0, 2, 2], 2, True), ([0, 2, 2], 3, False), ([2, 1], 1, False)],
)
def test_ends_never_descend(ends: list[int], size: int, expected: bool) -> None:
    assert are_ends(array("I", ends), size) is expected
