"""Rows and records, case by case."""

from __future__ import annotations

import sys
from array import array
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import pytest

from tests.viper.records import Calls, Record, Word, tags
from viper.rows import Inbox, Outbox, is_plain, partition


class TestEmit:
    def test_the_common_case_never_leaves_c(self) -> None:
        calls = Calls()
        assert calls.outbox.emit([1, "a"]) is None
        assert calls.outbox.emit((2.0, None)) is None
        assert calls.outbox.emit(["x"] * 9, stream="other") is None
        rows, ports, notes = calls.outbox.take()
        assert rows == [(1, "a"), (2.0, None), ("x",) * 9]
        assert tags(ports) == [0, 0, 1]
        assert (notes, calls.slow) == (None, [])

    @pytest.mark.parametrize(
        ("args", "options"),
        [
            (([1],), {}),
            (([1, []],), {}),
            ((iter([1, 2]),), {}),
            (("ab",), {}),
            (([1, 2], "id"), {}),
            (([1, 2],), {"stream": "nowhere"}),
            (([1, 2],), {"stream": None}),
            (([1, 2],), {"stream": ["other"]}),
            (([1, 2],), {"anchors": []}),
            (([1, 2],), {"stream": "other", "need_task_ids": True}),
            ((), {}),
            ((), {"tup": [1, 2]}),
        ],
    )
    def test_everything_else_does_as_it_was_called(self, args: Any, options: Any) -> None:
        calls = Calls()
        assert calls.outbox.emit(*args, **options) == "slow"
        assert calls.slow == [(args, options)]
        assert len(calls.outbox) == 0

    def test_a_subclass_of_list_or_str_is_not_common(self) -> None:
        class Row(list[Any]):
            pass

        class Text(str):
            pass

        calls = Calls()
        calls.outbox.emit(Row([1, 2]))
        calls.outbox.emit([1, Text("a")])
        assert len(calls.slow) == 2

    def test_without_a_default_port_only_named_streams_are_common(self) -> None:
        slow: list[Any] = []
        outbox = Outbox((("a", 1, True),), slow.append, lambda: None, 9)
        outbox.emit([1])
        outbox.emit([2], stream="a")
        assert slow == [[1]]
        assert outbox.take() == ([(2,)], None, None)

    def test_what_nobody_reads_is_counted_and_dropped(self) -> None:
        calls = Calls(limit=1)
        calls.outbox.emit([1], stream="unread")
        assert (len(calls.outbox), calls.outbox.discarded, calls.full) == (0, 1, 0)

    def test_a_row_is_a_snapshot(self) -> None:
        calls, values = Calls(), [1, 2]
        calls.outbox.emit(values)
        values[0] = 3
        assert calls.outbox.take()[0] == [(1, 2)]

    def test_exceptions_come_through(self) -> None:
        def fail(*args: Any) -> None:
            raise LookupError(len(args))

        outbox = Outbox((("default", 1, True),), fail, fail, 2)
        with pytest.raises(LookupError, match="1"):
            outbox.emit([[]])
        outbox.emit(["kept"])
        with pytest.raises(LookupError, match="0"):
            outbox.emit(["kept too"])
        assert outbox.take()[0] == [("kept",), ("kept too",)]

    def test_a_key_that_raises_when_it_is_compared(self) -> None:
        class Odd(str):
            def __hash__(self) -> int:
                raise LookupError("hash")

        with pytest.raises(LookupError, match="hash"):
            Calls().outbox.emit([1, 2], stream=Odd("other"))

    def test_the_outbox_may_be_taken_while_it_is_full(self) -> None:
        taken: list[Any] = []
        outbox = Outbox((("default", 1, True),), print, lambda: taken.append(outbox.take()[0]), 3)
        for number in range(8):
            outbox.emit([number])
        assert taken == [[(0,), (1,), (2,)], [(3,), (4,), (5,)]]
        assert len(outbox) == 2


