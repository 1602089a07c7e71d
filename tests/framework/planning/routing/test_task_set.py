"""Sets of tasks, as one word says them, and routers among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.model.topology import Grouping
from framework.planning.routing import (
    MOST_CHOSEN,
    CountingRouter,
    ScalableRouter,
    SwitchingRouter,
    TaskSet,
    among,
    make_router,
)
from framework.planning.routing.router import Router

indexes = st.sets(st.integers(0, MOST_CHOSEN - 1), min_size=1)


def shuffle(tasks: int) -> Router:
    return make_router(Grouping.SHUFFLE, ("number",), tasks, 0)


def by_number(tasks: int) -> Router:
    return make_router(Grouping.fields("number"), ("number",), tasks, 0, groups=64)


@given(indexes)
def test_a_word_says_which_tasks(chosen: set[int]) -> None:
    tasks = TaskSet.of(chosen)
    assert -(2**63) <= tasks.code < 2**63
    assert TaskSet.from_code(tasks.code) == tasks
    assert set(tasks) == chosen and len(tasks) == len(chosen)
    assert [tasks.rank(index) for index in tasks] == list(range(len(chosen)))
    assert all(tasks.rank(index) is None for index in range(70) if index not in chosen)


def test_the_first_ones_may_be_more_than_a_word_has_bits() -> None:
    assert TaskSet.of(range(500)) == TaskSet.first(500) == TaskSet.from_code(500)


def test_what_no_word_can_tell_is_refused() -> None:
    for wrong in ([], [-1, 0], [MOST_CHOSEN]):
        with pytest.raises(ValueError, match="expected"):
            TaskSet.of(wrong)
    assert TaskSet.from_code(TaskSet.of([MOST_CHOSEN - 1]).code).indexes == (MOST_CHOSEN - 1,)


def test_people_are_told_which_tasks_where_these_are_not_the_first() -> None:
    told = [TaskSet.first(1), TaskSet.first(3), TaskSet.of([2]), TaskSet.of([0, 3, 4])]
    assert [str(each) for each in told] == ["1", "3", "task 2", "tasks 0, 3 and 4"]
    assert [each.in_words for each in told] == ["1 task", "3 tasks", "task 2", "tasks 0, 3 and 4"]


@pytest.mark.parametrize("make", [shuffle, by_number])
@given(chosen=st.sets(st.integers(0, 9), min_size=1), rows=st.lists(st.tuples(st.integers()), max_size=40))
def test_rows_are_divided_as_among_the_first_of_as_many(
    make: Any, chosen: set[int], rows: Sequence[tuple[int]]
) -> None:
    tasks = TaskSet.of(chosen)
    found = list(among(tasks, make).targets(rows))
    assert found == [tasks.indexes[rank] for rank in make(len(tasks)).targets(rows)]


def test_a_successor_goes_on_as_the_router_before_it_whatever_its_tasks_are() -> None:
    rows = [(number,) for number in range(50)]
    wanted = TaskSet.of([1, 3, 4])

    def made() -> ScalableRouter:
        return ScalableRouter(
            lambda tasks: among(tasks, shuffle),
            TaskSet.first(2),
            5,
            lambda: wanted.code,
            only_at_commits=True,
        )

    dead = made()
    dead.targets(rows[:7])
    dead.follow()
    dead.targets(rows[:5])
    saved = dead.save()
    successor = made()
    successor.restore(saved)
    assert set(successor.targets(rows)) == {1, 3, 4}
    again = made()
    again.restore(saved)
    assert list(again.targets(rows)) == list(dead.targets(rows))
    assert isinstance(dead, CountingRouter)


def test_what_was_saved_with_more_tasks_than_there_are_is_not_taken() -> None:
    def made(most: int, code: int) -> ScalableRouter:
        return ScalableRouter(
            lambda tasks: among(tasks, shuffle), TaskSet.first(1), most, lambda: code, only_at_commits=True
        )

    before = made(5, TaskSet.of([4]).code)
    before.follow()
    router = made(4, 1)
    router.restore(before.save())
    assert set(router.targets([(1,)] * 9)) == {0}


def test_tasks_change_within_a_call_where_as_many_others_take_over() -> None:
    router = SwitchingRouter(lambda tasks: among(tasks, by_number), TaskSet.of([1]))
    router.become(TaskSet.of([2]), first=3)
    assert list(router.targets([(number,) for number in range(5)])) == [1, 1, 1, 2, 2]
