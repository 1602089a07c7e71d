"""A cut is found when all have spoken, and is the same for all."""

from __future__ import annotations

import pytest

from viper.arena import Arena
from viper.cut import Cut
from viper.errors import ArenaError


@pytest.fixture
def arena() -> Arena:
    return Arena.private(10_000)


def test_the_latest_word_once_all_have_spoken(arena: Arena) -> None:
    cut = Cut.create(arena, 3)
    other = Cut.attach(arena, cut.offset, 3)
    cut.say(0, 5)
    other.say(2, 9)
    assert cut.at is None and other.at is None
    cut.say(1, -(2**63))
    assert cut.at == other.at == 9


def test_only_the_first_word_of_a_member_counts(arena: Arena) -> None:
    cut = Cut.create(arena, 1)
    cut.say(0, 5)
    cut.say(0, 7)
    assert cut.at == 5


@pytest.mark.parametrize("member", [-1, 2])
def test_strangers_have_no_say(arena: Arena, member: int) -> None:
    cut = Cut.create(arena, 2)
    with pytest.raises(IndexError, match=f"^member {member}: expected 0 to 1$"):
        cut.say(member, 1)


def test_no_room(arena: Arena) -> None:
    with pytest.raises(ArenaError):
        Cut.create(arena, 10_000)
