"""The numbers of outputs of inputs, in every form, and the positions made of them, against those apart."""

from __future__ import annotations

from array import array
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.lineage import Descent, Fanout
from viper.position import Level, Position, Positions

LEVELS = [Level(96, 24, 8, 3), Level(64, 24, 8, 5), Level(40, 20, 4, 1), Level(20, 6, 4, 2)]
MOST = 400


def bits_of(kept: list[bool]) -> bytes:
    words = array("Q", bytes((len(kept) + 63) // 64 * 8))
    for index, bit in enumerate(kept):
        words[index // 64] |= bit << index % 64
    return words.tobytes()


def by_ends(counts: list[int]) -> Fanout:
    return Fanout.of_ends(array("I", accumulate(counts)))


def shortest(counts: list[int]) -> Fanout:
    """The form that takes least memory."""
    if all(count == 1 for count in counts):
        return Fanout(len(counts))
    if max(counts) <= 1:
        return Fanout(len(counts), bits_of([count == 1 for count in counts]))
    return by_ends(counts)


@st.composite
def counts_of(draw: st.DrawFn, inputs: int) -> list[int]:
    """Draw the numbers of outputs of so many inputs, mostly alike over long stretches."""
    most = draw(st.sampled_from([0, 1, 1, 1, 3, 30]))
    made: list[int] = []
    while len(made) < inputs:
        made += [draw(st.integers(0, most))] * draw(st.integers(1, 60))
    return made[:inputs]


@given(st.integers(1, 200).flatmap(counts_of), st.data())
def test_every_form_tells_the_same(counts: list[int], data: st.DataObject) -> None:
    fanout, expected = shortest(counts), list(accumulate(counts))
    assert (len(fanout), fanout.inputs) == (len(counts), len(counts))
    assert fanout.ends.tolist() == expected
    count = data.draw(st.integers(0, len(counts)), label="first")
    assert fanout.first(count).ends.tolist() == expected[:count]
    assert fanout.followed_by(shortest(counts), 5).ends.tolist() == expected + [5 + end for end in expected]
    assert Fanout.of_none(count).ends.tolist() == [0] * count


def apart(positions: Positions) -> Positions:
    """The same, each by itself."""
    made = Positions()
    for position in positions:
        made.append(position)
    return made


@given(st.data())
def test_outputs_stand_where_those_of_positions_apart_do(data: st.DataObject) -> None:
    """Hop by hop, in portions, from what a source counts."""
    line = Positions()
    line.extend_logical(data.draw(st.integers(-500, 500)), data.draw(st.integers(1, 200)), LEVELS[0])
    same = apart(line)
    for level in LEVELS[1:]:
        counts = data.draw(counts_of(len(line)))
        if not 0 < sum(counts) <= MOST:
            return
        cut = data.draw(st.integers(0, len(line)))
        found, expected = Positions(), Positions()
        descent, reference = Descent(), Descent()
        for first, portion in ((0, counts[:cut]), (cut, counts[cut:])):
            placed, by_itself = Positions(), Positions()
            if portion:
                saturated = descent.place(line, first, shortest(portion), level, placed)
                assert saturated == reference.place(same, first, by_ends(portion), level, by_itself)
            assert list(placed) == list(by_itself)
            found.extend(placed)
            expected.extend(by_itself)
        assert (descent.parent, descent.children) == (reference.parent, reference.children)
        expect_same(found, expected, data)
        first = data.draw(st.integers(0, len(found) - 1))
        line, same = Positions(), Positions()
        line.extend_from(found, first, len(found) - first)
        same.extend_from(expected, first, len(found) - first)


def expect_same(found: Positions, expected: Positions, data: st.DataObject) -> None:
    """Check all methods of positions on a line."""
    assert list(found) == list(expected)
    assert (found.last(), found.last_ts()) == (expected.last(), expected.last_ts())
    assert found.to_bytes() == expected.to_bytes()
    assert not found.tracked()
    assert not any(found.trees(0, len(found)))
    targets = array("H", data.draw(st.lists(st.integers(0, 2), min_size=len(found), max_size=len(found))))
    divided, reference = [Positions(), Positions()], [Positions(), Positions()]
    found.scatter(targets, divided)
    expected.scatter(targets, reference)
    assert [*map(list, divided)] == [*map(list, reference)]


def test_outputs_of_all_but_one_take_next_to_no_memory_in_a_channel() -> None:
    """Positions on a line are stored as bits: to read one of a million copies none of them."""
    line, out = Positions(), Positions()
    line.extend_logical(0, 1_000_000, LEVELS[0])
    kept = bits_of([index != 500_000 for index in range(1_000_000)])
    Descent().place(line, 0, Fanout(1_000_000, kept), LEVELS[1], out)
    assert len(out) == 999_999
    assert (out[0].ts, out[499_999].ts, out[500_000].ts, out.last().ts) == (0, 499_999, 500_001, 999_999)


def test_there_are_no_more_inputs_than_positions() -> None:
    line = Positions()
    line.append(Position(1, 0, 0))
    with pytest.raises(IndexError, match=r"\[0, 2\) out of range: there are 1 positions"):
        Descent().place(line, 0, Fanout(2), LEVELS[1], Positions())


def test_fewer_bits_or_ends_than_inputs_are_refused() -> None:
    assert len(Fanout(64, bytes(8))) == 64
    with pytest.raises(ValueError, match="8 bytes of bits for 65 inputs"):
        Fanout(65, bytes(8))
    with pytest.raises(ValueError, match="2 ends for 3 inputs"):
        Fanout(3, None, memoryview(array("I", [1, 2])))
