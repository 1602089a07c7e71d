"""The calls of a bolt, case by case: methods, expressions, results, and the rhythm of a recorder."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from tests.viper.transactions.programs import ACCOUNTS, PAIRS, PLACES, SPECS
from tests.viper.transactions.world import Member, World, one_task, results_of
from viper.position import Position, Positions
from viper.transactions.recorder import Recorder, Result


def say(what: Any) -> Any:
    """A process that opens one block for each tuple."""

    def process(recorder: Recorder, tup: Any) -> None:
        with recorder.begin(tup) as t:
            what(t, *tup.values)

    return process


def result_of(what: Any) -> Result:
    (result,) = results_of(SPECS, say(what))
    return result


class TestResults:
    def test_a_transfer(self) -> None:
        def transfer(t: Any, source: int, target: int, amount: int) -> None:
            balance = t.read(ACCOUNTS, source)
            t.require(balance >= amount, "not enough money")
            t.subtract(ACCOUNTS, source, amount)
            t.add(ACCOUNTS.balance, target, amount)

        world = one_task(SPECS, say(transfer), [(0, 1, 30), (1, 1, 5), (0, 1, 71), (5, 0, 1)])
        world.tables[0].load([(0, 100), (1, 0)])
        world.settle()
        results = [one.results[0] for one in world.members[0].tuples]
        assert [bool(result) for result in results] == [True, True, False, False]
        assert [result.values for result in results] == [(100,), (30,), (), ()]
        assert [result.aborted for result in results] == [
            None,
            None,
            "not enough money",
            "no row 5 in accounts",
        ]
        assert list(world.tables[0].rows()) == [(0, 70), (1, 30)]
        assert repr(results[0]) == "<result: (100,)>"
        assert repr(results[2]) == "<result: aborted, not enough money>"

    def test_many_rows_in_one_call(self) -> None:
        kept: dict[str, Any] = {}

        def what(t: Any) -> None:
            t.set_each(ACCOUNTS, [7, 8, 7], (30, 40, 31))
            kept["each"] = t.read_each(ACCOUNTS.balance, (8, 7))
            t.set(ACCOUNTS, 9, kept["each"][0] + kept["each"][1])
            t.set_each(ACCOUNTS, (8, 9), [kept["each"][1], t.read(ACCOUNTS, 9) - 1])
            kept["then"] = t.read_each(ACCOUNTS, [8, 9])
            kept["none"] = t.read_each(ACCOUNTS, [])
            t.set_each(ACCOUNTS, (), [])
            t.add_each(ACCOUNTS, [8, 9, 8], [1, 2, 3])
            t.read(ACCOUNTS, 8)

        result = result_of(what)
        assert result.values == (40, 31, 71, 31, 70, 35)
        assert [result[handle] for handle in kept["each"] + kept["then"]] == [40, 31, 31, 70]
        assert kept["none"] == ()

    def test_values_by_handle_and_by_place(self) -> None:
        kept: dict[str, Any] = {}

        def what(t: Any) -> None:
            kept["n"] = t.read(PLACES.n, "a")
            kept["half"] = t.read(PLACES.x, "a") * 3
            kept["new"] = t.insert(PLACES.cars, "a", 5)
            kept["is more"] = kept["n"] > 2
            kept["float"] = t.float(kept["n"])

        result = result_of(what)
        assert result.values == (3, 0.5, 1)
        assert [type(value) for value in result.values] == [int, float, int]
        found = [result[kept[name]] for name in ("n", "half", "new", "is more", "float")]
        assert repr(found) == "[3, 1.5, 1, True, 3.0]"
        assert (result[0], result[-1], len(result)) == (3, 1, 3)
        with pytest.raises(IndexError, match="has 3 values; there is no index 3"):
            result[3]
        with pytest.raises(TypeError, match="by its handle or its index; found 'n'"):
            result["n"]  # type: ignore[index]

    def test_an_aborted_one_has_no_values(self) -> None:
        kept: list[Any] = []

        def what(t: Any) -> None:
            kept.append(t.read(PLACES.n, "a"))
            t.require(kept[0] > 5)

        result = result_of(what)
        assert (result.values, len(result), result.aborted) == ((), 0, "condition 1")
        with pytest.raises(LookupError, match=r"was aborted \(condition 1\), and has no values"):
            result[kept[0]]
        with pytest.raises(IndexError, match=r"was aborted \(condition 1\)"):
            result[0]

    def test_a_handle_of_a_longer_program_is_refused(self) -> None:
        kept: list[Any] = []

        def what(t: Any, count: int) -> None:
            kept[:] = [t.read(PLACES.n, "a") for _ in range(count)]

        short, _ = results_of(SPECS, say(what), [(1,), (2,)])
        assert short[kept[0]] == 3
        with pytest.raises(LookupError, match="the handle is of another one"):
            short[kept[1]]

    @pytest.mark.parametrize(
        ("what", "reason"),
        [
            (lambda t: t.read(ACCOUNTS, 17), "no row 17 in accounts"),
            (lambda t: t.add(PAIRS.a, (1, "b"), 1), "no row (1, 'b') in pairs"),
            (lambda t: t.add(PLACES.n, "a", 2**63 - 1), "overflow"),
            (lambda t: t.add(PLACES.n, "a", t.read(PLACES.n, "a") // 0), "overflow"),
            (lambda t: t.read(PLACES.x, "a") / 0, "overflow"),
            (lambda t: t.require(False), "condition 1"),
            (lambda t: t.require(False, "never"), "never"),
            (lambda t: [t.require(True), t.require(t.read(PLACES.n, "a") == 4)], "condition 2"),
            (
                lambda t: [t.require(t.read(PLACES.n, "a") == 3, "a"), t.require(t.exists(PLACES, "a"), "b")],
                "b",
            ),
        ],
    )
    def test_reasons(self, what: Any, reason: str) -> None:
        assert result_of(what).aborted == reason

    def test_reasons_of_several_transactions_are_told_apart(self) -> None:
        def process(recorder: Recorder, tup: Any) -> None:
            for number in range(3):
                with recorder.begin(tup) as t:
                    n = t.read(PLACES.n, "a")
                    t.require(n == 3, f"first of {number}")
                    t.require(n == tup.values[0], f"second of {number}")

        results = results_of(SPECS, process, [(3,), (4,), (3,), (5,)])
        wanted = [None] * 3 + [f"second of {number}" for number in range(3)]
        assert [result.aborted for result in results] == wanted * 2

    def test_what_is_known_before_needs_no_result(self) -> None:
        assert result_of(lambda t: [t.require(True), t.require(True, "why")]).values == ()

    def test_a_condition_with_a_name_has_a_result_all_the_same(self) -> None:
        kept: list[Any] = []

        def what(t: Any) -> None:
            is_more = t.read(PLACES.n, "a") > 2
            t.require(is_more)
            t.add(PLACES.n, "a", is_more)
            kept.append(is_more)
            kept.append(t.read(PLACES.n, "a"))

        result = result_of(what)
        assert (result[kept[0]], result[kept[1]], result.values) == (True, 4, (3, 4))

    def test_least_and_greatest_of_numbers(self) -> None:
        kept: list[Any] = []

        def what(t: Any) -> None:
            n = t.read(PLACES.n, "a")
            kept.extend([t.least(2, 1.5), t.greatest(2, 1.5), t.float(7)])
            kept.extend([t.least(n, 2), t.greatest(2, n), t.least(n, 2.5)])

        result = result_of(what)
        assert kept[:3] == [1.5, 2, 7.0]
        assert [result[handle] for handle in kept[3:]] == [2, 3, 2.5]

    def test_numbers_of_other_classes_are_taken(self) -> None:
        numpy = pytest.importorskip("numpy")

        def what(t: Any) -> None:
            t.set(ACCOUNTS, numpy.int64(5), numpy.int32(7))
            t.read(ACCOUNTS, 5)
            t.set(PLACES.x, "a", numpy.float64(0.25))
            t.read(PLACES.x, "a")
            t.insert(PLACES.cars, "a", numpy.int64(1))
            t.has(PLACES.cars, "a", 1)

        assert result_of(what).values == (7, 0.25, 1, 1)

    def test_numpy_leaves_operators_to_handles(self) -> None:
        numpy = pytest.importorskip("numpy")
        kept: list[Any] = []

        def what(t: Any) -> None:
            n = t.read(PLACES.n, "a")
            t.require(numpy.int64(2) < n)
            kept.extend([numpy.int64(10) - n, numpy.float64(0.5) * n])

        result = result_of(what)
        assert repr([result[handle] for handle in kept]) == "[7, 1.5]"


class TestBlocks:
    def test_a_block_left_by_an_exception_is_dropped(self) -> None:
        def process(recorder: Recorder, tup: Any) -> None:
            for fails in (True, False, True):
                try:
                    with recorder.begin(tup) as t:
                        t.add(PLACES.n, "a", 1)
                        t.require(True, "reason")
                        t.require(t.read(PLACES.n, "a") > 0, "reason")
                        if fails:
                            raise KeyError
                except KeyError:
                    assert fails

        world = one_task(SPECS, process, [()])
        world.settle()
        assert [result.values for result in world.members[0].tuples[0].results] == [(4,)]
        assert world.tables[1].get("a") == {"n": 4, "x": 0.5, "cars": ()}

    def test_an_input_that_failed_wants_nothing(self) -> None:
        def process(recorder: Recorder, tup: Any) -> None:
            with recorder.begin(tup) as t:
                t.add(PLACES.n, "a", 1)
                t.require(t.read(PLACES.n, "a") > 0, "reason")
            recorder.alone(tup, lambda view: None)
            if tup.values[0]:
                recorder.discard_input()

        world = one_task(SPECS, process, [(False,), (True,), (False,)])
        world.settle()
        assert [len(one.results) for one in world.members[0].tuples] == [2, 0, 2]
        assert world.tables[1].get("a") == {"n": 5, "x": 0.5, "cars": ()}

    def test_discard_is_of_the_tuple_in_process_only(self) -> None:
        def process(recorder: Recorder, tup: Any) -> None:
            if tup.values[0]:
                with recorder.begin(tup) as t:
                    t.add(PLACES.n, "a", 1)
            else:
                recorder.discard_input()

        world = one_task(SPECS, process, [(True,), (False,)])
        world.settle()
        assert [len(one.results) for one in world.members[0].tuples] == [1, 0]

    def test_no_transaction_at_all(self) -> None:
        world = one_task(SPECS, lambda recorder, tup: None, [()] * 3)
        world.settle()
        assert [one.results for one in world.members[0].tuples] == [[], [], []]

    def test_an_empty_transaction_has_a_result(self) -> None:
        result = result_of(lambda t: None)
        assert (bool(result), result.values, result.aborted) == (True, (), None)

    def test_rows_that_are_skipped_count(self) -> None:
        world = World(SPECS)
        member = world.add(say(lambda t, n: t.add(PLACES.n, "a", n)), [])
        positions = Positions()
        for ts in range(4):
            positions.append(Position(ts, 0, 0))
        recorder = member.recorder
        recorder.start()
        head = ("source", "default", 1, None)
        for tup in member.inbox.load([([None, (1,), None, (10,)], 0, 4, head)]):  # type: ignore[list-item]
            member.process(recorder, tup)
        recorder.place(positions, 0)
        assert (recorder.publish(), recorder.in_flight, recorder.oldest) == (True, 4, (1, 0, 0))
        recorder.collected((3, 0, 0))
        world.evaluate(member)
        assert recorder.evaluated_inputs() == 3
        assert [len(recorder.take_results()) for _ in range(3)] == [0, 1, 0]
        with pytest.raises(IndexError, match="no tuple is left"):
            recorder.take_results()
        assert (recorder.in_flight, recorder.oldest) == (1, (3, 0, 0))


class TestRefusals:
    def member(self) -> tuple[Member, Any]:
        world = World(SPECS)
        member = world.add(lambda recorder, tup: None, [])
        member.recorder.start()
        return member, next(member.inbox.load([([(), ()], 0, 2, ("source", "default", 1, None))]))

    def test_another_tuple_than_the_one_in_process(self) -> None:
        member, first = self.member()
        second = next(member.inbox)
        with pytest.raises(ValueError, match=r"the tuple in process, whose id is '2'; found Record\(id='1'"):
            member.recorder.begin(first)
        with pytest.raises(ValueError, match="found None"):
            member.recorder.alone(None, lambda view: None)  # type: ignore[arg-type]
        member.recorder.begin(second)

    @pytest.mark.parametrize("text", ["", "01", "11", "1 ", "2", 1, "¹"])
    def test_other_ids(self, text: Any) -> None:
        member, _ = self.member()
        with pytest.raises(ValueError, match="whose id is '1'"):
            member.recorder.begin((text,))

    def test_nothing_is_said_outside_of_process(self) -> None:
        member, first = self.member()
        assert list(member.inbox)
        with pytest.raises(RuntimeError, match="while a tuple is processed"):
            member.recorder.begin(first)
        positions = Positions()
        positions.extend_from(_positions(2), 0, 2)
        member.recorder.place(positions, 0)
        again = next(member.inbox.load([([()], 0, 1, ("source", "default", 1, None))]))
        with pytest.raises(RuntimeError, match="while a tuple is processed"):
            member.recorder.begin(again)
        with pytest.raises(RuntimeError, match="call start first"):
            member.recorder.place(positions, 0)
        member.recorder.start()
        with pytest.raises(RuntimeError, match="call place first"):
            member.recorder.start()

    def test_a_block_within_a_block(self) -> None:
        member, first = self.member()
        with member.recorder.begin(first):
            with pytest.raises(RuntimeError, match="within the block of another one"):
                member.recorder.begin(first)
            with pytest.raises(RuntimeError, match="within the block of another one"):
                member.recorder.alone(first, lambda view: None)

    def test_out_of_the_block(self) -> None:
        member, first = self.member()
        t = member.recorder.begin(first)
        with pytest.raises(ValueError, match="within its block"):
            t.read(ACCOUNTS, 1)
        with t:
            handle = t.read(ACCOUNTS, 1)
        with pytest.raises(ValueError, match="block is over"):
            t.read(ACCOUNTS, 1)
        with pytest.raises(ValueError, match="block is over"):
            _ = handle + 1
        with pytest.raises(ValueError, match="has one block"), t:
            pass
        with member.recorder.begin(first) as t:
            with pytest.raises(ValueError, match="a handle of another transaction"):
                t.add(ACCOUNTS, 1, handle)
            with pytest.raises(ValueError, match="a handle of another transaction"):
                _ = handle + t.read(ACCOUNTS, 1)

    def test_a_recorder_that_is_gone(self) -> None:
        member, first = self.member()
        t = member.recorder.begin(first).__enter__()
        handle = t.read(ACCOUNTS, 1)
        gone = weakref.ref(member.recorder)
        del member.recorder
        gc.collect()
        assert gone() is None
        for use in (lambda: t.read(ACCOUNTS, 1), lambda: handle + 1, lambda: t.__exit__(None, None, None)):
            with pytest.raises(ValueError, match="block is over"):
                use()


def _positions(count: int) -> Positions:
    positions = Positions()
    for ts in range(count):
        positions.append(Position(ts, 0, 0))
    return positions
