"""Inboxes, case by case: what a component receives of the pieces that are loaded."""

from __future__ import annotations

import sys
from array import array
from collections import namedtuple
from typing import Any

import pytest

from tests.viper.records import HEAD, Calls, Record, Word, marks
from viper.rows import Inbox, Outbox

Pair = namedtuple("Pair", ["text", "number"])
SEALED = (*HEAD, None, None, None, 0, True)


class TestInbox:
    def inbox(self, outbox: Outbox | None = None, pause_at: int = 1000) -> Inbox:
        return Inbox(Record, outbox, pause_at)

    def test_records_have_their_heads_and_named_values(self) -> None:
        rows = [("a",), ("b",), ("c",)]
        inbox = self.inbox().load([(rows, 1, 2, HEAD), (rows, 0, 1, ("lines", "raw", 1, None, "more"))])
        found = list(inbox)
        assert found == [
            Record("1", "split", "default", 3, Word("b")),
            Record("2", "split", "default", 3, Word("c")),
            Record("3", "lines", "raw", 1, ("a",)),
        ]
        assert [type(record) for record in found] == [Record] * 3
        assert [type(record.values) for record in found] == [Word, Word, tuple]
        assert found[2].values is rows[0]

    def test_ids_go_on_from_load_to_load(self) -> None:
        inbox = self.inbox()
        ids = [record.id for _ in range(4) for record in inbox.load([([()], 0, 1, (*HEAD[:3], None))] * 5)]
        assert ids == [str(number) for number in range(1, 21)]

    def test_marks_say_how_far_the_outbox_was_after_each_record(self) -> None:
        outbox = Calls().outbox
        inbox = self.inbox(outbox)
        for record in inbox.load([([("a",), ("b",), ("c",)], 0, 3, HEAD)]):
            for _ in range({"a": 2, "b": 0, "c": 3}[record.values.word]):
                outbox.emit([1, 2])
        assert marks(inbox.cut()) == [2, 2, 5]
        assert marks(inbox.cut()) == []

    def test_a_record_in_process_is_in_both_cuts(self) -> None:
        outbox = Calls().outbox
        inbox = self.inbox(outbox).load([([("a",), ("b",)], 0, 2, HEAD)])
        next(inbox)
        outbox.emit([1, 2])
        assert inbox.open
        assert marks(inbox.cut()) == [1]
        outbox.take()
        outbox.emit([1, 2])
        outbox.emit([1, 2])
        next(inbox)
        assert marks(inbox.cut()) == [2, 2]
        assert list(inbox) == []
        assert not inbox.open

    def test_reading_pauses_between_records_while_the_outbox_is_full(self) -> None:
        outbox = Calls().outbox
        inbox = self.inbox(outbox, pause_at=2).load([([("a",), ("b",), ("c",)], 0, 3, HEAD)])
        read = []
        for record in inbox:
            read.append(record.values.word)
            outbox.emit([1, 2])
        assert (read, inbox.paused) == (["a", "b"], True)
        assert list(inbox) == []
        outbox.take()
        assert [record.values.word for record in inbox] == ["c"]
        assert not inbox.paused

    def test_without_an_outbox_nothing_is_marked(self) -> None:
        inbox = self.inbox(None)
        assert len(list(inbox.load([([("a",)], 0, 1, HEAD)]))) == 1
        assert inbox.cut() == b""

    @pytest.mark.parametrize(
        "piece",
        [
            [[("a",)], 0, 1, HEAD],
            ([("a",)], 0, 1),
            ((("a",),), 0, 1, HEAD),
            ([("a",)], 0, 1, list(HEAD)),
            ([("a",)], 0, 1, ("c", "s", 1, list)),
            ([["a"]], 0, 1, HEAD),
        ],
    )
    def test_pieces_of_another_kind(self, piece: Any) -> None:
        with pytest.raises(TypeError):
            list(self.inbox().load([piece]))

    @pytest.mark.parametrize(("first", "count"), [(-1, 1), (0, -1), (0, 2), (1, 1), (sys.maxsize, 1)])
    def test_rows_that_are_not_there(self, first: int, count: int) -> None:
        with pytest.raises(ValueError, match="no piece"):
            list(self.inbox().load([([("a",)], first, count, HEAD)]))

    def test_a_head_that_is_too_short(self) -> None:
        with pytest.raises(ValueError, match=r"a head of 3$"):
            list(self.inbox().load([([("a",)], 0, 1, HEAD[:3])]))

    def test_rows_of_several_streams_have_each_their_own_head(self) -> None:
        rows = [("a",), ("b",), ("c",), ("d",)]
        heads = (HEAD, ("lines", "raw", 1, None), ("never", "chosen", 2, None))
        inbox = self.inbox().load(
            [(rows, 1, 3, heads, array("H", [9, 1, 0, 1]).tobytes()), (rows, 0, 1, HEAD)]
        )
        assert list(inbox) == [
            Record("1", "lines", "raw", 1, ("b",)),
            Record("2", "split", "default", 3, Word("c")),
            Record("3", "lines", "raw", 1, ("d",)),
            Record("4", "split", "default", 3, Word("a")),
        ]

    @pytest.mark.parametrize(
        ("heads", "which", "error"),
        [
            ((HEAD, HEAD[:3]), [0], ValueError),
            ((HEAD, list(HEAD)), [0], TypeError),
            ((HEAD, ("c", "s", 1, list)), [0], TypeError),
            ((HEAD,), [], ValueError),
            ((HEAD,), [1], IndexError),
            ((), [0], IndexError),
        ],
    )
    def test_heads_that_are_none(self, heads: Any, which: list[int], error: type[Exception]) -> None:
        inbox = self.inbox().load([([("a",)], 0, 1, heads, array("H", which).tobytes())])
        with pytest.raises(error):
            next(inbox)
        assert list(inbox) == []

    def test_the_heads_of_rows_are_bytes(self) -> None:
        with pytest.raises(TypeError):
            list(self.inbox().load([([("a",)], 0, 1, (HEAD,), array("H", [0]))]))  # type: ignore[list-item]

    def test_it_is_loaded_with_a_list(self) -> None:
        with pytest.raises(TypeError, match="a list of pieces"):
            self.inbox().load(())  # type: ignore[arg-type]

    def test_rows_that_vanish_while_they_are_read(self) -> None:
        rows = [("a",), ("b",)]
        inbox = self.inbox().load([(rows, 0, 2, HEAD)])
        next(inbox)
        rows.clear()
        with pytest.raises(TypeError, match="must stay tuples while they are read"):
            next(inbox)

    def test_a_value_may_run_code_of_its_own_when_it_goes(self) -> None:
        inbox = self.inbox()
        seen: list[Any] = []

        class Last:
            def __del__(self) -> None:
                seen.extend(inbox.load([([("z",)], 0, 1, HEAD)]))

        list(inbox.load([([(Last(),)], 0, 1, HEAD)]))
        # The old piece goes while the new one is opened, and loads others in its place.
        assert list(inbox.load([([("b",)], 0, 1, HEAD)])) == []
        assert [record.values.word for record in seen] == ["z"]


