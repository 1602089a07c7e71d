"""Logs that are full, and successors that find something in theirs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.viper.transactions.programs import ACCOUNTS, PLACES, SPECS
from tests.viper.transactions.world import HOLDER, Fed, Member, World, one_task
from viper.errors import DivergedError, LogFullError, ResultLostError
from viper.position import END, Position, Positions
from viper.transactions.group import LogSpec, Outcome
from viper.transactions.recorder import Abort, Recorder


def adds(recorder: Recorder, tup: Any) -> None:
    """As many transactions, of as many operations each, as the tuple says."""
    transactions, operations = tup.values
    for _ in range(transactions):
        with recorder.begin(tup) as t:
            for _ in range(operations):
                t.add(ACCOUNTS, 1, 1)


class TestFullLogs:
    def test_what_has_no_room_waits(self) -> None:
        world = one_task(SPECS, adds, [(1, 100)] * 20, log_bytes=4096)
        world.tables[0].put(1, 0)
        member = world.members[0]
        assert member.recorder.has_room()
        member.feed(20)
        assert not member.recorder.has_room()
        assert not member.recorder.publish()
        rounds = 0
        while not member.is_done:
            world.evaluate(member)
            # Nothing that still waits counts as collected, though the task has said so.
            assert member.call_back() == 2
            member.release()
            member.tell()
            rounds += 1
        assert (rounds, member.recorder.has_room()) == (10, True)
        assert list(world.tables[0].rows()) == [(1, 2000)]

    def test_room_comes_with_release_only(self) -> None:
        world = one_task(SPECS, adds, [(1, 100)] * 4, log_bytes=4096)
        member = world.members[0]
        member.feed(4)
        world.evaluate(member)
        assert member.call_back() == 2
        assert not member.tell()
        assert member.recorder.evaluated_inputs() == 0
        member.release()
        assert member.tell()
        world.evaluate(member)
        assert member.call_back() == 2

    def test_while_recording_nothing_moves(self) -> None:
        world = one_task(SPECS, adds, [(1, 100)] * 4, log_bytes=4096)
        member = world.members[0]
        member.feed(4)
        world.evaluate(member)
        member.call_back()
        member.release()
        member.recorder.start()
        assert list(member.inbox.load([])) == []
        assert not member.recorder.publish()
        member.recorder.place(Positions(), 0)
        assert member.recorder.publish()

    def test_a_tuple_that_wants_more_than_the_log_has(self) -> None:
        world = one_task(SPECS, adds, [(1, 1), (3, 100)], log_bytes=4096)
        world.tables[0].put(1, 0)
        member = world.members[0]
        member.feed(2)
        world.evaluate(member)
        assert member.call_back() == 1
        member.release()
        with pytest.raises(LogFullError, match=r"position \(1, 0, 0\) take more than the 4096 bytes"):
            member.tell()

    def test_late_transactions_wait_for_room_all_the_same(self) -> None:
        world = World(SPECS, log_bytes=4096)
        world.tables[0].put(1, 0)
        late = [Fed(Position(5, 0, 0), (1, 100)) for _ in range(4)]
        member = world.add(adds, late)
        member.recorder.collected((9, 0, 0))
        world.evaluate(member)
        member.feed(4)
        for _ in range(2):
            world.evaluate(member)
            assert member.call_back() == 2
            member.release()
            member.recorder.publish()
        assert (world.group.counts().late, list(world.tables[0].rows())) == (4, [(1, 400)])

    def test_has_room_asks_for_a_quarter(self) -> None:
        world = one_task(SPECS, adds, [(1, 61)] * 4, log_bytes=4096)  # of 1,024 bytes
        member = world.members[0]
        rooms = []
        for _ in range(4):
            rooms.append(member.recorder.has_room())
            member.feed(1)
        assert [*rooms, member.recorder.has_room(), member.recorder.publish()] == [True] * 4 + [False, True]


def places(recorder: Recorder, tup: Any) -> None:
    """Transactions that the tuple's values say: each the amounts that it adds."""
    for amounts in tup.values:
        with recorder.begin(tup) as t:
            for amount in amounts:
                t.add(PLACES.n, "a", amount)
            t.require(t.read(PLACES.n, "a") < 100, "enough")


