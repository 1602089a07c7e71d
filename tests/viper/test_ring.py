"""The producing end: what it refuses, and how it says so."""

from __future__ import annotations

import gc
import weakref

import pytest

from viper.arena import Arena
from viper.channel import Channel, Heartbeats, Source
from viper.errors import JumboSizeError, OrderError, SourceClosedError
from viper.position import END, LEAST, Position, Positions


def at(*timestamps: int) -> Positions:
    positions = Positions()
    for ts in timestamps:
        positions.append(Position(ts, 0, 0))
    return positions


def make_channel(sources: int = 1, slots: int = 4, tuples: int = 8) -> Channel:
    return Channel(Arena(Channel.size(sources, slots, tuples)), sources, slots=slots, tuples=tuples)


def add(source: Source, *timestamps: int) -> bool:
    return source.add(list(timestamps), at(*timestamps), 0, len(timestamps))


def test_a_full_source_takes_nothing() -> None:
    channel = make_channel(slots=2)
    source = channel.source(0)
    assert add(source, 1) and add(source, 2)
    assert not source.room(1)
    assert not add(source, 3)
    assert source.floor().ts == 2
    assert [payload for _, payload, _, _ in channel.get_ready(10, Positions())] == [[1], [2]]
    assert source.room(8) and add(source, 3)


def test_descending_positions_are_refused_naming_both() -> None:
    source = make_channel().source(0)
    assert add(source, 5)
    with pytest.raises(OrderError, match=r"tuple 0 .* at Position\(ts=4, .* nothing below Position\(ts=5,"):
        add(source, 4)
    with pytest.raises(OrderError, match=r"tuple 2 .* at Position\(ts=6, .* nothing below Position\(ts=7,"):
        add(source, 6, 7, 6)
    source.heartbeat(Position(9, 0, 1))
    with pytest.raises(OrderError, match=r"at Position\(ts=9, hi=0, lo=0\), expected nothing below .*lo=1\)"):
        add(source, 9)
    assert source.add(["same"], _one(Position(9, 0, 1)), 0, 1)


def _one(position: Position) -> Positions:
    positions = Positions()
    positions.append(position)
    return positions


def test_a_closed_source_takes_nothing_more() -> None:
    source = make_channel().source(0)
    source.close()
    source.close()
    assert source.floor() == END
    with pytest.raises(SourceClosedError, match=r"source 0 was closed: it cannot add at Position\(ts=1,"):
        add(source, 1)


def test_the_end_is_no_tuples_position() -> None:
    with pytest.raises(OrderError, match="is reserved"):
        make_channel().source(0).add(["x"], _one(END), 0, 1)


def test_sizes_that_can_never_be_taken_are_errors() -> None:
    source = make_channel(tuples=8).source(0)
    with pytest.raises(JumboSizeError, match="of 9 tuples: source 0 of the channel takes from 1 to 8"):
        add(source, *range(9))
    with pytest.raises(JumboSizeError, match="a jumbo tuple of 0 tuples"):
        add(source)
    for count in (0, 9):
        with pytest.raises(JumboSizeError, match=f"a jumbo tuple of {count} tuples"):
            source.room(count)
    with pytest.raises(JumboSizeError, match="a payload of 2 items for 1 positions"):
        source.add(["a", "b"], at(1, 2), 0, 1)
    with pytest.raises(IndexError, match=r"\[1, 3\) out of range: there are 2 positions"):
        source.add(["a", "b"], at(1, 2), 1, 2)


class Payload(list[str]):
    """A list that can be referred to weakly."""


def test_a_payload_is_handed_over_by_reference_and_let_go() -> None:
    channel = make_channel()
    payload = Payload("abc")
    assert channel.source(0).add(payload, at(0, 1, 2, 3), 1, 3)
    alive = weakref.ref(payload)
    del payload
    into = Positions()
    (first,) = channel.get_ready(2, into)
    (second,) = channel.get_ready(2, into)
    assert first[1] is second[1] is alive()
    assert (first[2:], second[2:]) == ((0, 2), (2, 1))
    assert [p.ts for p in into] == [1, 2, 3]
    del first, second
    gc.collect()
    assert alive() is None


def test_one_call_publishes_to_many_channels() -> None:
    channels = [make_channel(), make_channel(sources=2), make_channel()]
    sources = [channels[0].source(0), channels[1].source(1), channels[2].source(0)]
    heartbeats = Heartbeats(sources)
    heartbeats.publish(Position(7, 1, 2))
    assert [source.floor() for source in sources] == [Position(7, 1, 2)] * 3
    assert [channel.frontier() for channel in channels] == [Position(7, 1, 2), LEAST, Position(7, 1, 2)]
    heartbeats.publish(Position(3, 0, 0))
    assert channels[0].frontier() == Position(7, 1, 2)
    heartbeats.publish(END)
    assert [channel.drained() for channel in channels] == [True, False, True]


def test_nobody_to_tell_is_fine() -> None:
    Heartbeats([]).publish(END)


def test_a_source_keeps_its_memory() -> None:
    source = make_channel().source(0)
    gc.collect()
    assert add(source, 1) and source.floor().ts == 1
