"""Positions of several arrays in one order."""

from __future__ import annotations

from array import array

import pytest

from viper.errors import PositionError
from viper.interleaving import interleave_positions
from viper.position import Level, Position, Positions


def numbered(first: int, count: int) -> Positions:
    positions = Positions()
    positions.extend_logical(first, count, Level(0, 8, 0, 0))
    return positions


def test_each_array_is_gone_along_from_its_first_on() -> None:
    sources, firsts, into = [numbered(0, 4), numbered(10, 3)], array("Q", [1, 0]), Positions()
    sources[1].set_tree(1, 7)
    into.append(Position(-1, 0, 0))
    interleave_positions(sources, firsts, array("H", [1, 0, 1, 0]), into)
    assert [position.ts for position in into] == [-1, 10, 1, 11, 2]
    assert [into.tree(index) for index in range(5)] == [0, 0, 0, 7, 0]
    assert list(firsts) == [3, 2]
    interleave_positions(sources, firsts, array("H"), into)
    assert len(into) == 5


@pytest.mark.parametrize(
    ("firsts", "order", "message"),
    [
        (array("Q", [0]), array("H"), "expected 2 firsts"),
        (array("q", [0, 0]), array("H"), "expected 2 firsts"),
        (array("Q", [0, 0]), array("I"), "expected 2 firsts"),
        (array("Q", [0, 0]), array("H", [2]), "source 2: there are 2"),
        (array("Q", [3, 0]), array("H", [0, 0]), "2 positions of source 0: it has 1 more"),
    ],
)
def test_what_is_not_there_is_refused(firsts: array[int], order: array[int], message: str) -> None:
    into = Positions()
    with pytest.raises(PositionError, match=message):
        interleave_positions([numbered(0, 4), numbered(10, 3)], firsts, order, into)
    assert len(into) == 0
