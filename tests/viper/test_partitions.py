"""Merged partitions against a sort; the C side has tests of its own."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.errors import OrderError, PositionError
from viper.partitions import MOST_PARTITIONS, Merge, Partition
from viper.position import LEAST, Level, Position, Positions
from viper.rows import interleave, interleave_tags, misfit


def partition(number: int) -> Partition:
    return Partition(Level(64, 24, 12, number))


TIMES = st.lists(st.integers(0, 5), min_size=1).map(sorted)


@given(st.lists(TIMES, min_size=1, max_size=5), st.integers(1, 9))
def test_rows_come_by_time_then_partition_then_as_they_were(times: list[list[int]], limit: int) -> None:
    partitions = [partition(number) for number in range(len(times))]
    for each, own in zip(partitions, times, strict=True):
        each.load(array("q", own))
    merge, out, found = Merge(partitions), Positions(), []
    rows = [[(number, index) for index in range(len(own))] for number, own in enumerate(times)]
    while all(each.waiting for each in partitions):
        firsts = [each.next for each in partitions]
        found += interleave(rows, firsts, merge.take(limit, out))
    numbered = ((ts, number, index) for number, own in enumerate(times) for index, ts in enumerate(own))
    expected = [(number, index) for _, number, index in sorted(numbered)]
    assert found == expected[: len(found)]
    assert list(out) == sorted(out) and len(set(out)) == len(out) == len(found)
    assert partitions[found[-1][0]].waiting == 0
    for each, own in zip(partitions, times, strict=True):
        if each.next:
            assert each.place == (own[each.next - 1], own[: each.next].count(own[each.next - 1]))


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=60).map(sorted),
    st.integers(1, 9),
    st.integers(0, 45),
    st.sampled_from([1, 2, 24]),
)
def test_alone_its_rows_have_the_positions_that_they_have_among_others(
    times: list[int], limit: int, until: int, ordinal_bits: int
) -> None:
    def placed(*others: Partition) -> tuple[list[Position], tuple[int, int], int]:
        one, out = Partition(Level(64, ordinal_bits, 12, 0)), Positions()
        one.load(array("q", times))
        merge = Merge([one, *others])
        while one.waiting and len(merge.take(limit, out, until)):
            pass
        return list(out), one.place, one.overflowed

    late = partition(1)
    late.load(array("q", [1000]))
    assert placed() == placed(late)


def test_a_place_says_where_another_goes_on() -> None:
    first, second, out = partition(3), partition(3), Positions()
    times = array("q", [4, 7, 7, 7, 9])
    assert first.floor() == LEAST
    first.load(times)
    Merge([first]).take(3, out)
    second.load(times)
    assert second.skip(second.floor_behind(first.place)) == 3
    rest, whole = Positions(), Positions()
    Merge([second]).take(9, rest)
    second.load(times)
    third = partition(3)
    third.load(times)
    Merge([third]).take(9, whole)
    # What was skipped counts among those of its time, so that each row has the position it always has.
    assert [*out, *rest] == list(whole)


def test_nothing_is_later_than_until() -> None:
    one, out = partition(0), Positions()
    one.load(array("q", [1, 2, 3, 4]))
    merge = Merge([one])
    assert len(merge.take(9, out, until=2)) == 2 * 2
    assert len(merge.take(9, out, until=2)) == 0
    assert one.next_ts == 3 and one.floor() == Position(3, 1, 0)


def test_what_goes_back_is_told_and_not_placed() -> None:
    one, out = partition(0), Positions()
    one.load(array("q", [1, 5, 4]))
    merge = Merge([one])
    assert len(merge.take(9, out)) == 2 * 2
    with pytest.raises(OrderError, match="row 2 of the block is at 4 us, behind one at 5 us"):
        merge.take(9, out)
    assert len(out) == 2


def test_what_cannot_be_merged_is_refused() -> None:
    one = partition(0)
    with pytest.raises(PositionError, match=r"type 'd': expected array\('q'\)"):
        one.load(array("d", [1.0]))
    with pytest.raises(PositionError, match=r"of type list: expected array\('q'\)"):
        one.load([1])  # type: ignore[arg-type]
    with pytest.raises(IndexError, match="nobody knows what comes first"):
        Merge([one]).take(1, Positions())
    with pytest.raises(IndexError, match="no rows at hand"):
        _ = one.next_ts
    with pytest.raises(PositionError, match="at most 4096"):
        Merge([one] * (MOST_PARTITIONS + 1))


@pytest.mark.parametrize(
    ("lists", "firsts", "chosen", "error"),
    [
        ([[1]], [0], [1], IndexError),
        ([[1]], [0], [0, 0], IndexError),
        ([[1]], [2], [0], IndexError),
        ([[1]], [-1], [0], TypeError),
        ([(1,)], [0], [0], TypeError),
        ([[1]], [], [0], ValueError),
        ([[1]], ["0"], [0], TypeError),
    ],
)
def test_interleave_refuses_what_does_not_fit(lists: list, firsts: list, chosen: list, error: type) -> None:  # type: ignore[type-arg]
    with pytest.raises(error):
        interleave(lists, firsts, array("H", chosen))


def test_tags_are_interleaved_as_rows_are() -> None:
    tags = [array("H", [7, 1, 2]), None, array("H", [3])]
    found = interleave_tags(tags, [1, 5, 0], [10, 20, 30], array("H", [0, 1, 2, 1, 0]))
    assert memoryview(found).cast("H").tolist() == [11, 20, 33, 20, 12]


@pytest.mark.parametrize(
    ("tags", "firsts", "bases", "chosen", "error"),
    [
        ([array("H", [1])], [0], [0], [1], IndexError),
        ([array("H", [1])], [0], [0], [0, 0], IndexError),
        ([array("H", [1])], [2], [0], [0], IndexError),
        ([array("H", [1])], [-1], [0], [0], IndexError),
        ([array("H", [1])], [0], [-1], [0], ValueError),
        ([array("H", [1])], [], [0], [0], ValueError),
        ([array("H", [1])], [0], [], [0], ValueError),
        ([array("H", [1]), 1], [0, 0], [0, 0], [0], TypeError),
        ([array("H", [1]), None], [0, "0"], [0, 0], [0], TypeError),
        ([None], [0], ["0"], [0], TypeError),
    ],
)
def test_interleave_tags_refuses_what_does_not_fit(
    tags: Any, firsts: Any, bases: Any, chosen: list[int], error: type[Exception]
) -> None:
    with pytest.raises(error):
        interleave_tags(tags, firsts, bases, array("H", chosen))


@pytest.mark.parametrize(
    ("rows", "arity", "index"),
    [
        ([], 2, None),
        ([(1, 2), (3, 4)], 2, None),
        ([(1,), ()], -1, None),
        ([(1, 2), (3,)], 2, 1),
        ([[1]], -1, 0),
    ],
)
def test_rows_that_do_not_fit(rows: list[tuple[int, ...]], arity: int, index: int | None) -> None:
    assert misfit(rows, arity) == index
