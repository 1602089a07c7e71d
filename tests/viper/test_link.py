"""A link: what it delivers, and that it says of itself what a gate with one source and one reader says."""

from __future__ import annotations

from array import array

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.arena import Arena
from viper.columns.payload import Columns
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.link import Link
from viper.payload import Rows
from viper.position import END, LEAST, UNTOLD, Position, Positions
from viper.reader import Run

ROOM = 1 << 12


def at(ts: int) -> Position:
    return Position(ts, 0, 0)


def put(link: Link, first: int, count: int) -> Jumbo:
    """Put tuples that are numbered, and stand at their numbers."""
    for ts in range(first, first + count):
        link.positions.append(at(ts))
    jumbo = Jumbo(Rows([(n,) for n in range(first, first + count)]), array("H", range(count)))
    link.put(jumbo)
    return jumbo


def taken(runs: list[Run]) -> list[int]:
    return [n for _, jumbo, first, count in runs for (n,) in jumbo.payload.rows[first : first + count]]


def delivered(link: Link, limit: int) -> list[int]:
    """The numbers of the tuples that are taken, which stand at them."""
    into = Positions()
    into.append(LEAST)  # what is there already stays
    numbers = taken(link.get_ready(limit, into))
    assert [position.ts for position in into] == [LEAST.ts, *numbers]
    return numbers


def test_what_is_put_comes_in_order_and_as_it_is() -> None:
    link = Link(slots=4, tuples=8)
    first, second = put(link, 0, 3), put(link, 3, 2)
    into = Positions()
    assert link.get_ready(4, into) == [(0, first, 0, 3), (0, second, 0, 1)]
    assert link.get_ready(4, into) == [(0, second, 1, 1)]
    assert (link.get_ready(4, into), [position.ts for position in into]) == ([], [0, 1, 2, 3, 4])


def test_a_single_jumbo_tuple_is_taken_whole() -> None:
    link, into = Link(slots=4, tuples=8), Positions()
    for number in range(3):
        jumbo = put(link, number, 1)
        assert link.get_ready(1, into) == [(0, jumbo, 0, 1)]
    assert [position.ts for position in into] == [0, 1, 2]


def put_columns(link: Link, first: int, count: int) -> Jumbo:
    """Put columns of numbers, which stand at them."""
    for ts in range(first, first + count):
        link.positions.append(at(ts))
    jumbo = Jumbo(Columns(pa.record_batch({"n": pa.array(range(first, first + count))})))
    link.put(jumbo)
    return jumbo


@pytest.mark.parametrize(
    ("sizes", "limit", "expected"),
    [
        ([3, 2], 4, [3, 2]),
        ([3, 2], 5, [5]),
        ([3, 2], 2, [2, 1, 2]),
        ([2, 5, 1], 4, [2, 4, 2]),
        ([1, 1, 1, 4, 1], 4, [3, 4, 1]),
        ([4, 4], 4, [4, 4]),
        ([6, 3, 1], 4, [4, 2, 4]),
    ],
)
def test_only_the_first_columns_are_cut(sizes: list[int], limit: int, expected: list[int]) -> None:
    """A rest of columns that were cut is taken with those behind it only where these fit as a whole."""
    link, first = Link(slots=9, tuples=99), 0
    for size in sizes:
        put_columns(link, first, size)
        first += size
    slices = []
    while link.ready():
        slices.append(delivered(link, limit))
    assert [len(numbers) for numbers in slices] == expected
    assert [number for numbers in slices for number in numbers] == list(range(first))


def test_rows_behind_columns_are_cut() -> None:
    link = Link(slots=9, tuples=99)
    put_columns(link, 0, 2), put(link, 2, 3), put_columns(link, 5, 2)
    assert [len(delivered(link, 4)) for _ in range(2)] == [4, 3]
    assert not link.ready()


def test_nothing_is_taken_of_nothing() -> None:
    link = Link(slots=4, tuples=8)
    put(link, 0, 0)
    assert (delivered(link, 10), link.ready(), link.statistics().sources[0].added_jumbos) == ([], False, 0)
    put(link, 0, 2)
    assert delivered(link, 0) == []


@pytest.mark.parametrize(("slots", "tuples", "sizes", "excess"), [(2, 8, [3, 6], 1), (2, 8, [1, 1, 1], 1)])
def test_it_takes_more_than_it_has_room_for_and_says_so(
    slots: int, tuples: int, sizes: list[int], excess: int
) -> None:
    link, first = Link(slots=slots, tuples=tuples), 0
    for size in sizes:
        assert link.excess() == 0
        put(link, first, size)
        first += size
    assert link.excess() == excess
    assert link.statistics().sources[0].refused == 1
    assert delivered(link, 1) == [0]
    assert link.excess() == 0
    blocked_ns = link.statistics().sources[0].blocked_ns
    assert 0 < blocked_ns == link.statistics().sources[0].blocked_ns