class TestSuccessors:
    FIRST = [([1], [2]), ([3],), (), ([4, 5],)]

    def killed(self, then: list[Any], evaluates: bool = True) -> tuple[World, Member]:
        """A task killed when all was published; its successor's process says something else, maybe."""
        world = one_task(SPECS, places, self.FIRST)
        member = world.members[0]
        member.feed(len(self.FIRST))
        if evaluates:
            world.evaluate(member)
        member.tuples = [Fed(Position(index, 0, 0), values) for index, values in enumerate(then)]
        member.begin(0)
        return world, member

    @pytest.mark.parametrize("evaluates", [False, True])
    def test_the_same_is_not_done_again(self, evaluates: bool) -> None:
        world, member = self.killed(self.FIRST, evaluates)
        pending = member.recorder.pending
        assert member.recorder.is_replaying
        assert (pending > 0, member.recorder.head) == (True, 0)
        member.feed(2)
        assert 0 < member.recorder.pending < pending
        assert member.call_back() == (2 if evaluates else 0)
        assert member.recorder.in_flight == (0 if evaluates else 2)
        world.settle()
        assert not member.recorder.is_replaying
        assert [[result.values for result in one.results] for one in member.tuples] == [
            [(4,), (6,)],
            [(9,)],
            [],
            [(18,)],
        ]
        assert world.group.counts().transactions == 4

    def test_what_was_released_is_not_there_again(self) -> None:
        world = one_task(SPECS, places, self.FIRST)
        member = world.members[0]
        member.feed(4)
        world.evaluate(member)
        member.call_back(2)
        member.release()
        member.call_back(1)
        member.begin(member.released)
        member.feed(2)
        assert [len(one.results) for one in member.tuples] == [2, 1, 0, 0]
        assert member.call_back() == 2
        assert member.tuples[3].results[0].values == (18,)

    def test_it_goes_on_where_the_log_ends(self) -> None:
        world, member = self.killed([*self.FIRST, ([6],)])
        world.settle()
        assert member.tuples[4].results[0].values == (24,)

    def test_reset_to_head_is_a_successor_in_place(self) -> None:
        world = one_task(SPECS, places, self.FIRST)
        member = world.members[0]
        member.feed(3)
        world.evaluate(member)
        member.call_back(1)
        member.release()
        member.recorder.reset_to_head()
        member.fed = member.called = member.released = 1
        assert (member.recorder.is_replaying, member.recorder.in_flight) == (True, 0)
        world.settle()
        assert [[result.values for result in one.results] for one in member.tuples] == [
            [(4,), (6,)],
            [(9,)],
            [],
            [(18,)],
        ]

    def test_reasons_are_known_again(self) -> None:
        world = one_task(SPECS, places, [([200], [1]), ([300],)])
        member = world.members[0]
        member.feed(2)
        world.evaluate(member)
        member.begin(0)
        world.settle()
        assert [[result.aborted for result in one.results] for one in member.tuples] == [
            ["enough", None],
            ["enough"],
        ]

    @pytest.mark.parametrize(
        ("then", "message"),
        [
            (
                [([1], [7])],
                r"\(0, 0, 0\).*number 2 of them differs from its operation 1 on \(3 operations then, 3 ",
            ),
            (
                [([1], [2, 2])],
                r"number 2 of them differs from its operation 2 on \(3 operations then, 4 now\)",
            ),
            ([([1],)], r"\(0, 0, 0\).*one of them is missing"),
            ([([1], [2]), ()], r"\(1, 0, 0\).*one of them is missing"),
            ([([1], [2]), (), ([3],)], r"\(1, 0, 0\).*one of them is missing"),
            ([([1], [2], [3])], r"\(0, 0, 0\).*number 3 of them is new"),
            ([([1], [2]), ([3],), ([4],)], r"\(2, 0, 0\).*number 1 of them is new"),
        ],
    )
    def test_another_process_is_told(self, then: list[Any], message: str) -> None:
        _, member = self.killed(then)
        with pytest.raises(DivergedError, match=message):
            member.feed(len(then))

    def test_a_function_where_operations_were(self) -> None:
        _, member = self.killed(self.FIRST)
        member.process = lambda recorder, tup: recorder.alone(tup, lambda view: None)
        with pytest.raises(DivergedError, match="a function is to run alone where operations were said"):
            member.feed(1)

    def test_equal_positions_are_told_apart_by_their_ordinals(self) -> None:
        world = World(SPECS)
        tuples = [Fed(Position(5, 0, 0), values) for values in (([1], [2]), ([3],), ([4],))]
        member = world.add(places, tuples)
        member.feed(3)
        world.evaluate(member)
        member.begin(0)
        member.feed(1)
        member.feed(2)
        assert member.call_back() == 3
        assert [[result.values for result in one.results] for one in member.tuples] == [
            [(4,), (6,)],
            [(9,)],
            [(13,)],
        ]


