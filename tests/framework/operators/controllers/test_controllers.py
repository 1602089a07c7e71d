"""The decisions of controllers, by measurements that tests think up: no clock, no run."""

from __future__ import annotations

import math
from typing import Any

import pytest

from framework.model.errors import LoadError
from framework.operators.controllers import (
    Controller,
    Measurements,
    Predictive,
    Schedule,
    Thresholds,
    make_controller,
    name_of,
)
from tests.framework.operators.controllers.measured import Queue, measured


@pytest.mark.parametrize("before, after", [(1, 2), (5, 9), (9, 16), (18, 31), (30, 52), (40, 69), (45, 78)])
def test_tasks_are_added_as_in_table_4_of_the_paper(before: int, after: int) -> None:
    assert Thresholds().wished(measured(before, 1.2)) == after


@pytest.mark.parametrize(
    "before, after", [(1, 1), (5, 3), (9, 4), (18, 8), (30, 13), (40, 18), (60, 26), (70, 30)]
)
def test_tasks_are_taken_away_as_the_paper_says(before: int, after: int) -> None:
    """Its table has one task less but for 70, with which the load is above the target that its text names."""
    assert Thresholds().wished(measured(before, 0.3)) == after
    assert 0.3 * before / after <= 0.7 + 1e-9
    assert after == 1 or 0.3 * before / (after - 1) > 0.7


@pytest.mark.parametrize("load", [0.45, 0.5, 0.7, 0.9])
def test_between_the_thresholds_the_number_stays(load: float) -> None:
    assert Thresholds().wished(measured(7, load)) == 7


def wished_again(controller: type[Thresholds], demand: float, tasks: int) -> tuple[int, int]:
    """Compute the number that one wishes for when so many tasks' work is to be done, and its next wish."""
    found = controller().wished(measured(tasks, demand / tasks))
    return found, controller().wished(measured(found, demand / found))


@pytest.mark.parametrize("controller", [Thresholds, Predictive])
def test_what_is_wished_for_is_not_changed_again(controller: type[Thresholds]) -> None:
    for tasks in range(1, 20):
        for demand in (tasks * share / 20 for share in range(1, 40)):
            first, second = wished_again(controller, demand, tasks)
            assert first == second, (tasks, demand)


class OneByOne(Thresholds):
    """A planted bug: it takes a task away without a look at what that makes of the load."""

    def wished(self, now: Measurements) -> int:
        load = now.demand / now.tasks
        return max(1, now.tasks + (load > 0.8) - (load < 0.7))


def test_the_search_finds_a_controller_that_swings() -> None:
    with pytest.raises(AssertionError):
        test_what_is_wished_for_is_not_changed_again(OneByOne)


def test_after_a_change_it_waits() -> None:
    queue, controller = Queue(tasks=1), Thresholds(cooldown=5)
    tasks = [now.tasks for now in queue.driven(controller, [200.0] * 4 + [20.0] * 10)]
    assert tasks == [1, *[3] * 5, *[1] * 8]
    queue, controller = Queue(tasks=1), Thresholds(cooldown=0)
    tasks = [now.tasks for now in queue.driven(controller, [200.0] * 4 + [20.0] * 10)]
    assert tasks == [1, 3, 5, 3, 3, *[1] * 9]  # as long as tuples wait, its tasks are all busy


def test_what_somebody_else_has_changed_stays_as_long() -> None:
    controller = Thresholds(cooldown=5)
    assert controller.wished(measured(2, 0.6, elapsed_s=1.0)) == 2
    assert controller.wished(measured(4, 0.3, elapsed_s=2.0)) == 4
    assert controller.wished(measured(4, 0.3, elapsed_s=5.9)) == 4
    assert controller.wished(measured(4, 0.3, elapsed_s=6.0)) == 2


def test_callbacks_longer_than_a_period_count_as_load() -> None:
    """None has returned, so that nothing says what a tuple costs."""
    stuck = measured(2, 0.0, busy=1.0, rate=50.0, processed=0.0)
    assert Thresholds().wished(stuck) == 3


def test_the_predictive_one_works_off_what_waits() -> None:
    idle = measured(4, 0.75, backlog=0)
    assert Predictive(horizon=10).wished(idle) == 4
    behind = measured(4, 0.75, backlog=1000)  # ten seconds of one task's work, or 1.33 that are not full
    assert Predictive(horizon=10).wished(behind) == 6
    assert Predictive(horizon=2).wished(behind) == 11