class TestPlain:
    @pytest.mark.parametrize("value", ["", b"", 1, 2**99, 1.5, 1j, None, True, (), (1, ("a", (None,)))])
    def test_exactly_immutable(self, value: object) -> None:
        assert is_plain(value)

    @pytest.mark.parametrize(
        "value",
        [[], {}, set(), bytearray(), frozenset(), object(), Word("x"), ([],), (1, (2, [3])), range(3)],
    )
    def test_anything_else(self, value: object) -> None:
        assert not is_plain(value)

    def test_tuples_nested_too_deeply_are_left_to_others(self) -> None:
        deep: tuple[Any, ...] = ()
        for _ in range(50 * sys.getrecursionlimit()):
            deep = (deep,)
        calls = Calls()
        assert not is_plain(deep)
        assert calls.outbox.emit([1, deep]) == "slow"
        while deep:  # the interpreter itself takes them apart one by one
            (deep,) = deep

    def test_tuples_that_hold_one_another_many_times_are_left_to_others(self) -> None:
        """Looked at one by one, these are 2**60 values."""
        shared: tuple[Any, ...] = (1,)
        for _ in range(60):
            shared = (shared, shared)
        calls = Calls()
        assert not is_plain(shared)
        assert calls.outbox.emit([1, shared]) == "slow"

    def test_a_long_tuple_is_looked_through(self) -> None:
        assert is_plain((1,) * 1_000_000)
        assert not is_plain(((1,) * 1_000_000, [2]))

    def test_a_list_that_holds_itself(self) -> None:
        knot: list[Any] = []
        knot.append(knot)
        assert not is_plain((knot,))


class TestMaking:
    @pytest.mark.parametrize(
        "ports",
        [
            [("default", 1, True)],
            ("default",),
            (("default", 1),),
            ((b"default", 1, True),),
            (("default", "1", True),),
            ((["default"], 1, True),),
        ],
    )
    def test_ports_of_another_kind(self, ports: Any) -> None:
        with pytest.raises(TypeError):
            Outbox(ports, print, print, 1)

    def test_limits(self) -> None:
        with pytest.raises(ValueError, match="a limit of 1 or more"):
            Outbox((), print, print, 0)
        with pytest.raises(ValueError, match="up to 65,535 ports"):
            Outbox(tuple((str(n), 1, True) for n in range(65_536)), print, print, 1)

    @pytest.mark.parametrize(
        "arguments", [(list, None, 1), (Record, [], 1), (Record(*"abcde"), None, 1), (Record, None)]
    )
    def test_an_inbox_of_something_else(self, arguments: Any) -> None:
        with pytest.raises(TypeError):
            Inbox(*arguments)

    @pytest.mark.parametrize("box", [Outbox, Inbox])
    def test_there_is_none_that_is_not_set_up(self, box: Any) -> None:
        with pytest.raises(TypeError):
            box.__new__(box)
        with pytest.raises(TypeError):
            type("Derived", (box,), {})

    def test_append_is_checked(self) -> None:
        outbox = Calls().outbox
        for port in (-1, 3):
            with pytest.raises(IndexError, match=f"no port {port}: there are 3"):
                outbox.append(port, ())
        with pytest.raises(TypeError):
            outbox.append(0, [1, 2])  # type: ignore[arg-type]


class TestPartition:
    def test_rows_keep_their_order(self) -> None:
        rows = [("a",), ("b",), ("c",), ("d",)]
        assert partition(rows, array("H", [1, 0, 1, 2]), 2) == [[("b",)], [("a",), ("c",)]]

    def test_nothing(self) -> None:
        assert partition([], array("H"), 3) == [[], [], []]
        assert partition([()], array("H", [0]), 0) == []

    @pytest.mark.parametrize("targets", [array("H", [0]), array("H", [0] * 3), b"\0\0\0", array("B", [0, 0])])
    def test_as_many_targets_as_rows(self, targets: Any) -> None:
        with pytest.raises(ValueError, match="2 rows need as many 16-bit targets"):
            partition([(), ()], targets, 1)

    def test_wrong_arguments(self) -> None:
        with pytest.raises(ValueError, match="-1 parts"):
            partition([], b"", -1)
        for rows, targets in (((), b""), ([], [])):
            with pytest.raises(TypeError):
                partition(rows, targets, 1)  # type: ignore[arg-type]


def test_named_values_take_the_fast_way() -> None:
    """``emit(tup.values)`` is what forwarding looks like."""
    Values = namedtuple("Values", "a b")
    outbox, slow = outbox_with_slow()
    outbox.emit(Values(1, "x"))
    rows, *_ = outbox.take()
    assert rows == [(1, "x")]
    assert type(rows[0]) is tuple
    assert slow == []


def test_a_tuple_that_iterates_in_its_own_way_does_not() -> None:
    class Backwards(tuple):  # type: ignore[type-arg]
        def __iter__(self) -> Iterator[Any]:
            return reversed(tuple.__getitem__(self, slice(None)))

    outbox, slow = outbox_with_slow()
    outbox.emit(Backwards((1, 2)))
    assert slow == [(1, 2)]


def outbox_with_slow() -> tuple[Outbox, list[Any]]:
    slow: list[Any] = []
    ports = (("default", 2, True),)
    return Outbox(ports, slow=slow.append, on_full=lambda: None, limit=100), slow
