"""The arena refuses what it has no room for, and what it did not make."""

from __future__ import annotations

import pytest

from viper.arena import Arena, ArenaStatistics
from viper.channel import Channel
from viper.errors import ArenaError


def test_channels_take_exactly_what_they_say() -> None:
    sizes = [Channel.size(1, 1, 1), Channel.size(3, 5, 100)]
    arena = Arena(sum(sizes))
    Channel(arena, 1, slots=1, tuples=1)
    Channel(arena, 3, slots=5, tuples=100)
    assert arena.statistics() == ArenaStatistics(capacity_bytes=sum(sizes), used_bytes=sum(sizes))


def test_a_full_arena_names_the_sizes() -> None:
    size = Channel.size(1, 8, 64)
    arena = Arena(size + 100)
    Channel(arena, 1, slots=8, tuples=64)
    message = f"region of {size} bytes: {size} of the arena's {size + 100} bytes"
    with pytest.raises(ArenaError, match=message):
        Channel(arena, 1, slots=8, tuples=64)


def test_an_arena_may_be_empty() -> None:
    assert Arena(0).statistics() == ArenaStatistics(0, 0)


def test_more_than_the_system_has() -> None:
    with pytest.raises(ArenaError, match=f"the system has no {2**62} bytes"):
        Arena(2**62)


@pytest.mark.parametrize("field", ["magic", "version", "layout"])
def test_another_builds_header_is_refused_with_both_values(field: str) -> None:
    arena = Arena(10_000)
    expected = getattr(arena._handle, field)
    found = expected ^ 0xFF
    setattr(arena._handle, field, found)
    with pytest.raises(ArenaError, match=f"has {field} {found:#x}, this build expects {expected:#x}"):
        Channel(arena, 1, slots=1, tuples=1)
