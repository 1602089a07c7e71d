"""Many rows in one call: they are appended, checked and counted as they would be one by one."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.rows import Outbox, ends, kept, plain_rows


def outbox() -> Outbox:
    def refused(*args: Any, **options: Any) -> None:
        raise AssertionError

    return Outbox((("default", 1, True), ("unread", 1, False), ("other", 1, True)), refused, refused, 2)


def test_rows_are_appended_with_their_port_and_on_full_is_not_called() -> None:
    box = outbox()
    box.extend(2, [("a",), ("b",)])
    box.extend(1, [("nobody",)])
    box.extend(0, [("c",)])
    rows, tags, notes = box.take()
    assert rows == [("a",), ("b",), ("c",)]
    assert tags == array("H", [2, 2, 0]).tobytes()
    assert (notes, box.discarded) == (None, 1)


def test_a_port_that_is_not_there() -> None:
    with pytest.raises(IndexError, match="no port 3"):
        outbox().extend(3, [("a",)])


@given(
    of=st.lists(st.integers(0, 9), max_size=30).map(sorted),
    count=st.integers(10, 12),
    kind=st.sampled_from([list, tuple, lambda of: array("q", of), lambda of: array("H", of)]),
)
def test_ends_count_the_outputs_up_to_each_input(of: list[int], count: int, kind: Any) -> None:
    found = ends(kind(of), count)
    assert found is not None
    assert list(array("I", found)) == [sum(1 for one in of if one <= index) for index in range(count)]


@pytest.mark.parametrize(("of", "count"), [([1, 0], 2), ([0, 2, 1], 3)])
def test_outputs_out_of_order_have_none(of: list[int], count: int) -> None:
    assert ends(of, count) is None


@pytest.mark.parametrize("of", [[2], [-1], [0, 1, 2], [2**70]])
def test_inputs_that_are_not_there(of: list[int]) -> None:
    with pytest.raises(IndexError):
        ends(of, 2)


def test_the_number_of_inputs_is_none() -> None:
    with pytest.raises(ValueError, match="-1 inputs"):
        ends([], -1)


@pytest.mark.parametrize("odd", [[[1]], ["a", "b"], ("a", {}), "a", 3])
def test_rows_are_taken_up_to_one_that_is_not_the_common_case(odd: Any) -> None:
    made: list[tuple[Any, ...]] = []
    rows = [["x"], ("y",), odd, ["z"]]
    assert plain_rows(rows, 1, 0, made) == 2
    assert made == [("x",), ("y",)]
    assert plain_rows(rows, 1, 3, made) == 4
    assert made == [("x",), ("y",), ("z",)]


def test_what_is_kept_is_the_value_or_a_copy() -> None:
    plain, listed = ("a", 1, (None, 2.5)), ([1], {"a": [2]})
    assert kept(plain) is plain
    copied = kept(listed)
    assert copied == listed
    listed[0].append(2)
    assert copied == ([1], {"a": [2]})


class TestKnownRows:
    """Rows that nobody can change are taken as they are; all others are looked at."""

    rows: list[Any] = [(number, "x" * number) for number in range(6)]

    def taken(self, rows: list[Any], known: list[Any] | None, arity: int = 2) -> tuple[int, list[Any]]:
        made: list[Any] = []
        return plain_rows(rows, arity, 0, made, None, known), made

    @pytest.mark.parametrize("indexes", [[0, 1, 2, 3, 4, 5], [1, 4], [5], [], [2, 2, 3], [3, 1], [5, 0, 5]])
    def test_they_are_the_same_in_any_order(self, indexes: list[int]) -> None:
        chosen = [self.rows[index] for index in indexes]
        index, made = self.taken(chosen, self.rows)
        assert (index, made) == (len(chosen), chosen)
        assert all(one is other for one, other in zip(made, chosen, strict=True))

    def test_known_ones_are_not_looked_at(self) -> None:
        """So a list in one of them shows that they are taken for what they are said to be."""
        held: list[Any] = [(1, []), (2, [])]
        assert self.taken(held, held) == (2, held)
        assert self.taken(held, None)[0] == 0

    def test_others_among_them_are(self) -> None:
        rows = [self.rows[0], (1, []), self.rows[1]]
        assert self.taken(rows, self.rows) == (1, [self.rows[0]])
        equal = [self.rows[0], (1, "x"), self.rows[2]]
        assert self.taken(equal, self.rows) == (3, equal)

    def test_known_ones_of_another_width_are_refused(self) -> None:
        assert self.taken(self.rows, self.rows, arity=3) == (0, [])
        assert self.taken(self.rows, self.rows, arity=-1) == (6, self.rows)

    def test_tuples_of_a_class_of_their_own_are_made_plain(self) -> None:
        class Named(tuple[Any, ...]):
            pass

        named = [Named((1, "x"))]
        index, made = self.taken(named, named)
        assert (index, type(made[0])) == (1, tuple)

    @pytest.mark.parametrize("given", [("ab", [(1, 2)]), ("ab", None), (None, ((1, 2),))])
    def test_what_is_neither_is_refused(self, given: Any) -> None:
        with pytest.raises(TypeError, match="expected codes as bytes, or known rows as a list"):
            plain_rows([], 2, 0, [], *given)
