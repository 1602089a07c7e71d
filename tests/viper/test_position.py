"""Positions against their reference, and the properties that the order guarantee rests on."""

from __future__ import annotations

import struct
from array import array
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viper import reference
from viper.errors import PositionError
from viper.position import END, LEAST, Level, Position, Positions, SourceClock

WORD = 2**64 - 1
TIMESTAMPS = st.integers(-(2**63), 2**63 - 2)


def positions_of(items: list[Position]) -> Positions:
    made = Positions()
    for item in items:
        made.append(item)
    return made


@st.composite
def levels(draw: st.DrawFn, narrow: bool = False) -> Level:
    ordinal_bits = draw(st.integers(0, 3 if narrow else 63))
    tag_bits = draw(st.integers(0, min(63, 128 - ordinal_bits)))
    offset = draw(st.integers(0, 128 - ordinal_bits - tag_bits))
    return Level(offset, ordinal_bits, tag_bits, draw(st.integers(0, 2**tag_bits)))


@st.composite
def parents(draw: st.DrawFn) -> list[Position]:
    """A few positions in order; equal ones, and ones full of zeros and ones, are likely."""
    words = st.one_of(st.sampled_from([0, 1, 2**63, WORD - 1, WORD]), st.integers(0, WORD))
    positions = st.builds(Position, st.integers(0, 2), words, words)
    return sorted(draw(st.lists(positions, min_size=1, max_size=6)))


@given(parents(), levels(narrow=True), st.data())
def test_children_are_those_of_the_reference(
    items: list[Position], level: Level, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(items)), label="first")
    counts = data.draw(st.lists(st.integers(0, 4), min_size=len(items) - first, max_size=len(items) - first))
    first_ordinal = data.draw(st.integers(0, 9) | st.integers(WORD - 9, WORD), label="first_ordinal")
    ends = list(accumulate(counts))
    out = Positions()
    saturated = out.extend_children(
        positions_of(items), first, len(counts), array("I", ends), first_ordinal, level
    )
    assert (list(out), saturated) == reference.children(items[first:], ends, first_ordinal, level)


@given(parents(), levels(narrow=True), st.data())
def test_children_of_parents_in_order_are_in_order(
    items: list[Position], level: Level, data: st.DataObject
) -> None:
    counts = data.draw(st.lists(st.integers(0, 4), min_size=len(items), max_size=len(items)))
    out = Positions()
    out.extend_children(positions_of(items), 0, len(items), array("I", accumulate(counts)), 0, level)
    assert list(out) == sorted(out)


@given(levels(), TIMESTAMPS, st.integers(1, 2**63))
def test_wide_levels_cross_the_words_of_a_path(level: Level, ts: int, ordinal: int) -> None:
    out = Positions()
    out.extend_children(positions_of([Position(ts, 0, 0)]), 0, 1, array("I", [1]), ordinal - 1, level)
    assert out.last() == reference.place(Position(ts, 0, 0), ordinal, level)[0]


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3), min_size=2, max_size=4))
def test_descendants_stand_where_a_depth_first_walk_meets_them(fanouts: list[list[int]]) -> None:
    """Hop by hop through a topology, as jumbo tuples go, gives the order of a walk by recursion."""

    def walk(path: tuple[int, ...], depth: int) -> list[tuple[int, ...]]:
        if depth == len(fanouts):
            return [path]
        fanout = fanouts[depth][sum(path) % len(fanouts[depth])]
        return [leaf for child in range(1, fanout + 1) for leaf in walk((*path, child), depth + 1)]

    paths: list[tuple[int, ...]] = [()]
    placed = positions_of([Position(0, 0, 0)])
    for depth, choices in enumerate(fanouts):
        counts = [choices[sum(path) % len(choices)] for path in paths]
        paths = [(*path, k) for path, n in zip(paths, counts, strict=True) for k in range(1, n + 1)]
        following = Positions()
        level = Level(128 - 32 * (depth + 1), 30, 2, depth % 4)
        ends = array("I", accumulate(counts))
        assert following.extend_children(placed, 0, len(placed), ends, 0, level) == 0
        placed = following
    assert paths == walk((), 0)
    assert all(a < b for a, b in pairwise(placed))


