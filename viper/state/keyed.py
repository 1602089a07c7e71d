"""Tables of what a component remembers by key, divided into key groups."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

from viper._backend import ffi, lib
from viper._rows import KeyedTable, Scope, canonical_key
from viper.arena import Arena
from viper.errors import StateFullError
from viper.hashing import canonical_of_rare, hash_of_rare
from viper.scalars import holds_any, python_within
from viper.state.memory import MOST_OWNERS, Writer

_SHOWN_WORDS: Final = 2
"""Words of a row before what it holds; viper/csrc/state/state.h has the same number."""


class KeyedState:
    """The state of a component by key; `create` makes it, `attach` finds it again.

    A letter for each column gives the types of a table's rows: `q` an integer of 64 bits, `d` a float, `?` a
    bool, `s` a text, `y` bytes. A list has `[` and the letter of its elements, a map `{` and that of its
    values. An `@` comes before them all if keys expire by time (`KeyedTable.expire`).
    """

    __slots__ = ("_arena", "_codes", "_first_owner", "_is_tracked", "groups", "offset")

    def __init__(
        self,
        arena: Arena,
        offset: int,
        codes: Sequence[str],
        *,
        groups: int,
        first_owner: int,
        tracked: bool = False,
    ) -> None:
        self.offset = offset
        """Its offset in its arena."""
        self.groups = groups
        """Number of key groups."""
        self._arena = arena
        self._codes = tuple(codes)
        self._first_owner = first_owner
        self._is_tracked = tracked

    @classmethod
    def create(
        cls, arena: Arena, codes: Sequence[str], *, groups: int, first_owner: int, tracked: bool = False
    ) -> KeyedState:
        """A new one, without keys.

        Args:
            arena: where its fixed part lies.
            codes: what the rows of each of its tables hold.
            groups: number of key groups, a power of two up to 65,536.
            first_owner: the number under which the first key group claims memory; the others follow.
            tracked: whether it is noted which rows change, so that a snapshot can leave the others out.

        Raises:
            ArenaError: the arena has no room for it.
            ValueError: a number out of range.
        """
        if not 1 <= groups <= 1 << 16 or groups & (groups - 1):
            raise ValueError(f"{groups} key groups: expected a power of two from 1 to 65,536")
        if not 1 <= first_owner <= MOST_OWNERS - groups:
            raise ValueError(f"first_owner={first_owner}: expected 1 to {MOST_OWNERS - groups}")
        offset = arena.allocate(cls.size(len(codes), groups, tracked=tracked))
        made = cls(arena, offset, codes, groups=groups, first_owner=first_owner, tracked=tracked)
        for group, owner in enumerate(made.owners):
            lib.vp_heap_format(arena._header, made._heap(group), owner)
            for number, columns in enumerate(codes):
                words = _words_of(columns)
                if not lib.vp_keyed_format(arena._header, made._table(number, group), words):
                    raise ValueError(f"a row of {words} words: expected at most {lib.VP_KEYED_WORDS}")
                if tracked:
                    lib.vp_changes_format(arena._header, made._changes(number, group))
        return made

    @classmethod
    def attach(
        cls,
        arena: Arena,
        offset: int,
        codes: Sequence[str],
        *,
        groups: int,
        first_owner: int,
        tracked: bool = False,
    ) -> KeyedState:
        """The one at an offset, made with the same arguments."""
        return cls(arena, offset, codes, groups=groups, first_owner=first_owner, tracked=tracked)

    @staticmethod
    def size(tables: int, groups: int, *, tracked: bool = False) -> int:
        """Bytes that the fixed part takes of an arena."""
        whole = int(lib.vp_arena_rounded(groups * (lib.vp_heap_size() + tables * lib.vp_keyed_size())))
        return whole + (tables * groups * int(lib.vp_changes_size()) if tracked else 0)

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
        """Count the keys that a table has in all key groups; from any process, at any time.

        Args:
            number: index of the table.
        """
        return sum(self.keys_in(number, group) for group in range(self.groups))

    def keys_in(self, number: int, group: int) -> int:
        """Likewise, in one key group."""
        return int(lib.vp_keyed_count(self._at(number, group)))

    def accesses(self, group: int) -> int:
        """Count the accesses to keys of a group, in any table: about one for each tuple and state.

        From any process, at any time. Accesses of a slice that was taken back count all the same.
        """
        return sum(int(lib.vp_keyed_accesses(self._at(n, group))) for n in range(len(self._codes)))

    def table(
        self,
        writer: Writer,
        number: int,
        name: str,
        *,
        groups: Collection[int],
        full: Callable[[str], Exception] = StateFullError,
        tracked: bool = True,
    ) -> KeyedTable:
        """One of the tables, for the task that owns some of the groups.

        Args:
            writer: the task's.
            number: index of the table.
            name: the state's, for messages.
            groups: those that the task owns. A key of any other is refused with a `LookupError`.
            full: makes the exception for a pool without room.
            tracked: whether it is noted what changes through it, in state that is made for that. Without it,
                nothing may change as long as some snapshots leave out what has not.
        """
        tables, heaps, changes = self._places(number, groups)
        return KeyedTable(
            owner=writer,
            writer=writer.address,
            name=name,
            codes=self._codes[number].encode(),
            tables=tables,
            heaps=heaps,
            rare=(hash_of_rare, canonical_of_rare),
            shown=(_shown, pickle.loads),
            full=full,
            changes=changes if tracked else None,
        )

    def own(self, table: KeyedTable, number: int, groups: Collection[int]) -> None:
        """Have a task own other key groups from now on, whose rows its cells and its table find at once.

        All that it has changed is committed, and a task that hands groups over has committed before another
        one takes them: then nothing that any log holds is theirs.

        Args:
            table: the task's, one of this state's that is tracked if the state is.
            number: index of the table.
            groups: those that the task owns.

        Raises:
            RuntimeError: something is not committed, or a snapshot is not all written.
        """
        table.own(*self._places(number, groups))

    def scope(self, writer: Writer) -> Scope:
        """Make the scope, which says which key the cells of this state are of."""
        return Scope(writer, writer.address, hash_of_rare, canonical_of_rare)

    def _at(self, number: int, group: int) -> Any:
        address = lib.vp_arena_at(self._arena._header, self._table(number, group))
        return ffi.cast("vp_keyed *", address)

    def _heap(self, group: int) -> int:
        return self.offset + group * int(lib.vp_heap_size())

    def _table(self, number: int, group: int) -> int:
        tables_at = self.offset + self.groups * int(lib.vp_heap_size())
        return tables_at + (number * self.groups + group) * int(lib.vp_keyed_size())

    def _places(
        self, number: int, groups: Collection[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...] | None]:
        """The offsets of a table, of its heap and of its changes in each key group; 0 for other tasks'."""

        def places(first: int, size: int) -> tuple[int, ...]:
            found = [0] * self.groups
            for group in groups:
                found[group] = first + group * size
            return tuple(found)

        return (
            places(self._table(number, 0), int(lib.vp_keyed_size())),
            places(self._heap(0), int(lib.vp_heap_size())),
            places(self._changes(number, 0), int(lib.vp_changes_size())) if self._is_tracked else None,
        )

    def _changes(self, number: int, group: int) -> int:
        changes_at = self.offset + self.size(len(self._codes), self.groups)
        return changes_at + (number * self.groups + group) * int(lib.vp_changes_size())