def behind(controller: Controller) -> tuple[int, float]:
    """For how many seconds tuples wait for a simulated join, and for how many seconds all tuples together."""
    queue = Queue(tasks=1, cost_s=0.00002, window_s=60)
    found = list(queue.driven(controller, [25.0] * 120 + [150.0] * 120))
    return sum(now.backlog > 0 for now in found), sum(now.backlog for now in found)


def test_it_foresees_how_a_window_fills() -> None:
    """The rate rises, each tuple becomes dearer for as long as the window fills, and the tasks are there."""
    reactive = behind(Thresholds(0.8, 0.75, 0.7))
    unaware = behind(Predictive())
    aware = behind(Predictive(window=60, horizon=20))
    assert aware[0] <= 1 < min(reactive[0], unaware[0])
    assert aware[1] < min(reactive[1], unaware[1])


def test_the_predictive_one_settles_in_each_phase() -> None:
    """The rates of the paper's fifth experiment, 500 to 8,000 tuples a second, in a simulated join."""
    rates = [500.0] * 150 + [8000.0] * 150 + [3000.0] * 150
    queue = Queue(tasks=1, cost_s=1e-8, window_s=60)
    tasks = [now.tasks for now in queue.driven(Predictive(window=60, horizon=5), rates)]
    for end, rate in ((150, 500.0), (300, 8000.0), (450, 3000.0)):
        needed = rate * rate * 60 * 1e-8
        assert set(tasks[end - 50 : end]) == {math.ceil(needed / 0.75)}


def test_a_schedule() -> None:
    schedule = Schedule([[10, 2], [20.5, 5]])
    wished = [schedule.wished(measured(3, 0.5, elapsed_s=at_s)) for at_s in (9.9, 10.0, 20.4, 20.5, 99.0)]
    assert wished == [3, 2, 2, 5, 5]


class Own(Controller):
    def __init__(self, tasks: int = 4) -> None:
        self._tasks = tasks

    def wished(self, now: Measurements) -> int:
        return self._tasks


OWN = f"{__name__}.Own"


@pytest.mark.parametrize(
    "given, tasks",
    [
        ("thresholds", 9),
        ({"class": "thresholds", "args": {"upper": 1.5}}, 5),
        ({"class": "schedule", "args": {"steps": [[0, 7]]}}, 7),
        (OWN, 4),
        ({"class": OWN, "args": {"tasks": 6}}, 6),
        ({"class": OWN, "args": None}, 4),
    ],
)
def test_made_of_its_configuration(given: Any, tasks: int) -> None:
    assert make_controller(given).wished(measured(5, 1.2)) == tasks
    assert name_of(given) in (given, given["class"] if isinstance(given, dict) else given)


@pytest.mark.parametrize(
    "given, told",
    [
        ("threshold", "unknown controller 'threshold': expected .* did you mean 'thresholds'"),
        (f"{OWN}er", "has no 'Owner'; did you mean 'Own'"),
        ("pathlib.Path", "pathlib.Path is no controller: expected a subclass of viperstorm.controllers"),
        ({"class": "thresholds", "args": {"uper": 1}}, "thresholds: .*'uper'; expected"),
        ({"class": "thresholds", "args": {"lower": 0.8}}, "lower=0.8, target=0.7 and upper=0.9: expected"),
        ({"class": "thresholds", "args": {"cooldown": -1}}, "cooldown=-1: expected seconds"),
        ({"class": "predictive", "args": {"horizon": 0}}, "horizon=0 and window=0.0: expected"),
        ({"class": "predictive", "args": {"smoothing": 0}}, "smoothing=0: expected"),
        ({"class": "schedule", "args": {"steps": [[5, 2], [1, 2]]}}, "expected ascending seconds"),
        ({"class": "schedule", "args": {"steps": [5, 2]}}, "expected pairs of seconds and tasks"),
    ],
)
def test_what_makes_no_controller(given: Any, told: str) -> None:
    with pytest.raises(LoadError, match=told):
        make_controller(given)


def test_an_own_one_must_decide() -> None:
    class Undecided(Controller):
        pass

    with pytest.raises(NotImplementedError, match="Undecided must define wished"):
        Undecided().wished(measured(1, 0.5))
