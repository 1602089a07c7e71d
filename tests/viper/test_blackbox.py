"""The black box keeps the last whole record, whenever its writer dies."""

from __future__ import annotations

import pytest

from viper.arena import Arena
from viper.blackbox import BlackBox
from viper.errors import ArenaError

CAPACITY = 32


@pytest.fixture
def arena() -> Arena:
    return Arena.shared(BlackBox.size(CAPACITY))


def test_the_last_record_is_read_wherever_the_box_is_attached(arena: Arena) -> None:
    box = BlackBox.create(arena, CAPACITY)
    assert box.read() is None
    elsewhere = BlackBox.attach(Arena.attach(arena.handle()), box.offset, CAPACITY)
    for record in (b"one", b"", b"x" * CAPACITY, b"four"):
        assert box.write(record)
        assert elsewhere.read() == record


def test_a_record_that_is_too_long_leaves_the_one_before(arena: Arena) -> None:
    box = BlackBox.create(arena, CAPACITY)
    box.write(b"one")
    assert not box.write(b"x" * (CAPACITY + 1))
    assert box.read() == b"one"


def test_a_box_that_was_cleared_has_none(arena: Arena) -> None:
    box = BlackBox.create(arena, CAPACITY)
    for record in (b"one", b"two", b"three"):
        box.write(record)
    box.clear()
    assert box.read() is None
    box.write(b"four")
    assert box.read() == b"four"


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_writer_that_dies_after_any_byte_leaves_the_record_before_or_the_new_one(
    arena: Arena, before: int
) -> None:
    """The writer's steps are seen as the bytes that differ, which are written one after the other here."""
    box = BlackBox.create(arena, CAPACITY)
    for number in range(before):
        box.write(b"record %d" % number)
    was = bytes(box._memory)
    box.write(b"the new one")
    now = bytes(box._memory)
    count, slot = range(8), range(8 + (before + 1) % 2 * (8 + CAPACITY), len(now))
    data = [at for at in slot[8:] if was[at] != now[at]]
    steps = [*data, *(at for at in (*slot[:8], *count) if was[at] != now[at])]
    box._memory[:] = was
    for at in steps:
        assert box.read() in (b"record %d" % (before - 1), b"the new one")
        box._memory[at] = now[at]
    assert box.read() == b"the new one"


def test_an_arena_that_is_full_has_no_room_for_another(arena: Arena) -> None:
    BlackBox.create(arena, CAPACITY)
    with pytest.raises(ArenaError, match="no room"):
        BlackBox.create(arena, CAPACITY)
