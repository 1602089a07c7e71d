"""Channels by example; `test_channel_model` has the same against a reference."""

from __future__ import annotations

import pytest

from viper.arena import Arena
from viper.channel import Channel, ChannelStatistics, SourceStatistics
from viper.position import END, LEAST, Position, Positions


def make_channel(sources: int, slots: int = 4, tuples: int = 32) -> Channel:
    return Channel(Arena(Channel.size(sources, slots, tuples)), sources, slots=slots, tuples=tuples)


def add(channel: Channel, source: int, *timestamps: int) -> None:
    positions = Positions()
    for ts in timestamps:
        positions.append(Position(ts, 0, 0))
    payload = [f"{source}:{ts}" for ts in timestamps]
    assert channel.source(source).add(payload, positions, 0, len(payload))


def deliver(channel: Channel, limit: int = 100) -> list[str]:
    runs = channel.get_ready(limit, Positions())
    return [item for _, payload, first, count in runs for item in payload[first : first + count]]


def test_a_source_that_has_not_spoken_holds_everything() -> None:
    channel = make_channel(2)
    add(channel, 0, 1, 2)
    assert not channel.ready() and deliver(channel) == []
    assert (channel.holding_source(), channel.frontier()) == (1, LEAST)
    channel.source(1).heartbeat(Position(2, 0, 0))
    assert channel.ready() and channel.holding_source() is None
    assert channel.frontier() == Position(1, 0, 0)
    assert deliver(channel) == ["0:1", "0:2"]  # ties go to the lower index
    assert channel.holding_source() == 0


def test_a_tie_waits_for_the_lower_index() -> None:
    channel = make_channel(2)
    add(channel, 1, 5)
    channel.source(0).heartbeat(Position(5, 0, 0))
    assert not channel.ready() and channel.holding_source() == 0
    add(channel, 0, 5)
    channel.source(0).heartbeat(Position(5, 0, 1))
    assert deliver(channel) == ["0:5", "1:5"]


def test_closed_sources_let_the_rest_go() -> None:
    channel = make_channel(3)
    add(channel, 1, 8, 9)
    for index in range(3):
        channel.source(index).close()
    assert not channel.drained()
    assert deliver(channel) == ["1:8", "1:9"]
    assert channel.drained() and channel.frontier() == END
    assert channel.holding_source() is None and not channel.ready()


def test_runs_are_as_long_as_order_allows() -> None:
    channel = make_channel(2)
    add(channel, 0, 1, 2, 3, 10, 11)
    add(channel, 1, 4, 5, 6)
    for index in range(2):
        channel.source(index).close()
    runs = channel.get_ready(100, Positions())
    assert [(source, first, count) for source, _, first, count in runs] == [(0, 0, 3), (1, 0, 3), (0, 3, 2)]


def test_more_runs_than_one_call_returns_come_in_several() -> None:
    channel = make_channel(2, slots=1, tuples=512)
    add(channel, 0, *range(0, 1000, 2))
    add(channel, 1, *range(1, 1000, 2))
    channel.source(0).close()
    channel.source(1).close()
    delivered = []
    while channel.ready():
        delivered += deliver(channel, limit=1000)
    assert [int(item[2:]) for item in delivered] == list(range(1000))


def test_statistics_count_what_passed_and_what_waits() -> None:
    channel = make_channel(2, slots=3, tuples=5)
    add(channel, 0, 1, 2, 3)
    add(channel, 0, 4, 5)
    positions = Positions()
    positions.append(Position(6, 0, 0))
    for _ in range(2):
        assert channel.source(0).add(["x"], positions, 0, 1)
    assert not channel.source(0).add(["x"], positions, 0, 1)
    channel.source(1).heartbeat(Position(3, 9, 9))
    assert len(deliver(channel)) == 3
    first = SourceStatistics(
        added_jumbos=4,
        added_tuples=7,
        refused=1,
        delivered_tuples=3,
        runs=1,
        waiting_jumbos=3,
        waiting_tuples=4,
    )
    silent = SourceStatistics(0, 0, 0, 0, 0, 0, 0)
    assert channel.statistics() == ChannelStatistics(slots=4, tuples=8, sources=(first, silent))


@pytest.mark.parametrize("wrong", [{"sources": 0}, {"slots": 0}, {"tuples": 2**31 + 1}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    numbers = {"sources": 1, "slots": 1, "tuples": 1, **wrong}
    ((name, found),) = wrong.items()
    with pytest.raises(ValueError, match=rf"{name}={found}: expected 1 to 2\*\*31"):
        Channel.size(**numbers)
