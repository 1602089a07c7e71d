"""State by key: tables in an arena that take all of a slice's changes, or none of them.

A `Pool` is the memory that state grows into. A `KeyedState` holds what one component remembers: one table for
each of its states, divided into key groups, each of which belongs to one task at a time. A task changes it
through its `Writer`, whose log says what to take back: by `Writer.back_to_commit`, or after its process has
died by opening the log again.

    arena = Arena.private(1 << 30)
    pool = Pool.create(arena, 64 << 20)
    state = KeyedState.create(arena, ["q"], groups=256, first_owner=2)
    writer = Writer(arena, pool, UndoLog.create(arena, owner=1), state.owners)
    seen = state.table(writer, 0, "seen", groups=range(256))
    seen.set("apple", (3,))
    writer.commit()
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from viper._backend import ffi, lib
from viper._rows import KeyedTable, Scope, StateCell
from viper.arena import Arena
from viper.errors import StateFullError
from viper.hashing import canonical_of_rare, hash_of_rare

__all__ = ["KeyedState", "KeyedTable", "Pool", "Scope", "StateCell", "UndoLog", "Writer", "items"]

MOST_OWNERS: Final = int(lib.VP_POOL_OWNERS) - 1
"""Owners of a pool's memory are numbers from 1 to this."""
_BLOCK: Final = int(lib.VP_POOL_BLOCK)
_SHOWN_WORDS: Final = 2
"""Words of a row before its columns; viper/csrc/state.h has the same number."""


class Pool:
    """The memory that the state of a run grows into; `create` makes it, `attach` finds it again."""

    __slots__ = ("_arena", "_pool", "offset")

    def __init__(self, arena: Arena, offset: int) -> None:
        self.offset = offset
        """Where it lies in its arena."""
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
        """What it has."""
        return int(lib.vp_pool_blocks(self._pool)) * _BLOCK

    @property
    def used_bytes(self) -> int:
        """What is in use of it, in whole blocks."""
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
        """Where it lies in its arena."""
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
        """Take back all changes since the last commit. Cells and tables find the rows anew."""
        lib.vp_writer_back(self._writer, (0, 0, 0))

    @property
    def written(self) -> int:
        """Words that were written since the last commit."""
        return int(lib.vp_writer_written(self._writer))

    def close(self) -> None:
        """Take back what is not committed, and let go of the log. Nothing may be changed through it then."""
        self.back_to_commit()
        ffi.release(self._writer)


class KeyedState:
    """What a component remembers by key; `create` makes it, `attach` finds it again.

    A table's columns are given by a letter each: `q` an integer of 64 bits, `d` a float, `?` a bool, `s` a
    text, `y` bytes.
    """

    __slots__ = ("_arena", "_codes", "_first_owner", "groups", "offset")

    def __init__(
        self, arena: Arena, offset: int, codes: Sequence[str], *, groups: int, first_owner: int
    ) -> None:
        self.offset = offset
        """Where it lies in its arena."""
        self.groups = groups
        """Number of key groups."""
        self._arena = arena
        self._codes = tuple(codes)
        self._first_owner = first_owner

    @classmethod
    def create(cls, arena: Arena, codes: Sequence[str], *, groups: int, first_owner: int) -> KeyedState:
        """A new one, without keys.

        Args:
            arena: where its fixed part lies.
            codes: the columns of each of its tables.
            groups: number of key groups, a power of two up to 65,536.
            first_owner: the number under which the first key group claims memory; the others follow.

        Raises:
            ArenaError: the arena has no room for it.
            ValueError: a number out of range.
        """
        if not 1 <= groups <= 1 << 16 or groups & (groups - 1):
            raise ValueError(f"{groups} key groups: expected a power of two from 1 to 65,536")
        if not 1 <= first_owner <= MOST_OWNERS - groups:
            raise ValueError(f"first_owner={first_owner}: expected 1 to {MOST_OWNERS - groups}")
        offset = arena.allocate(cls.size(len(codes), groups))
        made = cls(arena, offset, codes, groups=groups, first_owner=first_owner)
        for group, owner in enumerate(made.owners):
            lib.vp_heap_format(arena._header, made._heap(group), owner)
            for number, columns in enumerate(codes):
                words = _SHOWN_WORDS + sum(1 if code in "qd?" else 2 for code in columns)
                if not lib.vp_keyed_format(arena._header, made._table(number, group), words):
                    raise ValueError(f"a row of {words} words: expected at most {lib.VP_KEYED_WORDS}")
        return made

    @classmethod
    def attach(
        cls, arena: Arena, offset: int, codes: Sequence[str], *, groups: int, first_owner: int
    ) -> KeyedState:
        """The one at an offset, made with the same arguments."""
        return cls(arena, offset, codes, groups=groups, first_owner=first_owner)

    @staticmethod
    def size(tables: int, groups: int) -> int:
        """Bytes that the fixed part takes of an arena."""
        return int(lib.vp_arena_rounded(groups * (lib.vp_heap_size() + tables * lib.vp_keyed_size())))

    @property
    def owners(self) -> range:
        """The number under which each key group claims memory."""
        return range(self._first_owner, self._first_owner + self.groups)

    def used_bytes(self, group: int) -> int:
        """Bytes of the pool that a key group has."""
        return int(lib.vp_heap_bytes(lib.vp_arena_at(self._arena._header, self._heap(group))))

    def bytes(self) -> int:
        """Bytes of the pool that all key groups have; from any process, at any time."""
        return sum(map(self.used_bytes, range(self.groups)))

    def keys(self, number: int) -> int:
        """How many keys a table has in all key groups; from any process, at any time.

        Args:
            number: index of the table.
        """
        at, header = lib.vp_arena_at, self._arena._header
        return sum(
            int(lib.vp_keyed_count(ffi.cast("vp_keyed *", at(header, self._table(number, group)))))
            for group in range(self.groups)
        )

    def table(
        self,
        writer: Writer,
        number: int,
        name: str,
        *,
        groups: Collection[int],
        full: Callable[[str], Exception] = StateFullError,
    ) -> KeyedTable:
        """One of the tables, for the task that owns some of the groups.

        Args:
            writer: the task's.
            number: index of the table.
            name: the state's, for messages.
            groups: those that the task owns. A key of any other is refused with a `LookupError`.
            full: makes the exception for a pool without room.
        """
        mine = set(groups)
        return KeyedTable(
            owner=writer,
            writer=writer.address,
            name=name,
            codes=self._codes[number].encode(),
            tables=tuple(self._table(number, group) if group in mine else 0 for group in range(self.groups)),
            heaps=tuple(self._heap(group) if group in mine else 0 for group in range(self.groups)),
            rare=(hash_of_rare, canonical_of_rare),
            shown=(pickle.dumps, pickle.loads),
            full=full,
        )

    def scope(self, writer: Writer) -> Scope:
        """What says which key the cells of this state are of."""
        return Scope(writer, writer.address, hash_of_rare, canonical_of_rare)

    def _heap(self, group: int) -> int:
        return self.offset + group * int(lib.vp_heap_size())

    def _table(self, number: int, group: int) -> int:
        tables_at = self.offset + self.groups * int(lib.vp_heap_size())
        return tables_at + (number * self.groups + group) * int(lib.vp_keyed_size())


def items(table: KeyedTable, group: int) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The keys of a group with their values, in the order of insertion. Nothing may be dropped meanwhile."""
    number = 0
    while (found := table.next(group, number)) is not None:
        number, key, values = found
        number += 1
        yield key, values
