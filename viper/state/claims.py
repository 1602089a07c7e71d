"""Key groups that tasks claim: a task has a group as long as tuples of it are left."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from viper._backend import ffi, lib
from viper.arena import Arena

if TYPE_CHECKING:
    from typing_extensions import Buffer


class KeyClaims:
    """The key groups of a component, each of which one task has at a time.

    `create` makes it, `attach` finds the one that another process made.

    All tasks go through the same tuples. Each tuple has a number, from 0 upwards, and is of one group. It is
    the task's that has its group, or else of the task that comes to it first, which has the group from then
    on. See keyclaims.h.
    """

    __slots__ = ("_arena", "_claims", "groups", "offset", "tasks")

    def __init__(self, arena: Arena, offset: int, groups: int, tasks: int) -> None:
        self.offset = offset
        """Its offset in its arena."""
        self.groups = groups
        """The number of key groups."""
        self.tasks = tasks
        """The number of tasks."""
        self._arena = arena  # keeps the memory
        region = arena._at(offset, lib.vp_keyclaims_size(groups, tasks))
        self._claims: Any = ffi.cast("vp_keyclaims *", region)

    @classmethod
    def create(cls, arena: Arena, groups: int, tasks: int) -> KeyClaims:
        """A new one, whose groups nobody has; ArenaError if the arena has no room for it."""
        made = cls(arena, arena.allocate(cls.size(groups, tasks)), groups, tasks)
        lib.vp_keyclaims_format(made._claims, groups, tasks)
        return made

    @classmethod
    def attach(cls, arena: Arena, offset: int, groups: int, tasks: int) -> KeyClaims:
        """The one at an offset; ArenaError if nothing was allocated there."""
        return cls(arena, offset, groups, tasks)

    @staticmethod
    def size(groups: int, tasks: int) -> int:
        """Bytes that it takes of an arena."""
        return int(lib.vp_arena_rounded(lib.vp_keyclaims_size(groups, tasks)))

    @property
    def frontier(self) -> int:
        """The least number that no task has come to."""
        return int(lib.vp_keyclaims_frontier(self._claims))

    def owned(self, index: int) -> list[int]:
        """The groups that a task has."""
        owner = lib.vp_keyclaims_owner
        return [group for group in range(self.groups) if owner(self._claims, group) == index]

    def owner(self, group: int) -> int | None:
        """The index of the task that has a group; None where nobody has it."""
        found = int(lib.vp_keyclaims_owner(self._claims, group))
        return None if found < 0 else found


class KeyClaimant:
    """A task among those that claim the key groups of a component; for one thread at a time.

    Args:
        claims: the groups.
        index: of the task, below `claims.tasks`.
    """

    __slots__ = ("_claimant", "claims", "index")

    def __init__(self, claims: KeyClaims, index: int) -> None:
        self.claims = claims
        """The key groups."""
        self.index = index
        """Of the task."""
        self._claimant: Any = ffi.NULL

    def begin(self, number: int) -> None:
        """Begin, or take the place of a task that has died; to be called first.

        Args:
            number: all its tuples before this one are processed, or lost. Tuples behind it that a dead task
                had come to are this one's if they were that one's.
        """
        made = lib.vp_keyclaimant_new(self.claims._claims, self.index, number)
        if not made:
            raise MemoryError("no memory for the key groups of a task")
        self._claimant = ffi.gc(made, lib.vp_keyclaimant_free)

    def take(self, number: int, groups: Buffer, most: int) -> tuple[array[int], int]:
        """Go through the next tuples, up to where it has `most` of its own, or its share of the load.

        Args:
            number: of the first tuple, where the last call ended, or `begin` said.
            groups: the group of each tuple, as native uint16.
            most: at least 1.

        Returns:
            For each tuple that it has gone through 1 if it is the task's, else 0, as array("H"); and how many
            are.
        """
        numbers = ffi.from_buffer("uint16_t[]", groups)
        mine = array("H", bytes(2 * len(numbers)))
        gone = ffi.new("uint64_t *", len(numbers))
        own = ffi.from_buffer("uint16_t[]", mine)
        taken = int(lib.vp_keyclaimant_take(self._claimant, number, numbers, most, gone, own))
        ffi.release(own)
        del mine[gone[0] :]
        return mine, taken

    def release(self, number: int) -> None:
        """Give up the groups of which nothing is left to the task.

        Args:
            number: all tuples before this one are processed, and their changes committed.
        """
        lib.vp_keyclaimant_release(self._claimant, number)