def test_records_and_their_values_hash_as_the_tuples_that_they_are() -> None:
    (record,) = Inbox(Record, None, 1).load([([("a",)], 0, 1, HEAD)])
    assert hash(record) == hash(tuple(record))
    assert {("a",): 1}[record.values] == 1


class TestReuse:
    """Records are used again where nobody can tell."""

    def inbox(self, record: type[tuple[Any, ...]] = Record) -> Inbox:
        return Inbox(record, None, 1000)

    def test_who_keeps_records_values_or_ids_has_them_for_good(self) -> None:
        rows = [(str(number),) for number in range(40)]
        kept: list[Any] = []
        expected: list[Any] = []
        for index, record in enumerate(self.inbox().load([(rows, 0, 40, HEAD)])):
            kept.append((record, record.values, record.id)[index % 4 % 3 :][0])
            number, values = str(index + 1), Word(str(index))
            expected.append((Record(number, "split", "default", 3, values), values, number)[index % 4 % 3])
        assert kept == expected
        assert [type(one) for one in kept] == [type(one) for one in expected]

    def test_a_record_that_nobody_keeps_is_used_again(self) -> None:
        rows = [("a",)] * 40
        seen = set()
        for record in self.inbox().load([(rows, 0, 40, HEAD)]):
            seen.add(id(record))
        assert len(seen) == 2

    def test_texts_of_ids_have_their_own_hashes(self) -> None:
        rows = [("a",)] * 40
        hashes = [hash(record.id) for record in self.inbox().load([(rows, 0, 40, HEAD)])]
        assert hashes == [hash(str(number)) for number in range(1, 41)]

    def test_an_id_that_was_interned_stays(self) -> None:
        interned = [sys.intern(record.id) for record in self.inbox().load([([("a",)] * 30, 0, 30, HEAD)])]
        assert interned == [str(number) for number in range(1, 31)]

    def test_records_with_attributes_are_made_anew(self) -> None:
        class Marked(Record):
            pass

        marked = []
        for record in self.inbox(Marked).load([([("a",)] * 6, 0, 6, HEAD)]):
            marked.append(hasattr(record, "mark"))
            record.mark = True
        assert marked == [False] * 6

    def test_nothing_is_held_when_the_rows_are_over(self) -> None:
        value = frozenset({"big"})
        rows = [(value,)] * 3
        inbox = self.inbox()
        before = sys.getrefcount(value)
        for _ in inbox.load([(rows, 0, 3, HEAD)]):
            del _
        assert sys.getrefcount(value) == before


