"""The waits of a reconfiguration before it forgets the numbers of tasks before its cut."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from framework.planning.routing import SwitchingRouter, TaskSet
from framework.runtime.coordination.cut_record import CutRecord, CutState, Purpose
from framework.runtime.coordination.route_switch import RouteSwitch, Switched
from framework.runtime.coordination.scale_record import ScaleRecord
from tests.framework.runtime.handing_over import chain
from tests.framework.runtime.pieces import plan_of
from viper.arena import Arena
from viper.jumbo import Emission
from viper.payload import Rows
from viper.position import END, LEAST, Position, Positions

CUT_US = 20


class Decided:
    """A reconfiguration of the bolt after another one, which is decided."""

    def __init__(self) -> None:
        self.plan, _ = plan_of(chain(), control=".", changes=[])
        arena = Arena.private(100_000)
        self.scales = ScaleRecord.create(arena, self.plan)
        self.cut = CutRecord.create(arena, self.plan)
        self.scales.propose("second", TaskSet.first(3))
        times = {part: CUT_US for part in self.plan.aligned_sources}
        self.cut.propose(0, times, Purpose.RECONFIGURATION)
        self.cut.decide()

    def tasks(self, component: str) -> list[int]:
        return [task.id for task in self.plan.tasks_of(component)]


def test_it_waits_for_every_task_that_hands_over() -> None:
    run = Decided()
    assert list(run.scales.changing()) == ["second"]
    for task in run.tasks("second"):
        assert not run.scales.has_taken_over(1)
        run.scales.hand_over(task, 1)
        run.scales.take_over(task, 1)
    assert run.scales.has_taken_over(1) and not run.scales.has_taken_over(2)


def test_it_waits_for_every_producer_that_may_repeat_what_lies_before_the_cut() -> None:
    run = Decided()
    place = Position(CUT_US + 1, 0, 0)
    below, last = Position(CUT_US, 2**64 - 1, 0), Position(CUT_US, 2**64 - 1, 2**64 - 1)
    producers = run.tasks("first")
    for number, task in enumerate(producers):
        switch = RouteSwitch(run.cut, run.scales, task, ())
        switch.committed(below)
        assert not run.scales.is_divided_anew(1)
        # To have told its consumers of all that may come before the cut is enough, and so is to have ended.
        switch.committed((place, last, END)[number % 3])
    assert run.scales.is_divided_anew(1)


def test_a_producer_that_has_ended_waits_for_no_later_one() -> None:
    run = Decided()
    for task in run.tasks("first"):
        RouteSwitch(run.cut, run.scales, task, ()).committed(END)
    run.cut.make_void()
    run.scales.want("second", TaskSet.first(3))
    run.scales.propose("second", TaskSet.first(1))
    run.cut.propose(0, {part: 2 * CUT_US for part in run.plan.aligned_sources}, Purpose.RECONFIGURATION)
    run.cut.decide()
    assert run.cut.attempt == 2 and run.scales.is_divided_anew(2)


def test_a_proposal_that_is_void_or_open_is_nothing_to_wait_behind() -> None:
    run = Decided()
    run.cut.make_void()
    switch = RouteSwitch(run.cut, run.scales, run.tasks("first")[0], ())
    switch.committed(LEAST)
    switch.committed(Position(10 * CUT_US, 0, 0))
    assert run.cut.state is CutState.VOID and not run.scales.is_divided_anew(1)


class Counted:
    """Gives for each row how many tasks there are."""

    def __init__(self, tasks: TaskSet) -> None:
        self._tasks = len(tasks)

    def targets(self, rows: Sequence[Any]) -> list[int]:
        return [self._tasks] * len(rows)

    def targets_of_columns(self, columns: Sequence[Any], count: int) -> None:
        return None


def test_of_several_streams_each_is_divided_anew_from_its_own_first_row_behind_the_cut() -> None:
    run, rows = Decided(), [(number,) for number in range(6)]
    routers = [SwitchingRouter(Counted, TaskSet.first(2)) for _ in range(2)]
    switched = [Switched(tag, "second", router) for tag, router in enumerate(routers)]
    positions = Positions()
    for number in range(len(rows)):
        positions.append(Position(CUT_US - 3 + number, 0, 0))
    tags = [0, 1, 1, 1, 0, 1]
    switch = RouteSwitch(run.cut, run.scales, run.tasks("first")[0], switched)
    switch.look(Emission(Rows(rows), array("H", tags).tobytes(), positions))
    assert [router.targets(rows[: tags.count(tag)]) for tag, router in enumerate(routers)] == [
        [2, 3],
        [2, 2, 2, 3],
    ]
    switch.settle()
    assert all(router.targets(rows) == [3] * len(rows) for router in routers)