def test_outputs_that_come_in_pieces_count_on() -> None:
    level, one = Level(64, 20, 0, 0), positions_of([Position(3, 0, 0)])
    whole, pieces = Positions(), Positions()
    whole.extend_children(one, 0, 1, array("I", [5]), 0, level)
    pieces.extend_children(one, 0, 1, array("I", [2]), 0, level)
    pieces.extend_children(one, 0, 1, array("I", [3]), 2, level)
    assert list(whole) == list(pieces)


@given(TIMESTAMPS, st.integers(0, 50), levels())
def test_logical_sources_count_timestamps(first_ts: int, count: int, level: Level) -> None:
    count = min(count, END.ts - first_ts)
    out = Positions()
    out.extend_logical(first_ts, count, level)
    path = reference.path_of(reference.place(Position(0, 0, 0), 1, level)[0])
    assert list(out) == [reference.with_path(first_ts + i, path) for i in range(count)]


def test_logical_timestamps_must_not_reach_the_end() -> None:
    with pytest.raises(PositionError, match=r"expected timestamps from -2\*\*63 to 2\*\*63 - 2"):
        Positions().extend_logical(END.ts - 1, 2, Level(0, 8, 0, 0))


@given(st.lists(st.integers(-3, 3)), levels(narrow=True), st.integers(0, 5))
def test_timed_sources_are_those_of_the_reference(stamps: list[int], level: Level, cut: int) -> None:
    clock, out = SourceClock(), Positions()
    expected, saturated = reference.timed(stamps, level)
    placed = out.extend_timed(array("q", stamps[:cut]), clock, level)
    if placed == len(stamps[:cut]):
        placed += out.extend_timed(array("q", stamps[cut:]), clock, level)
    assert list(out) == expected
    assert (placed, clock.overflowed) == (len(expected), saturated)
    assert clock.ts == (expected[-1].ts if expected else LEAST.ts)


@given(st.lists(st.integers(0, 5)), st.integers(1, 4))
def test_scatter_divides_and_drops(targets: list[int], count: int) -> None:
    positions = positions_of([Position(i, 0, 0) for i in range(len(targets))])
    outs = [Positions() for _ in range(count)]
    positions.scatter(array("H", targets), outs)
    for target, out in enumerate(outs):
        assert [p.ts for p in out] == [i for i, chosen in enumerate(targets) if chosen == target]


def test_an_array_grows_and_can_be_cleared() -> None:
    positions = Positions()
    positions.extend_logical(0, 5000, Level(0, 8, 0, 0))
    positions.extend_from(positions, 4990, 10)
    assert len(positions) == 5010
    assert positions[-1] == positions.last() == positions[4999]
    assert positions.last_ts() == positions.last().ts
    assert [positions.ts(index) for index in range(len(positions))] == [place.ts for place in positions]
    positions.clear()
    assert (len(positions), list(positions), positions.last_ts()) == (0, [], LEAST.ts)


@pytest.mark.parametrize("count", [0, 1, 5, 40])
@pytest.mark.parametrize("held", [0, 3])
def test_all_of_another_array_follow_what_there_was(held: int, count: int) -> None:
    """Also where so many lie on a line that they are kept as one."""
    positions, more = Positions(), Positions()
    positions.extend_logical(1, held, Level(0, 8, 0, 0))
    more.extend_logical(10, count, Level(0, 8, 0, 0))
    expected = [*positions, *more]
    positions.extend(more)
    assert list(positions) == expected
    assert positions.last_ts() == (expected[-1].ts if expected else LEAST.ts)


