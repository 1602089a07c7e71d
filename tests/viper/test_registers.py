"""A value that one writes into a register is what all read there."""

from __future__ import annotations

import pytest

from viper.arena import Arena
from viper.errors import ArenaError
from viper.registers import Registers


def test_all_read_what_was_written() -> None:
    arena = Arena.private(10_000)
    registers = Registers.create(arena, 3)
    other = Registers.attach(arena, registers.offset, 3)
    assert [other[index] for index in range(3)] == [0, 0, 0]
    registers[1] = -(2**63)
    other[2] = 2**63 - 1
    assert (other[1], registers[2], registers[0]) == (-(2**63), 2**63 - 1, 0)


@pytest.mark.parametrize("index", [-1, 2])
def test_there_are_no_others(index: int) -> None:
    registers = Registers.create(Arena.private(10_000), 2)
    with pytest.raises(IndexError, match=f"^register {index}: expected 0 to 1$"):
        registers[index] = 1
    with pytest.raises(IndexError, match=f"^register {index}: expected 0 to 1$"):
        registers[index]


def test_no_room() -> None:
    with pytest.raises(ArenaError):
        Registers.create(Arena.private(10_000), 10_000)