def scope_of(table: KeyedTable) -> Scope:
    """A scope for the keys of a table that no tuple in process has; a component's own stays as it is."""
    writer: Writer = table.owner
    return Scope(writer, writer.address, hash_of_rare, canonical_of_rare)


def _shown(key: object) -> bytes:
    """A key as it is shown of which its canonical bytes say only what it equals."""
    pickled = pickle.dumps(key)
    return pickle.dumps(python_within(pickle.loads(pickled))) if holds_any(pickled) else pickled


def token_of(key: object) -> bytes:
    """Bytes that are the same for equal keys, and for no others.

    Raises:
        TypeError: a value that is no key.
    """
    return canonical_key(key, hash_of_rare, canonical_of_rare)


def items(table: KeyedTable, group: int) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The keys of a group with their values, in the order of insertion. Nothing may be dropped meanwhile."""
    number = 0
    while (found := table.next(group, number)) is not None:
        number, key, values = found
        number += 1
        yield key, values


def _words_of(codes: str) -> int:
    """Words of a row; viper/csrc/state/rows.c says what they are."""
    if codes[:1] == "@":
        return _words_of(codes[1:]) + 1
    if codes[:1] == "[":
        return _SHOWN_WORDS + 3
    if codes[:1] == "{":
        return _SHOWN_WORDS + 1
    return _SHOWN_WORDS + sum(1 if code in "qd?" else 2 for code in codes)
