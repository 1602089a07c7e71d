"""The sources of a run agree on a time ahead of them, and bolts save themselves there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from framework.runtime.coordination import cut_leader
from framework.runtime.coordination.cut_leader import CutInterruptedError, CutLeader
from framework.runtime.coordination.cut_record import NO_PROPOSAL, CutRecord, CutState, Proposal, Purpose
from framework.runtime.coordination.source_cut import SourceCut
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.order.positions.ticks import EventTicks
from framework.runtime.tasks.agenda import Agenda, EventTimeTicks, Frontier
from framework.runtime.tasks.bolt_cut import BoltCut
from tests.framework.runtime.durability.checkpoints.suspended import built
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of
from viper.arena import Arena
from viper.partitions import NO_LIMIT
from viper.position import END, LEAST, Position


class Run:
    """The registers of a run with some sources, and what its tasks do with them."""

    def __init__(self, sources: int) -> None:
        self.plan, _ = plan_of(built(Partitions(), sources, 1))
        self.record = CutRecord.create(Arena.private(10_000), self.plan)
        self.tasks = [task.id for task in self.plan.tasks_of("source")]
        self.sources = [SourceCut(self.record, task) for task in self.tasks]
        (clock,) = self.plan.tasks_of("clock")
        self.bolt = BoltCut(self.record, clock.id)
        self.saved: list[Proposal] = []
        self.bolt.call_there(self._save)

    def _save(self, proposal: Proposal) -> bool:
        self.saved.append(proposal)
        return True

    def propose(self, time_us: int, number: int = 1) -> None:
        self.record.propose(number, {part: time_us for part in self.plan.aligned_sources})

    def leader(self) -> CutLeader:
        return CutLeader(self.plan, self.record, lambda: None)


def test_a_source_that_has_accepted_waits_at_the_time_until_it_is_decided() -> None:
    run = Run(2)
    first, second = run.sources
    first.look(3)
    assert not first.has_news and first.until_us == NO_LIMIT
    run.propose(10)
    assert first.has_news
    first.look(10)
    assert first.until_us == 10 and not first.has_news
    at_the_time, behind = Position(10, 0, 0), Position(11, 0, 0)
    assert first.passed(at_the_time, behind, waits=False) is None and first.stands(1.0)
    second.look(4)
    run.record.decide()
    first.look(10)
    assert not first.stands(2.0) and first.stood_since_s == 1.0
    assert first.passed(at_the_time, Position(10, 1, 0), waits=False) is None  # a row of that time may come
    assert first.passed(at_the_time, behind, waits=False) == Proposal(1, CutState.DECIDED, 1, 10)
    assert first.until_us == NO_LIMIT and run.record.has_passed(run.tasks[0])
    assert first.passed(at_the_time, behind, waits=False) is None  # once
    assert not run.record.has_passed(run.tasks[1])


def test_a_source_that_is_ahead_goes_on_and_so_do_all_when_it_is_void() -> None:
    run = Run(2)
    first, second = run.sources
    run.propose(10)
    first.look(11)
    second.look(2)
    assert (first.until_us, second.until_us) == (NO_LIMIT, 10)
    assert [run.record.answer_of(task) for task in run.tasks] == [11, 2]
    run.record.make_void()
    second.look(10)
    assert second.until_us == NO_LIMIT
    run.propose(20)
    assert [run.record.answer_of(task) for task in run.tasks] == [None, None]
    second.look(10)
    assert second.until_us == 20


def test_who_takes_the_place_of_another_is_as_far_as_that_has_told() -> None:
    run = Run(1)
    (source,) = run.sources
    source.go_on_behind(Position(30, 0, 0))
    run.propose(20)
    source.look(LEAST.ts)
    assert source.until_us == NO_LIMIT and run.record.answer_of(run.tasks[0]) == 30


def test_one_that_stands_still_and_meets_no_other_sets_the_cut_where_it_is() -> None:
    last, behind = Position(9, 2, 0), Position(9, 2**63 + 1, 2**64 - 1)
    for sources in (1, 2):
        run = Run(sources)
        run.propose(50)
        for source in run.sources:
            source.look(9)
        run.record.decide()
        run.sources[0].look(9)
        assert run.sources[0].passed(behind, behind, waits=True) is None  # what it may bring is not above
        run.bolt.look()
        assert not run.bolt.is_due_before(behind)
        passed = run.sources[0].passed(last, behind, waits=True)
        assert (passed is not None) == (sources == 1)
        assert run.bolt.has_come_to(behind) == (sources == 1)
        if sources == 1:
            there = Frontier(behind, behind.ts, is_over=False)
            assert run.bolt.frontier(there)[:2] == (behind, 9) and run.record.last_us(run.tasks[0]) == 9


def test_one_that_takes_the_place_of_another_sets_it_nowhere_below_what_that_has_brought() -> None:
    run = Run(1)
    (source,) = run.sources
    last, behind, told = Position(9, 2, 0), Position(9, 3, 0), Position(12, 1, 0)
    source.go_on_behind(told)
    run.propose(50)
    source.look(9)
    run.record.decide()
    source.look(9)
    assert source.passed(last, behind, waits=True) is None
    assert source.passed(Position(12, 0, 0), told, waits=True) is not None


@pytest.mark.parametrize("purpose", Purpose)
def test_a_final_cut_that_is_decided_binds_who_takes_the_place_of_another(purpose: Purpose) -> None:
    run = Run(2)
    run.record.propose(0, {part: 50 for part in run.plan.aligned_sources}, purpose)
    for source in run.sources:
        source.look(9)
    run.record.decide()
    successors = [SourceCut(run.record, task) for task in run.tasks]
    run.sources[1].look(9)
    run.sources[1].passed(Position(50, 0, 0), Position(51, 0, 0), waits=False)
    for successor in successors:
        successor.look(9)
    is_bound = [successor.until_us == 50 for successor in successors]
    drains = purpose is Purpose.DRAIN
    assert is_bound == [drains or purpose is Purpose.RECONFIGURATION, drains]  # the second one has been there
    assert [successor.is_there for successor in successors] == [False, drains]


def test_a_bolt_is_saved_once_at_a_decided_cut() -> None:
    run = Run(2)
    at_the_cut = Position(11, 0, 0)
    run.propose(10)
    run.bolt.look()
    assert not run.bolt.is_due_before(at_the_cut)
    run.record.decide()
    run.bolt.look()
    assert run.bolt.is_due_before(at_the_cut) and not run.bolt.is_due_before(Position(10, 2**64 - 1, 0))
    assert run.bolt.frontier(Frontier(at_the_cut, at_the_cut.ts, is_over=False))[:2] == (at_the_cut, 10)
    run.bolt.come()
    assert run.bolt.is_there and run.bolt.passes() and not run.bolt.is_there
    assert run.saved == [Proposal(1, CutState.DECIDED, 1, 10)]
    run.bolt.look()
    assert not run.bolt.is_due_before(at_the_cut)
    run.record.make_void()
    assert run.record.read(run.tasks[0])[1] == NO_PROPOSAL
    run.propose(20, 2)
    run.record.decide()
    assert run.bolt.has_come_to(Position(21, 0, 0))


@pytest.mark.parametrize("reached", [Position(LAST.ts + 1, 0, 0), END])
def test_no_tick_is_due_where_all_input_has_ended_before_the_cut(reached: Position) -> None:
    run = Run(2)
    run.propose(100)
    run.record.decide()
    done: list[Position | None] = []
    ticks = EventTimeTicks(
        EventTicks(1e-5, 1000), done.append, has_producers=True, last_time_us=lambda: 25
    )
    agenda = Agenda([ticks])
    assert list(agenda.take_before(Position(1, 0, 0))) == []  # event time begins
    assert run.bolt.has_come_to(reached)
    there = Frontier(reached, 25, is_over=reached == END)
    for entry in agenda.take_until(run.bolt.frontier(there)):
        entry.run(entry.at)
    assert done == [Position(10, 0, 0), Position(20, 0, 0)]
    assert run.bolt.promised(there) == Position(25, 2**64 - 1, 2**64 - 1)


def test_consumers_hear_of_no_time_at_which_something_may_be_due_behind_the_cut() -> None:
    run = Run(2)
    run.propose(100)
    run.record.decide()
    reached = Position(200, 0, 0)
    assert run.bolt.has_come_to(reached)
    there = Frontier(reached, reached.ts, is_over=False)
    assert run.bolt.promised(there) == Position(100, 2**64 - 1, 2**64 - 1)


def test_a_bolt_stands_at_the_cut_until_it_may_go_on() -> None:
    run = Run(2)
    run.propose(10)
    run.record.decide()
    assert run.bolt.has_come_to(Position(11, 0, 0))
    asked: list[Proposal] = []

    def at_cut(proposal: Proposal) -> bool:
        asked.append(proposal)
        return len(asked) > 1

    run.bolt.call_there(at_cut)
    run.bolt.come()
    run.record.make_void()  # which changes nothing for who stands there
    assert not run.bolt.has_come_to(END)
    assert not run.bolt.passes() and run.bolt.is_there
    assert run.bolt.passes() and not run.bolt.is_there
    assert asked == [Proposal(1, CutState.DECIDED, 1, 10)] * 2


def test_the_leader_proposes_later_times_until_nobody_is_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_leader, "SAMPLE_S", 0.0)
    run = Run(2)
    leader = run.leader()
    told = iter((100, 200, 200))
    proposed: list[int] = []

    def wait(tasks: Sequence[int], hint: str) -> None:
        assert list(tasks) == run.tasks
        proposed.append(run.record.time_us(run.tasks[0]))
        run.sources[0].look(next(told))
        run.sources[1].look(7)

    assert leader.agree(1, wait) == 3 and leader.voids == 2
    assert proposed[:2] == [LEAST.ts + 1, 101] and proposed[2] > 200
    assert run.record.is_decided_on(3)
    leader.give_up()
    assert not run.record.is_decided_on(3)


def test_a_death_makes_it_void_and_nobody_decides_over_that() -> None:
    run = Run(2)
    leader = run.leader()

    def die(tasks: Sequence[int], hint: str) -> None:
        for source in run.sources:
            source.look(0)
        leader.interrupt()

    with pytest.raises(CutInterruptedError):
        leader.agree(1, die)
    assert run.record.read(run.tasks[0])[1] == NO_PROPOSAL
    with pytest.raises(CutInterruptedError):
        leader.check()


def test_a_source_that_has_ended_beyond_the_time_makes_it_void(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(2)
    leader = run.leader()
    told: list[int] = []

    def end(tasks: Sequence[int], hint: str) -> None:
        told.append(run.record.time_us(run.tasks[0]))
        run.record.end(run.tasks[0], 500)
        run.sources[1].look(0)

    assert leader.agree(1, end) == 2
    assert told[0] < 500 < run.record.time_us(run.tasks[1])
    assert leader.last_us(run.tasks[0]) == 500
