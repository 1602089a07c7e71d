"""The bell: where a thread of execution sleeps until others have something for it."""

from __future__ import annotations

from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena

_LONGEST_S: Final = 1e9


class Bell:
    """Wakes the thread that sleeps on it, from any thread and any process that has the arena.

    The sleeper takes a ticket, looks whether there is something to do, and waits with the ticket if there is
    not. So a ring in between is not lost. `create` makes one, `attach` finds one that another process made.
    """

    __slots__ = ("_arena", "_bell", "_ring", "offset")

    def __init__(self, arena: Arena, offset: int) -> None:
        self._arena = arena  # keeps the bell's memory
        self._bell: Any = ffi.cast("vp_bell *", arena._at(offset, lib.vp_bell_size()))
        self._ring = lib.vp_bell_ring
        self.offset = offset
        """Its offset in its arena."""

    @classmethod
    def create(cls, arena: Arena) -> Bell:
        """A new one; ArenaError if the arena has no room for it."""
        return cls(arena, arena.allocate(lib.vp_bell_size()))

    @classmethod
    def attach(cls, arena: Arena, offset: int) -> Bell:
        """The one at an offset; ArenaError if nothing was allocated there."""
        return cls(arena, offset)

    @staticmethod
    def size() -> int:
        """Bytes that a bell takes of an arena."""
        return int(lib.vp_arena_rounded(lib.vp_bell_size()))

    def ticket(self) -> int:
        """Read the number of times that it has been rung, modulo 2**32."""
        return int(lib.vp_bell_ticket(self._bell))

    def wait(self, ticket: int, timeout_s: float) -> None:
        """Sleep until it has been rung since the ticket was taken, or the time is over.

        It also returns when a signal comes, and now and then for nothing: look again, whatever the reason.
        """
        timeout_ns = int(min(max(timeout_s, 0.0), _LONGEST_S) * 1e9)
        lib.vp_bell_wait(self._bell, ticket, timeout_ns)

    def ring(self) -> None:
        """Wake the thread that sleeps on it; this costs next to nothing while none does."""
        self._ring(self._bell)

    def take_over(self) -> None:
        """For the successor of a process that was killed asleep: forget that it slept."""
        lib.vp_bell_take_over(self._bell)