class Waiting:
    """Functions that run alone, and what they saw."""

    def __init__(self, value: Any = "value") -> None:
        self.seen: list[Any] = []
        self.value = value

    def __call__(self, recorder: Recorder, tup: Any) -> None:
        amount = tup.values[0]
        with recorder.begin(tup) as t:
            t.add(PLACES.n, "a", amount)
        recorder.alone(tup, self.run)
        with recorder.begin(tup) as t:
            t.read(PLACES.n, "a")

    def run(self, view: Any) -> Any:
        self.seen.append(view.read(PLACES.n, "a"))
        view.set(PLACES.n, "a", 1000)
        view.put(ACCOUNTS, 5, balance=7)
        if self.value is Abort:
            raise Abort("not today")
        if self.value is KeyError:
            raise KeyError("lost")
        return self.value


class TestAlone:
    def test_it_runs_at_its_place(self) -> None:
        waiting = Waiting()
        world = one_task(SPECS, waiting, [(1,), (2,)])
        world.settle()
        results = [one.results for one in world.members[0].tuples]
        assert waiting.seen == [4, 1002]
        assert [[result.values for result in of] for of in results] == [[(), ("value",), (1000,)]] * 2
        assert list(world.tables[0].rows()) == [(5, 7)]

    def test_an_abort_leaves_no_trace(self) -> None:
        waiting = Waiting(Abort)
        world = one_task(SPECS, waiting, [(1,), (2,)])
        world.settle()
        results = [one.results for one in world.members[0].tuples]
        assert waiting.seen == [4, 6]
        assert [of[1].aborted for of in results] == ["not today"] * 2
        assert [(of[1].values, of[2].values) for of in results] == [((), (4,)), ((), (6,))]
        assert list(world.tables[0].rows()) == []

    def test_what_it_raises_goes_through(self) -> None:
        waiting = Waiting(KeyError)
        world = one_task(SPECS, waiting, [(1,)])
        member = world.members[0]
        member.feed(1)
        with pytest.raises(KeyError, match="lost"):
            world.evaluate(member)
        world.evaluate(member)
        assert member.call_back() == 1
        assert [result.aborted for result in member.tuples[0].results] == [None, "KeyError: 'lost'", None]
        assert member.tuples[0].results[2].values == (4,)

    def test_a_value_that_cannot_be_kept_is_none(self) -> None:
        world = one_task(SPECS, Waiting(lambda: None), [(1,)])
        world.settle()
        aborted = world.members[0].tuples[0].results[1].aborted
        assert aborted is not None
        assert aborted.startswith("its value cannot be kept: ")
        assert list(world.tables[0].rows()) == []

    def test_others_wait_for_the_task_whose_function_it_is(self) -> None:
        world = World(SPECS, [LogSpec(0, 0), LogSpec(1, 1)])
        waiting = Waiting()
        mine = world.add(waiting, [Fed(Position(1, 0, 0), (1,))])
        other = world.add(places, [Fed(Position(2, 0, 0), ([1],))])
        other.feed(1)
        mine.feed(1)
        assert world.group.evaluate(HOLDER, other.number) == (Outcome.WAITS_ALONE, mine.number)
        assert world.group.evaluate(HOLDER, other.number) == (Outcome.NOTHING, None)
        assert other.call_back() == 0
        with pytest.raises(RuntimeError, match="no function of this task's"):
            other.recorder.run_alone()
        assert world.group.evaluate(HOLDER, mine.number) == (Outcome.WAITS_ALONE, mine.number)
        mine.recorder.run_alone()
        world.settle()
        assert other.tuples[0].results[0].aborted == "enough"

    def test_a_function_is_asked_for(self) -> None:
        world = one_task(SPECS, lambda recorder, tup: recorder.alone(tup, 5), [(1,)])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="the tuple in process, and a function"):
            world.members[0].feed(1)

    @pytest.mark.parametrize("value", ["value", Abort, ("x" * 400, 5)])
    def test_a_successor_has_what_it_returned(self, value: Any) -> None:
        waiting = Waiting(value)
        world = one_task(SPECS, waiting, [(1,), (2,)])
        member = world.members[0]
        member.feed(2)
        world.evaluate(member)
        member.begin(0)
        world.settle()
        results = [one.results[1] for one in member.tuples]
        assert len(waiting.seen) == 2
        wanted = ((), "not today") if value is Abort else ((value,), None)
        assert [(result.values, result.aborted) for result in results] == [wanted] * 2

    def test_a_successor_runs_what_has_not_run(self) -> None:
        waiting = Waiting()
        world = one_task(SPECS, waiting, [(1,), (2,)])
        member = world.members[0]
        member.feed(2)
        assert world.group.evaluate(HOLDER, 0) == (Outcome.WAITS_ALONE, 0)
        assert world.group.bury(HOLDER)
        member.begin(0)
        world.evaluate(member)
        assert waiting.seen == []
        world.settle()
        assert waiting.seen == [4, 1002]

    @pytest.mark.parametrize("at_once", [1, 2])
    def test_a_successor_runs_what_it_has_though_more_was_told(self, at_once: int) -> None:
        waiting = Waiting()
        world = World(SPECS, [LogSpec(0, 0), LogSpec(1, 1)])
        mine = world.add(waiting, [Fed(Position(index, 0, 0), (1,)) for index in range(5)])
        other = world.add(places, [Fed(Position(index, 0, 0), ([1],)) for index in range(5)])
        other.feed(5)
        mine.feed(5)
        world.evaluate(other)
        mine.begin(0)
        world.settle(at_once)
        assert waiting.seen == [4, 1001, 1001, 1001, 1001]
        assert [one.results[0].aborted for one in other.tuples] == ["enough"] * 5

    def test_a_successor_does_not_run_what_it_was_not_given(self) -> None:
        waiting = Waiting()
        world = one_task(SPECS, waiting, [(1,), (2,)])
        member = world.members[0]
        assert member.recorder.may_run_alone
        member.feed(2)
        world.group.evaluate(HOLDER, None)
        member.begin(0)
        assert not member.recorder.may_run_alone
        member.feed(1)
        assert (member.recorder.is_replaying, member.recorder.may_run_alone) == (True, True)
        world.evaluate(member)
        assert waiting.seen == [4]
        assert (member.recorder.is_replaying, member.recorder.may_run_alone) == (True, False)
        with pytest.raises(RuntimeError, match="no function of this task's"):
            member.recorder.run_alone()

    def test_what_was_too_large_is_lost_with_its_process(self) -> None:
        waiting = Waiting("x" * 600)
        world = one_task(SPECS, waiting, [(1,)])
        member = world.members[0]
        member.feed(1)
        world.evaluate(member)
        member.begin(0)
        member.feed(1)
        with pytest.raises(ResultLostError, match=r"position \(0, 0, 0\) is lost.*more than 504 bytes"):
            member.call_back()

    def test_many_functions_are_let_go(self) -> None:
        world = one_task(SPECS, Waiting(), [(index,) for index in range(50)])
        member = world.members[0]
        for _ in range(50):
            member.feed(1)
            world.evaluate(member)
            assert member.call_back() == 1
            member.release()
        assert len(member.tuples[49].results) == 3
        member.recorder.collected(END)
