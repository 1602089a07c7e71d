"""The memory that state grows into, and the way to change it: all of a slice's changes, or none of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from viper._backend import ffi, lib
from viper.arena import Arena

MOST_OWNERS: Final = int(lib.VP_POOL_OWNERS) - 1
"""Owners of a pool's memory are numbers from 1 to this."""
_BLOCK: Final = int(lib.VP_POOL_BLOCK)


class Pool:
    """The memory that the state of a run grows into; `create` makes it, `attach` finds it again."""

    __slots__ = ("_arena", "_pool", "offset")

    def __init__(self, arena: Arena, offset: int) -> None:
        self.offset = offset
        """Its offset in its arena."""
        self._arena = arena  # keeps the memory
        self._pool: Any = lib.vp_pool_at(arena._header, offset)
        if not self._pool:
            raise ValueError(f"no pool at offset {offset} of the arena")

    @classmethod
    def create(cls, arena: Arena, size_bytes: int) -> Pool:
        """A new one of at least so many bytes. Memory that was never used takes none.

        Raises:
            ArenaError: the arena has no room for it.
        """
        offset = arena.allocate(cls.size(size_bytes))
        lib.vp_pool_format(arena._header, offset, _blocks(size_bytes))
        return cls(arena, offset)

    @classmethod
    def attach(cls, arena: Arena, offset: int) -> Pool:
        """The one at an offset."""
        return cls(arena, offset)

    @staticmethod
    def size(size_bytes: int) -> int:
        """Bytes that a pool of so many bytes takes of an arena."""
        return int(lib.vp_arena_rounded(lib.vp_pool_size(_blocks(size_bytes))))

    @property
    def size_bytes(self) -> int:
        """The bytes that it has."""
        return int(lib.vp_pool_blocks(self._pool)) * _BLOCK

    @property
    def used_bytes(self) -> int:
        """The bytes of it that are in use, in whole blocks."""
        return int(lib.vp_pool_claimed(self._pool)) * _BLOCK


def _blocks(size_bytes: int) -> int:
    blocks = -(-size_bytes // _BLOCK)
    if not 1 <= blocks <= lib.VP_POOL_BLOCKS:
        raise ValueError(f"a pool of {size_bytes} bytes: expected 1 to {lib.VP_POOL_BLOCKS * _BLOCK}")
    return blocks


class UndoLog:
    """The old values of what a task has changed since its last commit."""

    __slots__ = ("_undo", "offset", "owner")

    def __init__(self, arena: Arena, offset: int, owner: int) -> None:
        self.offset = offset
        """Its offset in its arena."""
        self.owner = owner
        """The number under which it claims memory of the pool."""
        self._undo: Any = ffi.cast("vp_undo *", arena._at(offset, lib.vp_undo_size()))

    @classmethod
    def create(cls, arena: Arena, owner: int) -> UndoLog:
        """A new one, which is empty."""
        log = cls(arena, arena.allocate(cls.size()), owner)
        lib.vp_undo_format(arena._header, log.offset, owner)
        return log

    @classmethod
    def attach(cls, arena: Arena, offset: int, owner: int) -> UndoLog:
        """The one at an offset."""
        return cls(arena, offset, owner)

    @staticmethod
    def size() -> int:
        """Bytes that a log takes of an arena; its entries lie in the pool."""
        return int(lib.vp_arena_rounded(lib.vp_undo_size()))


class Writer:
    """A task's way to change its state; for one thread. Opening it takes back what a dead one has left.

    Args:
        arena: where everything lies.
        pool: where tables and log grow.
        log: the task's, which no other writer uses.
        owners: the numbers under which the task's key groups claim memory.
    """

    __slots__ = ("_arena", "_writer", "address")

    def __init__(self, arena: Arena, pool: Pool, log: UndoLog, owners: Iterable[int]) -> None:
        owned = [log.owner, *owners]
        flags: Any = ffi.new("uint8_t[]", max(owned) + 1)
        for owner in owned:
            flags[owner] = 1
        opened = lib.vp_writer_open(arena._header, pool._pool, log._undo, flags, len(flags))
        if not opened:
            raise MemoryError("no memory for a writer of state")
        # Of garbage nobody knows what goes first: the arena may be unmapped by then.
        self._writer: Any = ffi.gc(opened, lib.vp_writer_abandon)
        self._arena = arena  # keeps the memory
        self.address = int(ffi.cast("uintptr_t", opened))
        """For the objects in C that write through it; they have to keep the writer."""

    def commit(self) -> None:
        """Make all changes since the last commit last."""
        lib.vp_writer_commit(self._writer)

    def back_to_commit(self) -> None:
        """Take back all changes since the last commit. Cells and tables find the rows again."""
        lib.vp_writer_back(self._writer, (0, 0, 0))

    @property
    def written(self) -> int:
        """Words that were written since the last commit."""
        return int(lib.vp_writer_written(self._writer))

    def close(self) -> None:
        """Take back what is not committed, and let go of the log. Nothing may be changed through it then.

        One that is not closed leaves that to whoever opens the log next.
        """
        if self._writer:
            self.back_to_commit()
            ffi.release(self._writer)
            self._writer = ffi.NULL
