"""Addressed rows: what a reader skips, on its way from another process and within one."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viper.records import HEAD, Calls, Record, Word, marks
from viper.addressed import VALUES, mask_of, mask_shift, own_rows
from viper.codec import decode, encode
from viper.errors import CodecError
from viper.hashing import groups_of_task
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.rows import Decoder, Inbox, encode_addressed

GROUPS = 256


def addressed(*groups: int, value: object = "a") -> tuple[Any, ...]:
    return value, groups, tuple(map(str, groups)), groups[0] if groups else None


def present(rows: list[Any]) -> list[Any]:
    return [row for row in rows if row is not None]


def test_readers_decode_only_what_concerns_them() -> None:
    rows = [addressed(number) for number in range(GROUPS)]
    encoded = encode(Jumbo(Rows(rows), mask_shift=mask_shift(GROUPS)))
    for tasks in (1, 3, 7, 64):
        for task in range(tasks):
            own = groups_of_task(task, tasks, GROUPS)
            found = decode(memoryview(encoded), Decoder(), mask=mask_of(own, GROUPS)).payload.rows
            assert {rows[group] for group in own} <= set(present(found))
            assert len(present(found)) <= len(own) + 6, "of either end, others share a bit"
            exact = own_rows(found, 0, GROUPS, own.start, own.stop)
            assert [index for index, row in enumerate(exact) if row is not None] == list(own)
    assert decode(memoryview(encoded), Decoder()).payload.rows == rows


@given(st.lists(st.sets(st.integers(0, GROUPS - 1))), st.integers(1, 20), st.data())
def test_no_row_is_skipped_that_concerns_a_reader(groups: list[set[int]], tasks: int, data: Any) -> None:
    rows = [addressed(*sorted(mine), value=index) for index, mine in enumerate(groups)]
    own = groups_of_task(data.draw(st.integers(0, tasks - 1)), tasks, GROUPS)
    concerned = [row if mine & set(own) else None for row, mine in zip(rows, groups, strict=True)]
    first = data.draw(st.integers(0, len(rows)))
    assert own_rows(rows, first, len(rows) - first, own.start, own.stop) == concerned[first:]
    encoded = encode_addressed(rows, mask_shift(GROUPS))
    assert encoded is not None
    decoded = Decoder().decode_addressed(encoded, mask_of(own, GROUPS))
    assert own_rows(decoded, 0, len(rows), own.start, own.stop) == concerned


def test_tags_and_values_that_only_pickle_carries_come_back() -> None:
    rows = [addressed(1, value=[number]) for number in range(3)]
    jumbo = Jumbo(Rows(rows, mutable=True), array("H", [0, 1, 0]), mask_shift(GROUPS))
    found = decode(memoryview(encode(jumbo)), Decoder(), mask=0)
    assert (found.payload.rows, found.tags) == (rows, jumbo.tags)
    assert jumbo.behind(1).mask_shift == jumbo.alone(1).mask_shift == jumbo.mask_shift


@pytest.mark.parametrize(
    "row", [(), (1, 2), ("a", 5, (), None), ("a", (-1,), ("k",), -1), ("a", ("g",), (), 0)]
)
def test_rows_without_an_address_are_refused(row: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode_addressed([row], 0)
    with pytest.raises((TypeError, ValueError)):
        own_rows([row], 0, 1, 0, 1)


def test_bytes_that_end_early_are_refused() -> None:
    encoded = encode(Jumbo(Rows([addressed(1), addressed(70)]), mask_shift=0))
    for mask in (0, 2**64 - 1):
        for size in range(8, len(encoded)):
            with pytest.raises(CodecError):
                decode(memoryview(encoded[:size]), Decoder(), mask=mask)


@pytest.mark.parametrize("first, count", [(-1, 1), (0, 3), (2, 1), (0, -1)])
def test_rows_that_are_not_there_are_refused(first: int, count: int) -> None:
    with pytest.raises(IndexError):
        own_rows([addressed(1), addressed(2)], first, count, 0, 9)


def test_an_inbox_passes_over_skipped_rows_and_leaves_addresses_out() -> None:
    """Skipped rows have their marks, and count: what is told by index stays right."""
    outbox = Calls().outbox
    inbox = Inbox(Record, outbox, 1000)
    rows = [None, addressed(1), None, None, addressed(2, value="b"), None]
    head = (*HEAD[:4], None, None, None, VALUES)
    seen = []
    for record in inbox.load([(rows, 0, 6, head)]):
        seen.append((inbox.handed, record.values))
        outbox.emit([1, 2])
    assert seen == [(2, Word("a")), (5, Word("b"))]
    assert inbox.handed == 6
    assert marks(inbox.cut()) == [0, 1, 1, 1, 2, 2]


def test_an_inbox_leaves_addresses_out_of_plain_values_too() -> None:
    head = (*HEAD[:3], None, None, None, None, VALUES)
    (record,) = Inbox(Record, None, 1).load([([addressed(1)], 0, 1, head)])
    assert record.values == ("a",)


def test_an_inbox_refuses_rows_shorter_than_addresses() -> None:
    head = (*HEAD[:3], None, None, None, None, VALUES)
    with pytest.raises(ValueError, match="3 of 2 values"):
        next(Inbox(Record, None, 1).load([([(1, 2)], 0, 1, head)]))
