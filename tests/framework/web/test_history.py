"""The work of components since some time ago; the test sets the time, and never waits for it."""

from __future__ import annotations

from framework.runtime.observation import ComponentSnapshot, TaskSnapshot
from framework.web.history import Done, History
from tests.framework.runtime.observation.test_observing import component, snapshot


def split(processed: int, *tasks: TaskSnapshot) -> ComponentSnapshot:
    return component(processed=processed, tasks=tasks)


def seen_for(seconds: int, step: int = 1, first_s: float = 0.0) -> History:
    """A component that processes one tuple a second; the run is at `first_s` when it is seen first."""
    history = History()
    for second in range(0, seconds + 1, step):
        history.add(snapshot(second, split(second), elapsed_s=first_s + second))
    return history


def test_a_run_that_is_younger_is_told_of_whole() -> None:
    assert seen_for(100).of_last(600)["split"].processed == 100


def test_of_an_older_one_about_so_much() -> None:
    history = seen_for(5_000)
    assert 590 <= history.of_last(600)["split"].processed <= 600
    assert 2_700 <= history.of_last(3_000)["split"].processed <= 3_000
    assert history.total["split"].processed == 5_000


def test_what_came_before_it_was_seen_is_not_told() -> None:
    history = seen_for(100, first_s=10_000)
    assert history.of_last(600)["split"].processed == 100


def test_a_day_is_remembered_in_few_marks() -> None:
    history = seen_for(100_000, step=50)
    assert 86_000 <= history.of_last(86_400)["split"].processed <= 86_400


def test_work_and_times_go_on_where_a_process_has_begun_anew() -> None:
    history = History()
    for at_s, busy_s, count in ((0, 5.0, 5), (1, 6.0, 6), (2, 0.5, 1), (3, 1.5, 2)):
        history.add(snapshot(at_s, split(0, TaskSnapshot(7, busy_s, at_s, 1, ((3, count),)))))
    assert history.total["split"].busy_s == 7.5
    assert history.total["split"].times == ((3, 8),)


def test_a_run_that_has_gone_back_counts_from_there() -> None:
    history = History()
    history.add(snapshot(0, split(900), elapsed_s=1_000))
    history.add(snapshot(10, split(5), elapsed_s=1_010, attempt=1))
    history.add(snapshot(30, split(25), elapsed_s=1_030, attempt=1))
    assert history.of_last(600)["split"].processed == 20


def test_in_between() -> None:
    before, now = Done(1, 2, 3, 4, 5.0, ((1, 1),)), Done(2, 4, 6, 8, 10.0, ((1, 3),))
    assert now.since(before) == Done(1, 2, 3, 4, 5.0, ((1, 2),))
