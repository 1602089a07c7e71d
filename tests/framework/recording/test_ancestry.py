"""The ancestry of a tuple, read from its position."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.model.topology import Role
from framework.planning import ComponentLevel, Plan, TimeMode
from framework.recording import Header, Hop, line_of_descent
from framework.recording.header import RecordedComponent, header_of
from tests.framework.recording.pieces import plan_of, position
from viper.position import LEAST, Level, Position, Positions


@pytest.fixture
def plan() -> Plan:
    return plan_of(3, 2, 2)


def child(parent: Position, level: Level, nth: int) -> Position:
    """The nth output, from 1 upwards, for an input."""
    above, positions = Positions(), Positions()
    above.append(parent)
    positions.extend_children(above, 0, 1, array("I", [1]), nth - 1, level)
    return positions[0]


def test_every_hop_is_found(plan: Plan) -> None:
    levels = plan.layout.components
    line = child(position(7), levels["lines"].level(copy=2), 5)
    word = child(line, levels["split"].level(), 3)
    count = child(word, levels["count"].level(), 1)
    assert line_of_descent(count, "count", header_of(plan)) == (
        Hop(line, "lines", 2, 5),
        Hop(word, "split", 0, 3),
        Hop(count, "count", 0, 1),
    )
    assert line_of_descent(line, "lines", header_of(plan)) == (Hop(line, "lines", 2, 5),)


def test_what_was_emitted_at_a_tick_descends_from_no_spout(plan: Plan) -> None:
    levels = plan.layout.components
    word = child(position(60_000_000), levels["split"].level(), 1)
    count = child(word, levels["count"].level(), 2)
    assert line_of_descent(count, "count", header_of(plan)) == (
        Hop(word, "split", 0, 1),
        Hop(count, "count", 0, 2),
    )


def test_what_was_emitted_before_all_input_descends_from_nothing(plan: Plan) -> None:
    first = child(LEAST, plan.layout.components["count"].level(), 1)
    assert line_of_descent(first, "count", header_of(plan)) == (Hop(first, "count", 0, 1),)


def header(*depths: list[ComponentLevel]) -> Header:
    components = [
        RecordedComponent(f"{depth}.{tag}", Role.BOLT if depth else Role.SPOUT, (), level)
        for depth, levels in enumerate(depths)
        for tag, level in enumerate(levels)
    ]
    return Header("made", TimeMode.LOGICAL, tuple(components), ())


def test_where_the_path_had_no_room_the_line_ends() -> None:
    spout = ComponentLevel(0, 8, ordinal_bits=4, tag_bits=1, tag=0, copy_bits=1)
    bolt = ComponentLevel(1, 4, ordinal_bits=2, tag_bits=2, tag=1, copy_bits=1)
    made = header([spout], [bolt])
    line = child(position(1), spout.level(1), 14)
    assert line_of_descent(child(line, bolt.level(1), 2), "1.0", made)[0] == Hop(line, "0.0", 1, 14)
    # The third output needs the ordinal that is reserved.
    crowded = child(line, bolt.level(1), 3)
    assert line_of_descent(crowded, "1.0", made) == (Hop(line, "0.0", 1, 14), Hop(crowded, "1.0", 0, 0))
    # A saturated spout's position says nothing of what descends from it either.
    line = child(position(1), spout.level(1), 15)
    assert line_of_descent(child(line, bolt.level(1), 1), "1.0", made) == (Hop(line, None), Hop(line, "1.0"))


def test_a_level_without_any_bits_names_nobody() -> None:
    spout = ComponentLevel(0, 0, ordinal_bits=4, tag_bits=1, tag=0, copy_bits=1)
    bolts = [ComponentLevel(depth, 0, 0, 0, 0, 0) for depth in (1, 2)]
    line = child(position(1), spout.level(), 3)
    found = line_of_descent(line, "2.0", header([spout], *([bolt] for bolt in bolts)))
    assert found == (Hop(line, "0.0", 0, 3), Hop(line, None), Hop(line, "2.0"))


@given(seed=st.integers(0, 2**32 - 1))
def test_any_way_through_any_layout_is_found_again(seed: int) -> None:
    print("seed", seed)
    rng = random.Random(seed)
    depths: list[list[ComponentLevel]] = []
    free = 128
    for depth in range(rng.randint(1, 6)):
        copy_bits, width = rng.randint(0, 6), rng.randint(1, 4)
        tag_bits, bits = (width - 1).bit_length() + copy_bits, rng.randint(2, 10)
        free -= tag_bits + bits
        depths.append([ComponentLevel(depth, free, bits, tag_bits, tag, copy_bits) for tag in range(width)])
    at, expected = position(rng.randint(-(2**62), 2**62)), []
    for depth, levels in enumerate(depths):
        if rng.random() < 0.3 and depth < len(depths) - 1:
            continue  # a shorter way
        tag = rng.randrange(len(levels))
        copy = rng.randrange(1 << levels[tag].copy_bits)
        ordinal = rng.randint(1, (1 << levels[tag].ordinal_bits) - 2)
        at = child(at, levels[tag].level(copy), ordinal)
        expected.append(Hop(at, f"{depth}.{tag}", copy, ordinal))
    assert expected[-1].component is not None
    assert line_of_descent(at, expected[-1].component, header(*depths)) == tuple(expected)