def test_what_is_out_of_range_is_refused() -> None:
    positions = positions_of([LEAST, END])
    with pytest.raises(IndexError, match="index 2 out of range: there are 2 positions"):
        positions[2]
    with pytest.raises(IndexError, match="index -1 out of range"):
        Positions().last()
    with pytest.raises(IndexError, match=r"\[1, 3\) out of range: there are 2"):
        Positions().extend_from(positions, 1, 2)
    with pytest.raises(PositionError, match="1 ends for 2 inputs"):
        Positions().extend_children(positions, 0, 2, array("I", [1]), 0, Level(0, 8, 0, 0))
    with pytest.raises(PositionError, match=r"ends \[2, 1\]: expected none to be smaller"):
        Positions().extend_children(positions, 0, 2, array("I", [2, 1]), 0, Level(0, 8, 0, 0))
    with pytest.raises(PositionError, match="1 targets for 2 positions"):
        positions.scatter(array("H", [0]), [Positions()])


@pytest.mark.parametrize("widths", [(-1, 8, 8), (0, 64, 0), (0, 0, 64), (100, 20, 9), (0, -1, 0)])
def test_a_level_must_fit_a_path(widths: tuple[int, int, int]) -> None:
    with pytest.raises(PositionError, match="expected widths from 0 to 63 that fit"):
        Level(*widths, tag=0)


def test_a_tag_is_a_word() -> None:
    with pytest.raises(PositionError, match="expected a tag from 0"):
        Level(0, 8, 8, -1)


def test_native_buffers_of_any_kind_are_read() -> None:
    out, parent = Positions(), positions_of([LEAST])
    ends = array("I", [2])
    for buffer in (ends, ends.tobytes(), memoryview(ends), bytearray(ends.tobytes())):
        out.extend_children(parent, 0, 1, buffer, 0, Level(0, 8, 0, 0))
    assert [p.lo for p in out] == [1, 2] * 4


def test_a_short_array_says_what_it_holds() -> None:
    assert repr(positions_of([LEAST])) == f"Positions([{LEAST!r}])"
    assert repr(positions_of([LEAST] * 5)) == "Positions(5 of them)"


def test_positions_as_bytes() -> None:
    positions = Positions()
    assert positions.to_bytes() == b""
    some = [LEAST, Position(-1, 2, 3), END]
    for position in some:
        positions.append(position)
    assert list(struct.iter_unpack("=qQQ", positions.to_bytes())) == some


def test_saturation_of_logical_timestamps_is_counted() -> None:
    """One ordinal is reserved, so a level of one bit has room for none, and a tag too wide leaves no room."""
    out = Positions()
    assert out.extend_logical(5, 3, Level(0, 2, 0, 0)) == 0
    assert out.extend_logical(5, 3, Level(0, 1, 0, 0)) == 3
    assert out.extend_logical(5, 0, Level(0, 1, 0, 0)) == 0
    assert out.extend_logical(5, 2, Level(8, 8, 2, 4)) == 2
    assert [position.ts for position in out] == [5, 6, 7, 5, 6, 7, 5, 6]


@pytest.mark.parametrize("wrong", [-1, 2**64])
def test_ordinals_out_of_range(wrong: int) -> None:
    out = Positions()
    with pytest.raises(PositionError, match=f"first_ordinal={wrong}: expected 0 to"):
        out.extend_children(positions_of([LEAST]), 0, 1, array("I", [1]), wrong, Level(0, 8, 0, 0))


@pytest.mark.parametrize("before", [0, 2])
def test_what_is_taken_over_is_not_there_any_more(before: int) -> None:
    ours = positions_of([Position(ts, 0, 0) for ts in range(before)])
    theirs = positions_of([Position(ts, 0, 0) for ts in range(before, 5)])
    ours.take_over(theirs)
    assert ([position.ts for position in ours], list(theirs)) == ([0, 1, 2, 3, 4], [])
    theirs.append(END)
    assert (len(ours), theirs.last()) == (5, END)


def test_a_part_of_positions_is_a_slice_of_all() -> None:
    positions = Positions()
    for ts in range(9):
        positions.append(Position(ts, ts, 1))
    for first in range(11):
        for count in range(11):
            assert positions.part(first, count) == list(positions)[first : first + count]
