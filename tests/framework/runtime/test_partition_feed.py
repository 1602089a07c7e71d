"""A task's knowledge of a partition from what its spout gives."""

from __future__ import annotations

from array import array

import pytest

from framework.operators.components import Block, Watermark
from framework.runtime.order.positions.partition_feed import PartitionFeed
from viper.position import LEAST, Level, Position


def feed_of(*given: Block | Watermark | None) -> PartitionFeed:
    feed = PartitionFeed(0, Level(0, 32, 8, 0))
    feed.open(iter(given))
    return feed


def test_a_watermark_brings_no_rows_and_raises_the_floor() -> None:
    feed = feed_of(Watermark(50), None)
    assert feed.floor == LEAST
    assert (feed.fill(), feed.waits, feed.partition.waiting) == (False, False, 0)
    assert feed.floor == Position(50, 0, 0)
    assert feed.place is None


def test_an_earlier_watermark_takes_nothing_back() -> None:
    feed = feed_of(Watermark(50), Watermark(40), None)
    assert [feed.fill() for _ in range(3)] == [False] * 3
    assert feed.waits
    assert feed.floor == Position(50, 0, 0)


def test_a_row_of_just_that_time_may_come() -> None:
    feed = feed_of(Watermark(50), Block(array("q", [50]), [("a",)]))
    assert [feed.fill(), feed.fill()] == [False, True]
    assert feed.payload.rows == [("a",)]


def test_a_block_without_rows_says_nothing() -> None:
    feed = feed_of(Block(array("q"), []), None)
    assert (feed.fill(), feed.floor) == (False, LEAST)


def test_rows_that_are_no_list_are_named() -> None:
    feed = feed_of(Block(array("q", [1]), ((1,),)))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^partition 0: rows of a block are a tuple: expected a list$"):
        feed.fill()
