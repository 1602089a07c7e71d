"""Registers: words in shared memory, each written by one task or process, and read by all."""

from __future__ import annotations

from typing import Any

from viper._backend import ffi, lib
from viper.arena import Arena


class Registers:
    """Whole numbers from -2**63 to 2**63 - 1, by index; all are 0 at first.

    Whoever reads one also sees what its writer has done before. Of two that each write their own and then
    read the other's, at least one sees what the other has written.

    `create` makes some, `attach` finds those that another process made.
    """

    __slots__ = ("_arena", "_count", "_registers", "offset")

    def __init__(self, arena: Arena, offset: int, count: int) -> None:
        self._arena = arena  # keeps their memory
        self._registers: Any = ffi.cast("vp_registers *", arena._at(offset, lib.vp_registers_size(count)))
        self._count = count
        self.offset = offset
        """Their offset in their arena."""

    @classmethod
    def create(cls, arena: Arena, count: int) -> Registers:
        """Make so many; ArenaError if the arena has no room for them."""
        made = cls(arena, arena.allocate(cls.size(count)), count)
        lib.vp_registers_format(made._registers, count)
        return made

    @classmethod
    def attach(cls, arena: Arena, offset: int, count: int) -> Registers:
        """Attach the registers at an offset, of that number; ArenaError if nothing was allocated there."""
        return cls(arena, offset, count)

    @staticmethod
    def size(count: int) -> int:
        """Bytes that so many take of an arena."""
        return int(lib.vp_arena_rounded(lib.vp_registers_size(count)))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> int:
        self._check(index)
        return int(lib.vp_register_read(self._registers, index))

    def __setitem__(self, index: int, value: int) -> None:
        self._check(index)
        lib.vp_register_write(self._registers, index, value)

    def _check(self, index: int) -> None:
        if not 0 <= index < self._count:
            raise IndexError(f"register {index}: expected 0 to {self._count - 1}")
