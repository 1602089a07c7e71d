"""The cut: a time behind which tasks of several processes stop together."""

from __future__ import annotations

from typing import Any

from viper._backend import ffi, lib
from viper.arena import Arena


class Cut:
    """Each member states once how far it has come; when all have, the cut is the latest of these times.

    `create` makes one, `attach` finds one that another process made.
    """

    __slots__ = ("_arena", "_cut", "_found", "_members", "offset")

    def __init__(self, arena: Arena, offset: int, members: int) -> None:
        self._arena = arena  # keeps the cut's memory
        self._cut: Any = ffi.cast("vp_cut *", arena._at(offset, lib.vp_cut_size(members)))
        self._members = members
        self._found: Any = ffi.new("int64_t *")
        self.offset = offset
        """Where it lies in its arena."""

    @classmethod
    def create(cls, arena: Arena, members: int) -> Cut:
        """Make a cut that no member has stated a time for.

        Args:
            arena: where its memory comes from.
            members: the number of members that have to agree.

        Raises:
            ArenaError: the arena has no room for it.
        """
        cut = cls(arena, arena.allocate(cls.size(members)), members)
        lib.vp_cut_format(cut._cut, members)
        return cut

    @classmethod
    def attach(cls, arena: Arena, offset: int, members: int) -> Cut:
        """The one at an offset, of so many members; ArenaError if nothing was allocated there."""
        return cls(arena, offset, members)

    @staticmethod
    def size(members: int) -> int:
        """Bytes that a cut takes of an arena."""
        return int(lib.vp_arena_rounded(lib.vp_cut_size(members)))

    def say(self, member: int, time: int) -> None:
        """State how far a member has come, and that it waits for the others; only the first statement counts.

        Args:
            member: the index of the member.
            time: the time in the unit that all members use, from -2**63 to 2**63 - 1.

        Raises:
            IndexError: there is no such member.
        """
        if not 0 <= member < self._members:
            raise IndexError(f"member {member}: expected 0 to {self._members - 1}")
        lib.vp_cut_say(self._cut, member, time)

    @property
    def at(self) -> int | None:
        """The latest of the times that all members have stated; None as long as any member has not."""
        return int(self._found[0]) if lib.vp_cut_agreed(self._cut, self._found) else None