class TestValuesThatAreEmittedAgain:
    """A component that emits the values in process as they are passes their row on."""

    def taken(
        self, rows: list[Any], *, head: Any = HEAD, port: Any = ("default", -1, True)
    ) -> tuple[Any, Any]:
        """The rows in the outbox, and the calls of the slow emit, after each record's values were emitted."""
        slow: list[Any] = []
        outbox = Outbox((port,), slow.append, lambda: None, 1000)
        for record in Inbox(Record, outbox, 1000).load([(rows, 0, len(rows), head)]):
            outbox.emit(record.values)
        return outbox.take()[0], slow

    @pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="threads may emit")
    def test_their_row_is_not_copied(self) -> None:
        rows = [("a",), ("b",), ("c",)]
        taken, _ = self.taken(rows)
        assert [found is row for found, row in zip(taken, rows, strict=True)] == [True] * 3

    def test_values_that_can_change_go_the_slow_way_as_they_were_handed_out(self) -> None:
        changing = (["a"],)
        taken, slow = self.taken([("b",), changing, ("c",)])
        assert (taken, slow) == ([("b",), ("c",)], [Word(["a"])])
        assert type(slow[0]) is Word

    def test_the_number_of_values_is_compared(self) -> None:
        taken, slow = self.taken([("b",)], port=("default", 2, True))
        assert (taken, slow) == ([], [Word("b")])

    def test_values_have_to_fit_a_typed_stream(self) -> None:
        text_only = bytes([11])
        taken, slow = self.taken([("b",), (1,), (None,)], port=("default", 1, True, text_only))
        assert (taken, slow) == ([("b",)], [Word(1), Word(None)])

    @pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="threads may emit")
    def test_those_of_sealed_rows_are_not_looked_at(self) -> None:
        looked_at, not_looked_at = (["a"],), (["b"],)
        taken, slow = self.taken([not_looked_at], head=SEALED)
        assert (taken[0] is not_looked_at, slow) == (True, [])
        outbox = Outbox((("default", 1, True),), slow.append, lambda: None, 1000)
        pieces: list[Any] = [([not_looked_at], 0, 1, SEALED), ([looked_at], 0, 1, HEAD)]
        pieces.append(([not_looked_at, looked_at], 0, 2, (SEALED, HEAD), array("H", [0, 1]).tobytes()))
        for record in Inbox(Record, outbox, 1000).load(pieces):
            outbox.emit(record.values)
        assert (outbox.take()[0], slow) == ([not_looked_at] * 2, [Word(["a"])] * 2)

    def test_those_of_sealed_rows_have_to_be_as_many_and_to_fit(self) -> None:
        text_only = bytes([11])
        assert self.taken([("b",)], head=SEALED, port=("default", 2, True)) == ([], [Word("b")])
        taken, slow = self.taken([("b",), (1,)], head=SEALED, port=("default", 1, True, text_only))
        assert (taken, slow) == ([("b",)], [Word(1)])

    def test_an_address_beside_them_stays_behind(self) -> None:
        head = (*HEAD, None, None, None, 1)
        taken, _ = self.taken([("a", 7), ("b", 8)], head=head)
        assert taken == [("a",), ("b",)]

    def test_a_row_of_a_class_of_its_own_arrives_as_a_tuple(self) -> None:
        taken, _ = self.taken([Word("a")])
        assert (taken, type(taken[0])) == ([("a",)], tuple)

    def test_values_of_earlier_records_are_what_they_were(self) -> None:
        outbox = Calls().outbox
        kept = []
        inbox = Inbox(Record, outbox, 1000).load([([(str(i), i) for i in range(6)], 0, 6, (*HEAD[:3], Pair))])
        for record in inbox:
            kept.append(record.values)
            for values in kept:
                outbox.emit(values)
        assert outbox.take()[0] == [(str(i), i) for last in range(6) for i in range(last + 1)]
        for values in kept:  # behind the last
            outbox.emit(values)
        assert outbox.take()[0] == [(str(i), i) for i in range(6)]

    def test_a_subclass_of_a_scalar_is_none(self) -> None:
        class Number(int):
            """May carry attributes."""

        taken, slow = self.taken([(1, 2, Number(3)), (Number(1), 2), (True, None)], head=(*HEAD[:3], None))
        assert (taken, [len(values) for values in slow]) == ([(True, None)], [3, 2])

    def test_nothing_of_them_is_kept_when_all_were_processed(self) -> None:
        outbox = Outbox((("default", 1, True),), lambda *args: None, lambda: None, 1000)
        rows = [tuple(["a"])]
        before = sys.getrefcount(rows[0])
        for record in Inbox(Record, outbox, 1000).load([(rows, 0, 1, HEAD)]):
            del record
        after = sys.getrefcount(rows[0])
        assert after == before
