"""The tree of tracked tuples that a position carries beside its place."""

from __future__ import annotations

from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.arena import Arena
from viper.errors import PositionError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import END, Level, Position, Positions, SourceClock

LEVEL = Level(0, 2, 2, 1)
WIDEST = 2**64 - 1


def numbered(*trees: int) -> Positions:
    """Positions in order, in these trees."""
    made = Positions()
    for ts, tree in enumerate(trees):
        made.append(Position(ts, 0, 0))
        made.set_tree(ts, tree)
    return made


def all_trees(positions: Positions) -> list[int]:
    return positions.trees(0, len(positions)).tolist()


def test_what_has_just_been_made_has_none() -> None:
    made = Positions()
    made.append(END)
    made.extend_logical(5, 2, LEVEL)
    made.extend_timed(array("q", [7, 7]), SourceClock(), LEVEL)
    assert all_trees(made) == [0] * 5
    assert not made.tracked()


def test_trees_are_set_and_read() -> None:
    made = numbered(0, 0, 0, 0)
    made.set_tree(-1, WIDEST)
    made.set_trees([2, 0], array("Q", [7, 8]))
    assert (made.tree(0), made.tree(-1)) == (8, WIDEST)
    made.set_trees(array("I", [0]), array("Q", [9]))
    assert all_trees(made) == [9, 0, 7, WIDEST]
    found = made.trees(1, 2)
    assert (found.typecode, found.tolist()) == ("Q", [0, 7])
    assert len(made.trees(4, 0)) == 0


def test_whether_any_is_tracked() -> None:
    made = numbered(0, 5, 0)
    assert [made.tracked(), made.tracked(1), made.tracked(2), made.tracked(99)] == [True, True, False, False]
    made.set_tree(1, 0)
    assert not made.tracked()


def test_those_without_a_tree_are_counted() -> None:
    made = numbered(0, 5, 0, 6)
    assert [made.untracked(), made.untracked(1), made.untracked(1, 2), made.untracked(4)] == [2, 1, 1, 0]
    on_line = Positions()
    on_line.extend_logical(5, 9, LEVEL)
    assert [on_line.untracked(), on_line.untracked(2, 3)] == [9, 3]
    for first, count in ((0, 10), (10, None), (-1, 1)):
        with pytest.raises(IndexError):
            on_line.untracked(first, count)


def test_outputs_are_in_their_inputs_tree() -> None:
    parents, made = numbered(1, 0, 3), Positions()
    assert made.extend_children(parents, 0, 3, array("I", [5, 6, 8]), 0, LEVEL) == 3  # saturated
    assert all_trees(made) == [1, 1, 1, 1, 1, 0, 3, 3]


def test_trees_go_where_their_positions_go() -> None:
    made, outs = numbered(1, 2, 3, 4), [Positions(), Positions()]
    made.extend_from(made, 1, 2)
    made.scatter(array("H", [0, 1, 1, 7, 0, 1]), outs)
    assert [all_trees(out) for out in outs] == [[1, 2], [2, 3, 3]]


def test_trees_cross_a_gate_and_its_merge() -> None:
    gate = ScaleGate.create(Arena.private(100_000), 2, slots=4, tuples=16)
    odd, even = numbered(1, 0, 3), numbered(0, 2)
    assert gate.source(0).add(Jumbo(Rows([(0,), (1,), (2,)])), odd, 0, 3)
    assert gate.source(1).add(Jumbo(Rows([(0,), (1,)])), even, 0, 2)
    for index in range(2):
        gate.source(index).close()
    into = Positions()
    gate.reader(0).get_ready(10, into)
    assert all_trees(into) == [1, 0, 0, 2, 3]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=2, max_size=8))
def test_trees_take_no_part_in_order_or_bytes(items: list[tuple[int, int]]) -> None:
    """A gate takes positions in order whatever their trees are; what is recorded of them has no trees."""
    gate = ScaleGate.create(Arena.private(100_000), 1, slots=4, tuples=16)
    positions = Positions()
    for index, (ts, tree) in enumerate(sorted(items, key=lambda item: (item[0], -item[1]))):
        positions.append(Position(ts, 0, 0))
        positions.set_tree(index, tree)
    assert all(a <= b for a, b in pairwise(positions))
    assert gate.source(0).add(Jumbo(Rows([()] * len(items))), positions, 0, len(items))
    packed = positions.to_bytes()
    assert len(packed) == 24 * len(items)
    for index in range(len(items)):
        positions.set_tree(index, 0)
    assert positions.to_bytes() == packed


def test_what_is_out_of_range_is_refused() -> None:
    made = numbered(0, 0)
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"index {index} out of range: there are 2"):
            made.tree(index)
        with pytest.raises(IndexError, match=f"index {index} out of range: there are 2"):
            made.set_tree(index, 1)
    with pytest.raises(IndexError, match=r"\[1, 3\) out of range"):
        made.trees(1, 2)
    with pytest.raises(IndexError, match=r"an index of \[0, 2\]: there are 2 positions"):
        made.set_trees([0, 2], array("Q", [1, 1]))
    with pytest.raises(PositionError, match="1 trees for 2 positions"):
        made.set_trees([0, 1], array("Q", [1]))
    with pytest.raises(PositionError, match="indexes of 32 bits and trees of 64"):
        made.set_trees([0, 1], array("I", [1, 1]))
    with pytest.raises(PositionError, match="indexes of 32 bits and trees of 64"):
        made.set_trees(array("B", [0, 1, 0, 1]), array("Q", [1, 1, 1, 1]))