def test_a_heartbeat_is_a_promise_that_is_never_taken_back() -> None:
    link = Link(slots=4, tuples=8)
    assert (link.watermark(), link.floor()) == (LEAST, LEAST)
    link.heartbeat(at(5))
    link.heartbeat(at(3))
    assert (link.watermark(), link.floor(), link.holding_source()) == (at(5), at(5), 0)


def test_a_tuple_that_waits_holds_the_watermark_back() -> None:
    link = Link(slots=4, tuples=8)
    put(link, 7, 2)
    link.heartbeat(at(20))
    assert (link.outlook(), link.holding_source()) == ((True, at(7), UNTOLD), None)
    assert delivered(link, 1) == [7]
    assert link.watermark() == at(8)
    assert delivered(link, 1) == [8]
    assert link.outlook() == (False, at(20), UNTOLD)


def test_a_gate_has_the_same_word_for_a_time_that_was_not_told() -> None:
    gate = ScaleGate.create(Arena.private(ScaleGate.size(2, 1, 4, 4, 0)), 2, 1, slots=4, tuples=4)
    reader = gate.reader(0)
    gate.source(0).tell_last_ts(5)
    assert (reader.until_ts(), reader.last_ts()) == (UNTOLD, 5)
    gate.source(1).tell_last_ts(3)
    assert (reader.until_ts(), reader.last_ts()) == (5, 5)


def test_its_end_comes_behind_what_waits() -> None:
    link = Link(slots=4, tuples=8)
    put(link, 0, 1)
    link.tell_last_ts(9)
    link.close()
    assert (link.drained(), link.last_ts(), link.watermark()) == (False, 9, at(0))
    assert delivered(link, 1) == [0]
    assert (link.drained(), link.outlook(), link.holding_source()) == (True, (False, END, 9), None)


def test_memory_does_not_grow_while_some_always_waits() -> None:
    link = Link(slots=1000, tuples=1000)
    put(link, 0, 10)
    for round_ in range(1000):
        put(link, 10 * (round_ + 1), 10)
        delivered(link, 10)
        assert len(link.positions) <= 40


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 9)),
        st.tuples(st.just("take"), st.integers(0, 12)),
        st.tuples(st.just("heartbeat"), st.integers(0, 3)),
        st.tuples(st.just("tell"), st.integers(0, 9)),
        st.tuples(st.just("close"), st.just(0)),
    ),
    max_size=40,
)


@given(steps=STEPS)
def test_it_says_what_a_gate_would(steps: list[tuple[str, int]]) -> None:
    gate = ScaleGate.create(Arena.private(ScaleGate.size(1, 1, ROOM, ROOM, 0)), 1, 1, slots=ROOM, tuples=ROOM)
    link, source, reader = Link(slots=ROOM, tuples=ROOM), gate.source(0), gate.reader(0)
    ts = 0
    for step, number in steps:
        if step == "put":
            positions = Positions()
            for stamp in range(ts, ts + number):
                positions.append(at(stamp))
            assert source.add(put(link, ts, number), positions, 0, number)
            ts += number
        elif step == "take":
            into = Positions()
            runs = reader.get_ready(number, into)
            assert delivered(link, number) == taken(runs) == [position.ts for position in into]
        elif step == "heartbeat":
            ts += number
            source.heartbeat(at(ts))
            link.heartbeat(at(ts))
        elif step == "tell":
            source.tell_last_ts(number)
            link.tell_last_ts(number)
        else:
            source.close()
            link.close()
        # A gate knows that nothing comes below its last tuple, a link waits to hear it.
        ready, watermark, until_ts = reader.outlook()
        assert link.ready() == ready and link.until_ts() == until_ts and link.watermark() <= watermark
        assert link.last_ts() == reader.last_ts()
        assert link.drained() == reader.drained()
        assert link.waiting_tuples() == reader.waiting_tuples()
        if step == "close":
            assert link.outlook() == reader.outlook()
            break
    ours, theirs = link.statistics(), gate.statistics()
    assert ours.sources[0].added_tuples == theirs.sources[0].added_tuples
    assert ours.readers[0].sources[0].delivered_tuples == theirs.readers[0].sources[0].delivered_tuples
    assert ours.readers[0].sources[0].waiting_tuples == theirs.readers[0].sources[0].waiting_tuples
