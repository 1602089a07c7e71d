"""The life of a process: a lock that it holds until it dies, by which another one hears of that at once."""

from __future__ import annotations

from typing import Any

from viper._backend import ffi, lib
from viper.arena import Arena

_begun: list[Life] = []
"""They stay mapped, as the kernel marks them when the process ends."""


class Life:
    """A process's life, whose end another process awaits; `create` makes it, `attach` finds it again.

    A process closes its pipes, and can be waited for, once its memory is released. The end of its life comes
    before that.
    """

    __slots__ = ("_arena", "_life", "offset")

    def __init__(self, arena: Arena, offset: int) -> None:
        self._arena = arena  # keeps the memory
        self._life: Any = ffi.cast("vp_life *", arena._at(offset, lib.vp_life_size()))
        self.offset = offset
        """Its offset in its arena."""

    @classmethod
    def create(cls, arena: Arena) -> Life | None:
        """A new one; None where the system knows no such locks.

        Raises:
            ArenaError: the arena has no room for it.
        """
        life = cls(arena, arena.allocate(lib.vp_life_size()))
        return life if lib.vp_life_format(life._life) else None

    @classmethod
    def attach(cls, arena: Arena, offset: int) -> Life:
        """The one at an offset; ArenaError if nothing was allocated there."""
        return cls(arena, offset)

    @staticmethod
    def size() -> int:
        """Bytes that a life takes of an arena."""
        return int(lib.vp_arena_rounded(lib.vp_life_size()))

    def begin(self) -> bool:
        """From now on it lasts until the calling thread ends; whether the system plays along."""
        _begun.append(self)
        return bool(lib.vp_life_begin(self._life))

    def await_end(self) -> bool:
        """Sleep until it has ended, or return at once where it has not begun; as `begin`.

        Other threads of the process may still run for a moment.
        """
        return bool(lib.vp_life_await_end(self._life))
